import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { nowIso } from './clock.ts';
import { applyFault, cut, slow } from './control/apply-fault.ts';
import { type Deps, record } from './deps.ts';
import type { JournalEntry } from './journal-entry.ts';
import { LATE_ANSWER_MS, type MagicDocument } from './magic-documents.ts';
import type { Operation, Rail } from './operations.ts';
import { appendRecent } from './recent-items.ts';
import { BadRequest, readBody } from './request-body.ts';

/** The journal stores `status` and `code`. */
export type Rejection = { readonly status: number; readonly code: string; readonly body: object };

/** How the answer of an executed call is delivered. */
export type AnswerDelivery = 'sent' | 'late' | 'lost';

export type Answer = {
  readonly status?: number;
  readonly body: object;
  readonly entry: JournalEntry;
  readonly delivery?: AnswerDelivery;
};

export function toAnswerDelivery(magic: MagicDocument | null): AnswerDelivery {
  return magic?.answer ?? 'sent';
}

export type RailCall<Body> = {
  readonly rail: Rail;
  readonly operation: Operation;
  /** Returns null when the credentials are valid. */
  readonly authenticate: (deps: Deps, request: FastifyRequest) => Rejection | null;
  readonly schema: z.ZodType<Body>;
  /** Synchronous on purpose: it validates and changes the state in one step, so parallel retries cannot interleave. */
  readonly answer: (deps: Deps, body: Body, at: string) => Answer | Rejection;
};

/** Handles a rail call: fault, credentials, body, answer, journal, and only then the response. */
export function railCall<Body>(deps: Deps, call: RailCall<Body>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    noteTraceparent(deps, call, request);
    const next = await applyFault(deps, call.rail, call.operation, reply);
    if (next === 'stop') return reply;
    if (next === 'unavailable') return reply.code(503).send({ code: 'SERVICE_UNAVAILABLE' });
    if (next === 'rate-limited')
      return reply.code(429).header('retry-after', '1').send({ code: 'TOO_MANY_REQUESTS' });
    if (typeof next === 'object') return reply.code(422).send(next);
    const { status = 200, body, entry, delivery = 'sent' } = execute(deps, call, request);
    await record(deps, entry);
    if (delivery === 'late' && (await slow(deps, LATE_ANSWER_MS, reply)) === 'stop') return reply;
    if (next === 'lose-answer' || delivery === 'lost') {
      cut(reply, (socket) => socket.destroy());
      return reply;
    }
    return reply.code(status).send(body);
  };
}

function noteTraceparent(
  { state }: Deps,
  { rail, operation }: Pick<RailCall<unknown>, 'rail' | 'operation'>,
  { headers: { traceparent } }: FastifyRequest,
): void {
  if (typeof traceparent === 'string') appendRecent(state.traceparents, { rail, operation, traceparent });
}

function execute<Body>(deps: Deps, call: RailCall<Body>, request: FastifyRequest): Answer {
  const at = nowIso(deps.state.clock);
  const answer = authenticateAndAnswer(deps, call, request, at);
  if ('entry' in answer) return answer;
  const { rail, operation } = call;
  const { status, code, body } = answer;
  return { status, body, entry: { at, kind: 'call.refused', rail, operation, status, code } };
}

function authenticateAndAnswer<Body>(
  deps: Deps,
  call: RailCall<Body>,
  request: FastifyRequest,
  at: string,
): Answer | Rejection {
  const rejection = call.authenticate(deps, request);
  if (rejection !== null) return rejection;
  try {
    return call.answer(deps, readBody(call.schema, request), at);
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return { status: 400, code: 'BAD_REQUEST', body: { code: 'BAD_REQUEST', message: error.message } };
  }
}
