import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { nowIso } from './clock.ts';
import { cut, slow, sufferFault } from './control/suffer-fault.ts';
import { type Deps, record } from './deps.ts';
import type { JournalEntry } from './journal-entry.ts';
import { LATE_ANSWER_MS, type Magic } from './magic-documents.ts';
import type { Operation, Rail } from './operations.ts';
import { BadRequest, readBody } from './request-body.ts';

/** `code` is what the journal keeps of a refusal. */
export type Refusal = { readonly status: number; readonly code: string; readonly body: object };

/** What becomes of an answer whose call has been carried out. */
export type AnswerFate = 'sent' | 'late' | 'lost';

export type Answer = {
  readonly status?: number;
  readonly body: object;
  readonly entry: JournalEntry;
  readonly fate?: AnswerFate;
};

export function fateOf(magic: Magic | null): AnswerFate {
  return magic?.answer ?? 'sent';
}

export type RailCall<Body> = {
  readonly rail: Rail;
  readonly operation: Operation;
  /** Null when the caller may go on. */
  readonly refuse: (deps: Deps, request: FastifyRequest) => Refusal | null;
  readonly schema: z.ZodType<Body>;
  /** Synchronous on purpose: judging and changing the state is one step, so parallel retries cannot interleave. */
  readonly answer: (deps: Deps, body: Body, at: string) => Answer | Refusal;
};

/** The way of every call on a rail: fault, credential, body, answer, journal, and only then the network. */
export function railCall<Body>(deps: Deps, call: RailCall<Body>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const next = await sufferFault(deps, call.rail, call.operation, reply);
    if (next === 'stop') return reply;
    if (next === 'unavailable') return reply.code(503).send({ code: 'SERVICE_UNAVAILABLE' });
    if (typeof next === 'object') return reply.code(422).send(next);
    const { status = 200, body, entry, fate = 'sent' } = carryOut(deps, call, request);
    await record(deps, entry);
    if (fate === 'late' && (await slow(deps, LATE_ANSWER_MS, reply)) === 'stop') return reply;
    if (next === 'lose-answer' || fate === 'lost') {
      cut(reply, (socket) => socket.destroy());
      return reply;
    }
    return reply.code(status).send(body);
  };
}

function carryOut<Body>(deps: Deps, call: RailCall<Body>, request: FastifyRequest): Answer {
  const at = nowIso(deps.state.clock);
  const answer = judge(deps, call, request, at);
  if ('entry' in answer) return answer;
  const { rail, operation } = call;
  const { status, code, body } = answer;
  return { status, body, entry: { at, kind: 'call.refused', rail, operation, status, code } };
}

function judge<Body>(
  deps: Deps,
  call: RailCall<Body>,
  request: FastifyRequest,
  at: string,
): Answer | Refusal {
  const refusal = call.refuse(deps, request);
  if (refusal !== null) return refusal;
  try {
    return call.answer(deps, readBody(call.schema, request), at);
  } catch (error) {
    if (!(error instanceof BadRequest)) throw error;
    return { status: 400, code: 'BAD_REQUEST', body: { code: 'BAD_REQUEST', message: error.message } };
  }
}
