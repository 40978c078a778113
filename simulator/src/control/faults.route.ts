import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DIRECTORY_CODES } from '../breb/directory.ts';
import { nowIso } from '../clock.ts';
import { type Deps, record } from '../deps.ts';
import { OPERATIONS } from '../operations.ts';
import { readBody } from '../request-body.ts';
import {
  addFault,
  CALL_ONLY_FAULTS,
  FAULTS,
  type InjectedFault,
  NOTICE_FAULTS,
  RESOLVE_FAULTS,
  removeFaults,
} from './fault.store.ts';

const DEFAULT_SLOW_MS = 4000;

const common = {
  fault: z.enum(FAULTS),
  ms: z.int().min(0).max(3_600_000).default(DEFAULT_SLOW_MS),
  code: z.enum(DIRECTORY_CODES).optional(),
  times: z.int().min(1).optional(),
};

// Strict: a misspelled `times` would leave the fault active and fail another test.
const faultBody = z
  .discriminatedUnion('rail', [
    z.strictObject({
      rail: z.literal('BRE_B'),
      operation: z.enum(['*', 'notice', ...OPERATIONS.BRE_B]),
      ...common,
    }),
    z.strictObject({
      rail: z.literal('PSE'),
      operation: z.enum(['*', 'notice', ...OPERATIONS.PSE]),
      ...common,
    }),
  ])
  .refine(
    ({ operation, fault }) => operation === 'notice' || !NOTICE_FAULTS.some((known) => known === fault),
    {
      path: ['fault'],
      message: 'applies only to notices: operation must be "notice"',
    },
  )
  .refine(
    ({ operation, fault }) => operation !== 'notice' || !CALL_ONLY_FAULTS.some((known) => known === fault),
    {
      path: ['fault'],
      message: 'applies only to calls: operation must not be "notice"',
    },
  )
  .refine(
    ({ operation, fault }) => operation === 'resolve' || !RESOLVE_FAULTS.some((known) => known === fault),
    {
      path: ['fault'],
      message: 'applies only to lookups: operation must be "resolve"',
    },
  )
  .refine(({ fault, code }) => (fault === 'rejected') === (code !== undefined), {
    path: ['code'],
    message: 'is required for "rejected" and not allowed for other faults',
  });

export function faultRoutes(app: FastifyInstance, deps: Deps): void {
  const { faults, clock } = deps.state;

  app.post('/control/faults', (request) => add(deps, request));

  app.get('/control/faults', () => ({ faults: [...faults.faults.values()] }));

  app.delete('/control/faults', async () => {
    const removed = removeFaults(faults, null);
    await record(deps, { at: nowIso(clock), kind: 'fault.removed', id: null });
    return { removed };
  });

  app.delete<{ Params: { id: string } }>('/control/faults/:id', async (request, reply) => {
    const { id } = request.params;
    if (removeFaults(faults, id) === 0) {
      return reply.code(404).send({ code: 'NOT_FOUND', message: `no fault ${id}` });
    }
    await record(deps, { at: nowIso(clock), kind: 'fault.removed', id });
    return { removed: 1 };
  });
}

async function add(deps: Deps, request: FastifyRequest): Promise<{ id: string }> {
  const body = readBody(faultBody, request);
  const fault: InjectedFault = { id: randomUUID(), ...body, times: body.times ?? null, applied: 0 };
  addFault(deps.state.faults, fault);
  await record(deps, { at: nowIso(deps.state.clock), kind: 'fault.added', fault });
  return { id: fault.id };
}
