import { monotonicMs } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { FixedWindowLimit } from './checkout/fixed-window-limit.ts';
import { clientNetwork } from './verify/client-network.ts';

/** Invalid credentials per address and minute: above this they come from a program that does not stop. */
const PER_ADDRESS = { limit: 300, windowMs: 60_000 };
/** Log lines of requests that clients can send and have rejected at any rate, per process. A flood would otherwise fill the disk. */
const LINES = { limit: 20, windowMs: 10_000 };

/** Remembers which addresses sent many invalid credentials, and limits the log lines about rejected requests. */
export class InvalidCredentials {
  readonly #log: Log;
  readonly #byAddress = new FixedWindowLimit(PER_ADDRESS.limit, PER_ADDRESS.windowMs);
  #windowEndsAt = Number.NEGATIVE_INFINITY;
  #lines = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  count(address: string): void {
    this.#byAddress.take(clientNetwork(address));
  }

  isSuspect(address: string): boolean {
    return this.#byAddress.isReached(clientNetwork(address));
  }

  /** Whether a rejected request gets its own log line; the others of the same ten seconds are counted in one line. */
  takeLogLine(): boolean {
    const now = monotonicMs();
    if (now >= this.#windowEndsAt) {
      const unlogged = this.#lines - LINES.limit;
      if (unlogged > 0)
        this.#log.warn(
          { code: 'rejected_requests_not_logged', count: unlogged },
          'rejected requests were not logged',
        );
      this.#windowEndsAt = now + LINES.windowMs;
      this.#lines = 0;
    }
    this.#lines += 1;
    return this.#lines <= LINES.limit;
  }
}
