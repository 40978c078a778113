import type { ActiveTransactions } from '../../db/active-transactions.ts';
import { uuidFloor } from '../../kit/ids.ts';

/** An id is assigned before its transaction commits; transactions usually commit within this time. */
export const OVERLAP_MS = 60_000;
/** A transaction gets its number with its first write, up to this long after it assigned its ids. */
const MAX_NUMBERING_DELAY_MS = 10_000;

/**
 * Computes the commit horizon: no event with an earlier id can still appear. One minute is enough unless commits are
 * delayed, for example by an unavailable standby. Therefore the horizon passes a sample time only when every transaction
 * that was in progress at that time has ended.
 */
export class CommitHorizon {
  #samples: { readonly atMs: number; readonly next: bigint }[] = [];
  #endedMs = 0;

  /** @param underway transactions in progress, read before the events up to the returned id are read */
  upTo(nowMs: number, { oldest, next }: ActiveTransactions): string {
    const firstOpen = this.#samples.findIndex((sample) => sample.next > oldest);
    const ended = this.#samples.splice(0, firstOpen === -1 ? this.#samples.length : firstOpen);
    this.#endedMs = ended.at(-1)?.atMs ?? this.#endedMs;
    this.#samples.push({ atMs: nowMs, next });
    return uuidFloor(Math.min(nowMs - OVERLAP_MS, this.#endedMs - MAX_NUMBERING_DELAY_MS));
  }
}
