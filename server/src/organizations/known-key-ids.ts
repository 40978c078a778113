import { toReadError } from '../db/failures.ts';
import type { SystemDb } from '../db/system.ts';
import { monotonicMs } from '../kit/clock.ts';
import { listLiveKeyIds } from './credential.store.ts';

/** A key without a tag that was created by a process of an earlier version works after this time. */
const REFRESH_MS = 30_000;
/** About 20 MB. A deployment with more keys looks up every key without a tag. */
const MAX_IDS = 200_000;

/**
 * The ids of all live API keys, for keys without a valid tag: made-up ones have made-up ids and cause no query each.
 * Read when such a key is used, not before.
 */
export class KnownKeyIds {
  readonly #db: SystemDb;
  #ids: ReadonlySet<string> | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(db: SystemDb) {
    this.#db = db;
  }

  /** @throws ApiError `service_unavailable` when the ids were never read and the database does not answer */
  async mayExist(id: string): Promise<boolean> {
    if (this.#contains(id)) return true;
    if (monotonicMs() - this.#readAt >= REFRESH_MS) {
      this.#reading ??= this.#read().finally(() => (this.#reading = null));
      await this.#reading;
    }
    return this.#contains(id);
  }

  #contains(id: string): boolean {
    return this.#ids !== null && (this.#ids.size >= MAX_IDS || this.#ids.has(id));
  }

  async #read(): Promise<void> {
    try {
      this.#ids = new Set(await listLiveKeyIds(this.#db, MAX_IDS));
    } catch (error) {
      // The ids read before are still a good answer.
      if (this.#ids === null) throw toReadError(error);
    }
    this.#readAt = monotonicMs();
  }
}
