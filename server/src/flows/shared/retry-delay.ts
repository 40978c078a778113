import type { RailAnswer } from '../../rails/contract.ts';

/** A rail that asks for a longer wait is tried after this anyway. */
const MAX_WAIT_MS = 600_000;

/** Delay until an undecided item is tried again: the backoff, or longer if the rail asks for it. */
export function retryDelayMs(answer: RailAnswer<unknown> | undefined, backoffMs: number): number {
  const askedMs = answer?.kind === 'not_now' ? (answer.retryAfterMs ?? 0) : 0;
  return Math.max(backoffMs, Math.min(askedMs, MAX_WAIT_MS));
}
