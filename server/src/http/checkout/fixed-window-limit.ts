import { monotonicMs } from '../../kit/clock.ts';

/** Bound of memory. Beyond it, ended windows are dropped, and all windows if that is not enough. */
const MAX_KEYS = 50_000;

/** Limits how often an action may run per key and time window, counted per process. */
export class FixedWindowLimit {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #windows = new Map<string, { count: number; readonly until: number }>();

  constructor(limit: number, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  /** Counts one action. @returns null if it is within the limit, otherwise the seconds until the window ends */
  take(key: string): number | null {
    const now = monotonicMs();
    const window = this.#windows.get(key);
    if (window && window.until > now) {
      window.count += 1;
      return window.count <= this.#limit ? null : Math.ceil((window.until - now) / 1000);
    }
    if (this.#windows.size >= MAX_KEYS) this.#evict(now);
    this.#windows.set(key, { count: 1, until: now + this.#windowMs });
    return null;
  }

  /** Whether the limit of the current window is used up, without counting an action. */
  isReached(key: string): boolean {
    const window = this.#windows.get(key);
    return window !== undefined && window.until > monotonicMs() && window.count >= this.#limit;
  }

  #evict(now: number): void {
    for (const [key, { until }] of this.#windows) if (until <= now) this.#windows.delete(key);
    if (this.#windows.size >= MAX_KEYS) this.#windows.clear();
  }
}
