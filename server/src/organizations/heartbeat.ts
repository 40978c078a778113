import type { SystemDb } from '../db/system.ts';
import { type BusinessClock, monotonicMs } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Authority } from './authority.ts';
import type { Brakes } from './brakes.ts';
import { readPulse } from './credential.store.ts';

const EVERY_MS = 400;
/** The pulse lists the changes of thirty seconds; after a longer silence some may have been missed. */
const LONGEST_GAP_MS = 20_000;
const RECORD_USE_EVERY_MS = 30_000;

interface HeartbeatOptions {
  readonly db: SystemDb;
  readonly clock: BusinessClock;
  readonly authority: Authority;
  readonly brakes: Brakes;
  readonly log: Log;
  readonly longestGapMs?: number;
}

/**
 * Brings business time, revocations and pauses of rails to this process about twice a second. When it fails for a second the clock
 * counts as stale and requests are answered 503: better no answer than one by a revoked key.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #seen = new Set<number>();
  #timer: NodeJS.Timeout | null = null;
  #useTimer: NodeJS.Timeout | null = null;
  #beating = 0;
  #lastRealMs = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Resolves after the first beat: before it the process knows no time. */
  async start(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => {
      // A beat that hangs is given up by its connection's deadline; meanwhile a second one may get through.
      if (this.#beating < 2)
        void this.#beat().catch((error: unknown) =>
          this.#options.log.warn(errorFields(error), 'a heartbeat failed'),
        );
    }, EVERY_MS);
    this.#useTimer = setInterval(() => void this.#recordUse(), RECORD_USE_EVERY_MS);
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    if (this.#useTimer) clearInterval(this.#useTimer);
    await this.#recordUse();
  }

  async #beat(): Promise<void> {
    this.#beating += 1;
    try {
      const takenAt = monotonicMs();
      const pulse = await readPulse(this.#options.db);
      const fresh = pulse.changes.filter((change) => !this.#seen.has(change.id));
      if (pulse.realMs - this.#lastRealMs > (this.#options.longestGapMs ?? LONGEST_GAP_MS))
        this.#options.authority.forgetAll();
      else if (fresh.length > 0) {
        this.#options.authority.forget(new Set(fresh.map((change) => change.organizationId)));
      }
      this.#lastRealMs = Math.max(this.#lastRealMs, pulse.realMs);
      for (const { id } of fresh) this.#seen.add(id);
      const listed = new Set(pulse.changes.map((change) => change.id));
      for (const id of this.#seen) if (!listed.has(id)) this.#seen.delete(id);
      this.#options.brakes.hear(pulse.pauses, takenAt);
      // Last, so that the time is never fresh while the revocations and pauses of its beat are not yet known.
      this.#options.clock.sample(pulse.nowMs, takenAt);
    } finally {
      this.#beating -= 1;
    }
  }

  async #recordUse(): Promise<void> {
    await this.#options.authority
      .recordUse()
      .catch((error: unknown) =>
        this.#options.log.warn(errorFields(error), 'the use of keys could not be recorded'),
      );
  }
}
