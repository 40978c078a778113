/**
 * Baseline of the API: reads the same requests and answers the same number of bytes without doing any work, to measure
 * the cost of the machine and the framework. `baseline-servers.ts` starts it.
 */
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

const ANSWER_BYTES = 700;

const app = fastify();
app.post('/payins', async (_request, reply) => reply.code(201).send({ answer: 'x'.repeat(ANSWER_BYTES) }));
await app.listen({ port: 0, host: '127.0.0.1' });
process.once('SIGTERM', () => process.exit(0));
process.send?.({ port: (app.server.address() as AddressInfo).port });
