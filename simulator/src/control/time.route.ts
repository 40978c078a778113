import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { nowIso } from '../clock.ts';
import { type Deps, record } from '../deps.ts';
import { readBody } from '../request-body.ts';

/** A century in each direction: enough for any test, and years keep four digits. */
const MAX_SHIFT_MS = 100 * 366 * 86_400_000;

const timeBody = z.strictObject({ shiftMs: z.int().min(-MAX_SHIFT_MS).max(MAX_SHIFT_MS) });

export function timeRoutes(app: FastifyInstance, deps: Deps): void {
  app.get('/control/time', () => view(deps));
  app.post('/control/time', (request) => shift(deps, request));
}

async function shift(deps: Deps, request: FastifyRequest) {
  const { clock } = deps.state;
  const { shiftMs } = readBody(timeBody, request);
  const at = nowIso(clock);
  clock.shiftMs = shiftMs;
  await record(deps, { at, kind: 'time.shifted', shiftMs });
  return view(deps);
}

function view({ state }: Deps) {
  return { now: nowIso(state.clock), shiftMs: state.clock.shiftMs };
}
