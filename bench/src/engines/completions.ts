/** Counts how often each item was completed. */
export class Completions {
  readonly #times = new Map<string, number>();

  get size(): number {
    return this.#times.size;
  }

  readonly add = (id: string): void => {
    this.#times.set(id, (this.#times.get(id) ?? 0) + 1);
  };

  /** @throws unless exactly these items were completed, each once */
  check(ids: readonly string[]): void {
    const wrong = ids.filter((id) => this.#times.get(id) !== 1).length;
    if (wrong === 0 && this.size === ids.length) return;
    throw new Error(`${ids.length} items were created, ${this.size} completed; ${wrong} not exactly once`);
  }
}
