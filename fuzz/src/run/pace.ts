/** Above this, the machine is overloaded and says nothing about a single request. */
const OVERLOADED_MS = 800;
const WEIGHT = 0.02;

/** The recent response time of all requests. A slow response counts only while the others are fast. */
export class Pace {
  #recentMs = OVERLOADED_MS;

  add(ms: number): void {
    // Capped: one slow response must not excuse the next.
    this.#recentMs += (Math.min(ms, 2 * OVERLOADED_MS) - this.#recentMs) * WEIGHT;
  }

  get isOverloaded(): boolean {
    return this.#recentMs > OVERLOADED_MS / 2;
  }
}
