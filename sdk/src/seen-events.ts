/** A resumed stream starts one minute before the last event; older ids than twice that cannot be resent. */
const RETENTION_MS = 120_000;
const MAX_IDS = 200_000;

/** Ids of delivered events, kept as long as the stream may resend them. Ids contain their time (UUIDv7). */
export class SeenEvents {
  /** In order of arrival. */
  readonly #ids = new Map<string, number>();
  #newest: string | null = null;

  /** Id to resume after. */
  get newest(): string | null {
    return this.#newest;
  }

  get size(): number {
    return this.#ids.size;
  }

  /** @returns false for a duplicate */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.set(id, timestampFromId(id));
    if (this.#newest === null || id > this.#newest) this.#newest = id;
    const oldest = timestampFromId(this.#newest) - RETENTION_MS;
    for (const [each, time] of this.#ids) {
      if (time >= oldest && this.#ids.size <= MAX_IDS) break;
      this.#ids.delete(each);
    }
    return true;
  }
}

/** Unix time in milliseconds of a UUIDv7. */
export function timestampFromId(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}

/** The lowest UUIDv7 of a millisecond. */
export function idForTimestamp(ms: number): string {
  const time = Math.max(0, Math.floor(ms)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
