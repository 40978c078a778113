import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemDb } from '../db/system.ts';
import { type BusinessClock, databaseUnavailable, monotonicMs } from '../kit/clock.ts';
import { deadline } from '../kit/deadline.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { Authenticator } from './authenticator.ts';
import { type Pulse, readPulse } from './credential.store.ts';
import type { DataKeys } from './data-keys.ts';
import { advanceIdClock } from './id-clock.store.ts';
import { isIdClockBehind, toIdRange } from './id-clock.ts';
import type { KeyNetworks } from './key-networks.ts';
import type { RailPauses } from './rail-pauses.ts';
import type { SendingGuard } from './sending-guard.ts';

const EVERY_MS = 400;
/** A pulse lists the credential changes of the last 30 seconds; after a longer gap some may be missing. */
const MAX_GAP_MS = 20_000;
const RECORD_USE_EVERY_MS = 30_000;
/** A hanging beat ends at its connection's deadline; meanwhile a second beat may succeed. */
const MAX_CONCURRENT_BEATS = 2;
/**
 * How long requests wait for a late heartbeat, counted in short waits instead of elapsed time: if the event loop was
 * blocked for seconds, the process still reads the database's answer before the wait ends.
 */
const MAX_RENEWAL_WAITS = 30;
const RENEWAL_WAIT_MS = 50;
/** How long a beat waits for the update of the id high-water mark: reads must not depend on a database that can write. */
const ADVANCE_WITHIN_MS = 300;
/** How long a beat waits for new data keys, which a key management service may have to unwrap. */
const REFRESH_WITHIN_MS = 300;

interface HeartbeatOptions {
  readonly db: SystemDb;
  readonly clock: BusinessClock;
  readonly authenticator: Authenticator;
  readonly keys: DataKeys;
  readonly railPauses: RailPauses;
  readonly sendingGuard: SendingGuard;
  readonly keyNetworks: KeyNetworks;
  readonly log: Log;
  readonly maxGapMs?: number;
}

/**
 * Reads business time, credential and key changes and rail pauses about twice a second. A request that finds them older than a
 * second waits for an on-demand beat, which all waiting requests share. When the database does not answer, requests get
 * 503 immediately until it does: rejecting requests is better than accepting a revoked key.
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
  #advancing: Promise<void> | null = null;
  #advanceFailed = false;
  #recordingNetworks: Promise<void> | null = null;
  #keysFailed = false;
  #answered = Promise.withResolvers<void>();
  /** Set while the database counts as unresponsive. */
  #failure: { readonly error: unknown } | null = null;
  #lastError: unknown = null;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    options.clock.setRenewal((sinceMs) => this.#waitForBeat(sinceMs));
  }

  /** Resolves after the first beat; before it the process does not know the business time. */
  async start(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => {
      if (this.#options.clock.fresh || this.#failure) this.#tryBeat();
      else void this.#renew(monotonicMs() - EVERY_MS);
      if (this.#options.keyNetworks.hasNew) void this.#recordNewNetworks();
    }, EVERY_MS);
    this.#useTimer = setInterval(() => {
      void this.#recordUse();
      void this.#recordNetworks((networks) => networks.recordKnown());
    }, RECORD_USE_EVERY_MS);
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    if (this.#useTimer) clearInterval(this.#useTimer);
    await this.#options.sendingGuard.stop();
    await this.#recordUse();
    await this.#recordNewNetworks();
    await this.#recordNetworks((networks) => networks.recordKnown());
  }

  /** The error of the last beat while the database counts as unresponsive. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  async #waitForBeat(sinceMs: number): Promise<void> {
    while (!this.#options.clock.isSampledSince(sinceMs)) {
      if (this.#failure) throw databaseUnavailable();
      await this.#renew(sinceMs);
    }
  }

  /** Resolves when the database answers or counts as unresponsive. All waiting requests share one renewal. */
  #renew(sinceMs: number): Promise<void> {
    this.#renewal ??= this.#renewOnce(sinceMs).finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  }

  async #renewOnce(sinceMs: number): Promise<void> {
    this.#lastError = null;
    for (let wait = 0; wait < MAX_RENEWAL_WAITS; wait += 1) {
      this.#tryBeat();
      await Promise.race([this.#answered.promise, sleep(RENEWAL_WAIT_MS)]);
      if (this.#options.clock.isSampledSince(sinceMs)) return;
    }
    this.#failure = { error: this.#lastError };
    const { ageMs } = this.#options.clock;
    this.#options.log.warn(
      { ...errorFields(this.#lastError), code: 'database_silent', ageMs: Math.round(ageMs) },
      'database does not answer heartbeats; answering requests with 503',
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
      if (!isIdClockBehind(pulse)) return await this.#apply(pulse, takenAt);
      await this.#advanceIdClock();
      const retakenAt = monotonicMs();
      await this.#apply(await readPulse(this.#options.db), retakenAt);
    } finally {
      this.#beating -= 1;
    }
  }

  /** On failure, no ids beyond the limit are generated; everything else continues. */
  async #advanceIdClock(): Promise<void> {
    this.#advancing ??= advanceIdClock(this.#options.db)
      .then(
        () => {
          this.#advanceFailed = false;
        },
        (error: unknown) => {
          if (!this.#advanceFailed)
            this.#options.log.warn(
              { ...errorFields(error), code: 'id_clock_update_failed' },
              'failed to raise the id high-water mark; creation of resources is blocked',
            );
          this.#advanceFailed = true;
        },
      )
      .finally(() => {
        this.#advancing = null;
      });
    await Promise.race([this.#advancing, sleep(deadline(ADVANCE_WITHIN_MS))]);
  }

  async #apply(pulse: Pulse, takenAt: number): Promise<void> {
    const { railPauses, sendingGuard, clock, log } = this.#options;
    await this.#applyChanges(pulse, takenAt);
    railPauses.apply(pulse.pauses, takenAt);
    sendingGuard.apply(pulse, takenAt);
    // Sampled last, so that the clock is never fresh before the revocations and pauses of the same beat are applied.
    const ids = toIdRange(pulse);
    if (ids.leadMs > 0 && clock.idLeadMs === 0)
      log.warn(
        { code: 'clock_stepped_back', leadMs: Math.round(ids.leadMs) },
        'database clock stepped back; ids run ahead of it until it catches up',
      );
    clock.sample(pulse.nowMs, takenAt, ids);
    if (this.#failure) log.info({ code: 'database_recovered' }, 'database answers heartbeats again');
    this.#failure = null;
    this.#answered.resolve();
    this.#answered = Promise.withResolvers();
  }

  /** New data keys become active much later than a heartbeat, so a slow key management service does not delay it. */
  async #applyChanges(pulse: Pulse, takenAt: number): Promise<void> {
    const { authenticator, keys, db } = this.#options;
    const fresh = pulse.changes.filter((change) => !this.#seen.has(change.id));
    const gap = this.#gapMs(pulse, takenAt) > (this.#options.maxGapMs ?? MAX_GAP_MS);
    const changed = gap ? null : new Set(fresh.map((change) => change.organizationId));
    if (changed === null) authenticator.invalidateAll();
    else if (changed.size > 0) authenticator.invalidate(changed);
    const refreshed = keys.refresh(db, changed, takenAt);
    refreshed.catch(() => {});
    await Promise.race([refreshed, sleep(deadline(REFRESH_WITHIN_MS))]);
    this.#reportFailedKeys();
    this.#lastRealMs = pulse.realMs;
    this.#lastTakenAt = Math.max(this.#lastTakenAt, takenAt);
    for (const { id } of fresh) this.#seen.add(id);
    const listed = new Set(pulse.changes.map((change) => change.id));
    for (const id of this.#seen) if (!listed.has(id)) this.#seen.delete(id);
  }

  #reportFailedKeys(): void {
    const { keys, log } = this.#options;
    const hasFailed = keys.failed.size > 0;
    if (hasFailed && !this.#keysFailed)
      log.error(
        { code: 'data_key_not_loaded', count: keys.failed.size },
        'data keys could not be unwrapped; their organizations cannot write from the activation of the key on',
      );
    this.#keysFailed = hasFailed;
  }

  /**
   * Time since the previous beat, by whichever clock shows more. The database clock includes time this machine was
   * suspended; the monotonic clock is correct when the database clock steps back. A step in either direction counts as a
   * gap, because the pulse selects changes by their timestamps.
   */
  #gapMs(pulse: Pulse, takenAt: number): number {
    return Math.max(Math.abs(pulse.realMs - this.#lastRealMs), takenAt - this.#lastTakenAt);
  }

  /** Records a new network with the next beat, because its event reports a theft. One recording at a time. */
  #recordNewNetworks(): Promise<void> {
    this.#recordingNetworks ??= this.#recordNetworks((networks) => networks.recordNew()).finally(() => {
      this.#recordingNetworks = null;
    });
    return this.#recordingNetworks;
  }

  async #recordNetworks(record: (networks: KeyNetworks) => Promise<void>): Promise<void> {
    const { keyNetworks, log } = this.#options;
    await record(keyNetworks).catch((error: unknown) =>
      log.warn(
        { ...errorFields(error), code: 'key_networks_not_recorded' },
        'failed to record the networks of API keys; they are recorded with the next attempt',
      ),
    );
  }

  async #recordUse(): Promise<void> {
    const { authenticator, keys, log } = this.#options;
    await Promise.all([authenticator.recordUse(), keys.recordUse()]).catch((error: unknown) =>
      log.warn({ ...errorFields(error), code: 'key_usage_not_recorded' }, 'failed to record key usage'),
    );
  }
}
