/** An open circuit breaker waits up to two seconds after the rail recovers, and then sends one trial call. */
const AFTERMATH_MS = 4000;

/** Periods in which a rail or the database was down, so that no process could make progress. */
export class Outages {
  readonly #spans: { readonly from: number; until: number }[] = [];

  /** @returns a function that ends the outage */
  start(): () => void {
    const span = { from: performance.now(), until: Number.POSITIVE_INFINITY };
    this.#spans.push(span);
    return () => {
      span.until = performance.now() + AFTERMATH_MS;
    };
  }

  /** Total outage time in the interval; overlapping outages count once. */
  within(from: number, until: number): number {
    let spent = 0;
    let reached = from;
    for (const span of this.#spans.toSorted((a, b) => a.from - b.from)) {
      const start = Math.max(reached, span.from);
      const end = Math.min(until, span.until);
      if (end <= start) continue;
      spent += end - start;
      reached = end;
    }
    return spent;
  }
}
