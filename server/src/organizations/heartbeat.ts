import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemDb } from '../db/system.ts';
import { type BusinessClock, databaseSilent, monotonicMs } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Authenticator } from './authenticator.ts';
import { type Pulse, readPulse } from './credential.store.ts';
import { keepIdClock } from './id-clock.store.ts';
import { idRangeOf, isIdClockBehind } from './id-clock.ts';
import type { RailPauses } from './rail-pauses.ts';

const EVERY_MS = 400;
/** The pulse lists the changes of thirty seconds; after a longer silence some may have been missed. */
const LONGEST_GAP_MS = 20_000;
const RECORD_USE_EVERY_MS = 30_000;
/** A beat that hangs ends by its connection's deadline; meanwhile a second one may get through. */
const MAX_CONCURRENT_BEATS = 2;
/**
 * How long requests wait for a late heartbeat, counted in turns of the event loop: after a turn that took seconds
 * because this process was busy, the answer of the database is read before the wait is over.
 */
const REFRESH_BATCHES = 30;
const TURN_MS = 50;
/** Longest a beat waits for the high-water mark of ids: reads must not depend on a database that cannot write. */
const KEEP_WITHIN_MS = 300;

interface HeartbeatOptions {
  readonly db: SystemDb;
  readonly clock: BusinessClock;
  readonly authenticator: Authenticator;
  readonly railPauses: RailPauses;
  readonly log: Log;
  readonly longestGapMs?: number;
}

/**
 * Brings business time, revocations and pauses of rails to this process about twice a second. A request that finds them
 * older than a second waits for a beat on demand, which all waiting requests share. When the database stays silent,
 * requests are answered 503 at once until it is heard again: better no answer than one to a revoked key.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #seen = new Set<number>();
  #timer: NodeJS.Timeout | null = null;
  #useTimer: NodeJS.Timeout | null = null;
  #beating = 0;
  #lastRealMs = 0;
  #lastTakenAt = 0;
  #renewal: Promise<void> | null = null;
  #keeping: Promise<void> | null = null;
  #keepFailed = false;
  #heard = Promise.withResolvers<void>();
  /** Why the database counts as silent; null while it does not. */
  #failure: { readonly error: unknown } | null = null;
  #lastError: unknown = null;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    options.clock.renewBy((sinceMs) => this.#heardSince(sinceMs));
  }

  /** Resolves after the first beat: before it the process knows no time. */
  async start(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => {
      if (this.#options.clock.fresh || this.#failure) this.#tryBeat();
      else void this.#renew(monotonicMs() - EVERY_MS);
    }, EVERY_MS);
    this.#useTimer = setInterval(() => void this.#recordUse(), RECORD_USE_EVERY_MS);
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    if (this.#useTimer) clearInterval(this.#useTimer);
    await this.#recordUse();
  }

  /** The error of the last beat while the database counts as silent. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  async #heardSince(sinceMs: number): Promise<void> {
    while (!this.#options.clock.isSampledSince(sinceMs)) {
      if (this.#failure) throw databaseSilent();
      await this.#renew(sinceMs);
    }
  }

  /** Resolves when the database was heard or counts as silent: one renewal for all requests that wait. */
  #renew(sinceMs: number): Promise<void> {
    this.#renewal ??= this.#renewOnce(sinceMs).finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  async #renewOnce(sinceMs: number): Promise<void> {
    this.#lastError = null;
    for (let turn = 0; turn < REFRESH_BATCHES; turn += 1) {
      this.#tryBeat();
      await Promise.race([this.#heard.promise, sleep(TURN_MS)]);
      if (this.#options.clock.isSampledSince(sinceMs)) return;
    }
    this.#failure = { error: this.#lastError };
    const { ageMs } = this.#options.clock;
    this.#options.log.warn(
      { ...errorFields(this.#lastError), code: 'database_silent', ageMs: Math.round(ageMs) },
      'the database does not answer heartbeats; requests are answered 503',
    );
  }

  #tryBeat(): void {
    if (this.#beating >= MAX_CONCURRENT_BEATS) return;
    this.#beat().catch((error: unknown) => {
      this.#lastError = error;
    });
  }

  async #beat(): Promise<void> {
    this.#beating += 1;
    try {
      const takenAt = monotonicMs();
      const pulse = await readPulse(this.#options.db);
      if (!isIdClockBehind(pulse)) return this.#apply(pulse, takenAt);
      await this.#keepIdClock();
      const askedAt = monotonicMs();
      this.#apply(await readPulse(this.#options.db), askedAt);
    } finally {
      this.#beating -= 1;
    }
  }

  /** Where it fails, no id beyond the limit is stamped; everything else goes on. */
  async #keepIdClock(): Promise<void> {
    this.#keeping ??= keepIdClock(this.#options.db)
      .then(
        () => {
          this.#keepFailed = false;
        },
        (error: unknown) => {
          if (!this.#keepFailed)
            this.#options.log.warn(
              { ...errorFields(error), code: 'id_clock_not_kept' },
              'failed to raise the high-water mark of ids; nothing can be created until it succeeds',
            );
          this.#keepFailed = true;
        },
      )
      .finally(() => {
        this.#keeping = null;
      });
    await Promise.race([this.#keeping, sleep(KEEP_WITHIN_MS)]);
  }

  #apply(pulse: Pulse, takenAt: number): void {
    const { authenticator, railPauses, clock, log } = this.#options;
    const fresh = pulse.changes.filter((change) => !this.#seen.has(change.id));
    if (this.#gapMs(pulse, takenAt) > (this.#options.longestGapMs ?? LONGEST_GAP_MS))
      authenticator.forgetAll();
    else if (fresh.length > 0) authenticator.forget(new Set(fresh.map((change) => change.organizationId)));
    this.#lastRealMs = pulse.realMs;
    this.#lastTakenAt = Math.max(this.#lastTakenAt, takenAt);
    for (const { id } of fresh) this.#seen.add(id);
    const listed = new Set(pulse.changes.map((change) => change.id));
    for (const id of this.#seen) if (!listed.has(id)) this.#seen.delete(id);
    railPauses.hear(pulse.pauses, takenAt);
    // Last, so that the time is never fresh while the revocations and pauses of its beat are not yet known.
    const ids = idRangeOf(pulse);
    if (ids.leadMs > 0 && clock.idLeadMs === 0)
      log.warn(
        { code: 'clock_stepped_back', leadMs: Math.round(ids.leadMs) },
        "the database's clock went back; ids run ahead of it until it has caught up",
      );
    clock.sample(pulse.nowMs, takenAt, ids);
    if (this.#failure) log.info({ code: 'database_heard' }, 'the database answers heartbeats again');
    this.#failure = null;
    this.#heard.resolve();
    this.#heard = Promise.withResolvers();
  }

  /**
   * Time since the previous beat, by the clock that shows more. The database clock counts what this machine slept through;
   * the monotonic one does not shrink when the database clock steps back. A step in either direction counts as a gap,
   * because changes are listed by the time of their stamps.
   */
  #gapMs(pulse: Pulse, takenAt: number): number {
    return Math.max(Math.abs(pulse.realMs - this.#lastRealMs), takenAt - this.#lastTakenAt);
  }

  async #recordUse(): Promise<void> {
    await this.#options.authenticator
      .recordUse()
      .catch((error: unknown) =>
        this.#options.log.warn(errorFields(error), 'the use of keys could not be recorded'),
      );
  }
}
