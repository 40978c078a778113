import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { type EndKeyCommand, endKey } from '../breb/end-key.ts';
import { readKeyState } from '../breb/key-status.ts';
import { payKey } from '../breb/pay-key.ts';
import { payLate } from '../breb/pay-late.ts';
import type { Deps } from '../deps.ts';
import { readBody } from '../request-body.ts';
import { paidAmount } from '../wire.ts';

const MAX_PAYMENTS = 1000;

const payBody = z.strictObject({
  payments: z
    .array(
      z.strictObject({
        key: z.string().min(1).max(100),
        amount: paidAmount.optional(),
        anyway: z.boolean().default(false),
        /** Number of payments: two for a payer who pays twice. */
        times: z.int().min(1).max(10).default(1),
      }),
    )
    .min(1)
    .max(MAX_PAYMENTS),
});

const payLateBody = z.strictObject({ key: z.string().min(1).max(100), amount: paidAmount.optional() });

const endKeyBody = z.strictObject({
  key: z.string().min(1).max(100),
  outcome: z.enum(['REJECTED', 'CANCELED']),
  code: z.string().min(1).max(20).optional(),
  anyway: z.boolean().default(false),
});

/** What a payer does in a bank app. */
export function keyPayerRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/control/keys/pay', async (request) => {
    const { payments } = readBody(payBody, request);
    const commands = payments.flatMap(({ times, ...command }) =>
      Array.from({ length: times }, () => command),
    );
    return { results: await Promise.all(commands.map((command) => payKey(deps, command))) };
  });

  app.post('/control/keys/pay-late', async (request) => payLate(deps, readBody(payLateBody, request)));

  app.post('/control/keys/end', async (request, reply) => {
    const command: EndKeyCommand = readBody(endKeyBody, request);
    if (!(await endKey(deps, command))) {
      const { status } = readKeyState(deps.state.keys, command.key);
      const message = `the key is ${status} or already paid: there is no payment to end`;
      return reply.code(409).send({ code: 'CANNOT_END', message });
    }
    return readKeyState(deps.state.keys, command.key);
  });
}
