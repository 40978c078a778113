/** A resumed stream begins a minute before the last event; beyond twice that nothing comes again. */
const KEPT_MS = 120_000;
const MOST_KEPT = 200_000;

/** Ids of events that were handed on, as long as they can come again: they carry their time (UUID version 7). */
export class SeenEvents {
  /** In the order in which they came. */
  readonly #ids = new Map<string, number>();
  #newest: string | null = null;

  /** Where to resume. */
  get newest(): string | null {
    return this.#newest;
  }

  get size(): number {
    return this.#ids.size;
  }

  /** @returns false for one that was here before */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.set(id, timeOf(id));
    if (this.#newest === null || id > this.#newest) this.#newest = id;
    const oldest = timeOf(this.#newest) - KEPT_MS;
    for (const [each, time] of this.#ids) {
      if (time >= oldest && this.#ids.size <= MOST_KEPT) break;
      this.#ids.delete(each);
    }
    return true;
  }
}

/** Milliseconds since 1970 in an id. */
export function timeOf(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

/** An id of that moment, before any other of the same millisecond. */
export function idAt(ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
