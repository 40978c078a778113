import type { Underway } from '../../db/underway.ts';
import { uuidFloor } from '../../kit/ids.ts';

/** An id is stamped before its transaction commits; within that all of a moment are usually there. */
export const OVERLAP_MS = 60_000;
/** A transaction has its number with its first write, a little after it has stamped its ids. */
const NUMBERED_WITHIN_MS = 10_000;

/**
 * Up to where ids are settled: no event with an earlier one can still appear. A minute is enough unless commits wait, as
 * they do for a standby that is away. So a moment is settled only when every transaction that was under way then has ended.
 */
export class CommitHorizon {
  #moments: { readonly atMs: number; readonly next: bigint }[] = [];
  #endedMs = 0;

  /** @param underway as it was before what is up to the answer is read */
  upTo(nowMs: number, { oldest, next }: Underway): string {
    const open = this.#moments.findIndex((moment) => moment.next > oldest);
    const ended = this.#moments.splice(0, open === -1 ? this.#moments.length : open);
    this.#endedMs = ended.at(-1)?.atMs ?? this.#endedMs;
    this.#moments.push({ atMs: nowMs, next });
    return uuidFloor(Math.min(nowMs - OVERLAP_MS, this.#endedMs - NUMBERED_WITHIN_MS));
  }
}
