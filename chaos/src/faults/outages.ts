/** A circuit that has opened rests for up to two seconds after the rail is back, and then tries one. */
const AFTERMATH_MS = 4000;

/** Times in which a rail or the database was away, so that nobody could go on with anything. */
export class Outages {
  readonly #spans: { readonly from: number; until: number }[] = [];

  /** @returns ends it */
  begin(): () => void {
    const span = { from: performance.now(), until: Number.POSITIVE_INFINITY };
    this.#spans.push(span);
    return () => {
      span.until = performance.now() + AFTERMATH_MS;
    };
  }

  /** How much of this time was spent in outages; those at the same time count once. */
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
