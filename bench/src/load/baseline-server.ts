/**
 * The bare twin of the API, for what the machine and the framework alone take: reads the same requests and answers as many
 * bytes, and does nothing. `baseline-servers.ts` starts them.
 */
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';

const ANSWER_BYTES = 700;

const app = fastify();
app.post('/payins', async (_request, reply) => reply.code(201).send({ answer: 'x'.repeat(ANSWER_BYTES) }));
await app.listen({ port: 0, host: '127.0.0.1' });
process.once('SIGTERM', () => process.exit(0));
process.send?.({ port: (app.server.address() as AddressInfo).port });
