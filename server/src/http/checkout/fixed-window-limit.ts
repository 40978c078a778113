import { monotonicMs } from '../../kit/clock.ts';

/** So many names are remembered; beyond that the oldest windows go. */
const MOST_NAMES = 50_000;

/** How often something may be done under a name within a while, as this process counts. */
export class Limit {
  readonly #limit: number;
  readonly #withinMs: number;
  readonly #windows = new Map<string, { count: number; readonly until: number }>();

  constructor(limit: number, withinMs: number) {
    this.#limit = limit;
    this.#withinMs = withinMs;
  }

  /** @returns whether it may be done once more; then it counts */
  take(name: string): boolean {
    const now = monotonicMs();
    const window = this.#windows.get(name);
    if (window && window.until > now) {
      window.count += 1;
      return window.count <= this.#limit;
    }
    if (this.#windows.size >= MOST_NAMES) this.#forget(now);
    this.#windows.set(name, { count: 1, until: now + this.#withinMs });
    return true;
  }

  #forget(now: number): void {
    for (const [name, { until }] of this.#windows) if (until <= now) this.#windows.delete(name);
    if (this.#windows.size >= MOST_NAMES) this.#windows.clear();
  }
}
