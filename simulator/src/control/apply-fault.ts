import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { DIRECTORY_MESSAGES } from '../breb/directory.ts';
import { nowIso } from '../clock.ts';
import { type Deps, record } from '../deps.ts';
import type { Operation, Rail } from '../operations.ts';
import { type CallFault, holdHung, markFaultApplied, nextFault } from './fault.store.ts';

/** `stop`: the fault has closed or taken over the connection. Only `go-on` and `lose-answer` execute the call. */
type Next =
  | 'go-on'
  | 'lose-answer'
  | 'unavailable'
  | 'rate-limited'
  | 'stop'
  | { readonly code: string; readonly message: string };

const NEXT_BY_FAULT = {
  down: 'unavailable',
  'rate-limited': 'rate-limited',
  hang: 'stop',
  reset: 'stop',
  'lost-answer': 'lose-answer',
} as const;

export async function applyFault(
  deps: Deps,
  rail: Rail,
  operation: Operation,
  reply: FastifyReply,
): Promise<Next> {
  const { faults, clock } = deps.state;
  const fault = nextFault(faults, rail, operation);
  if (fault === null) return 'go-on';
  const { id, ms } = fault;
  markFaultApplied(faults, id);
  // Registered before awaiting the journal: a concurrent removal of the fault must release this call.
  if (fault.fault === 'hang') hang(deps, id, reply);
  await record(deps, { at: nowIso(clock), kind: 'fault.applied', id, fault: fault.fault, rail, operation });
  if (fault.code !== undefined) return { code: fault.code, message: DIRECTORY_MESSAGES[fault.code] };
  if (fault.fault === 'slow') return slow(deps, ms, reply);
  if (fault.fault === 'reset') cut(reply, (socket) => socket.resetAndDestroy());
  // The control API rejects notice faults for calls.
  return NEXT_BY_FAULT[fault.fault as Exclude<CallFault, 'slow' | 'rejected'>];
}

/** Continues even when the client has disconnected: a client timeout does not cancel its request. */
export async function slow(deps: Deps, ms: number, reply: FastifyReply): Promise<Next> {
  try {
    await sleep(ms, undefined, { signal: deps.closing });
    return 'go-on';
  } catch {
    cut(reply, (socket) => socket.destroy());
    return 'stop';
  }
}

/** Closes the connection without an answer. */
export function cut(reply: FastifyReply, end: (socket: Socket) => void): void {
  reply.hijack();
  const { socket } = reply.raw;
  if (socket !== null) end(socket);
}

function hang(deps: Deps, id: string, reply: FastifyReply): void {
  reply.hijack();
  const { socket } = reply.raw;
  if (socket === null || deps.closing.aborted) {
    socket?.destroy();
    return;
  }
  const unregister = holdHung(deps.state.faults, id, () => socket.destroy());
  socket.once('close', unregister);
}
