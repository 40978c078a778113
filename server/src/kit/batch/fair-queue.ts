/**
 * A bounded queue that is fair between groups (organizations): each group has its own line, lines are served in
 * turn, and when the whole is full the longest line gives way. So one organization's flood fills its own line and
 * delays itself; a quiet one finds a place and is served in the next batch.
 */
export class FairQueue<T> {
  readonly #limit: number;
  /** Insertion order is the order of service: a served line is moved behind the others. */
  readonly #lines = new Map<string, T[]>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Puts an item at the end of its group's line.
   * @returns the item that had to give way, if the queue was full: the newest of the longest line, or the new one
   */
  push(group: string, item: T): T | null {
    const line = this.#lines.get(group);
    if (this.#size < this.#limit) {
      if (line) line.push(item);
      else this.#lines.set(group, [item]);
      this.#size += 1;
      return null;
    }
    const longest = this.#longest();
    if ((line?.length ?? 0) + 1 >= longest.length) return item;
    const evicted = longest.pop();
    if (line) line.push(item);
    else this.#lines.set(group, [item]);
    return evicted ?? null;
  }

  /** Up to `most` items: one from each line in turn, oldest first within a line. */
  take(limit: number): T[] {
    const taken: T[] = [];
    // A group keeps its turn over batches: the lines served first in this batch stand last in the next.
    while (taken.length < limit && this.#lines.size > 0) {
      for (const [group, line] of Array.from(this.#lines)) {
        if (taken.length >= limit) break;
        const item = line.shift();
        this.#lines.delete(group);
        if (line.length > 0) this.#lines.set(group, line);
        if (item !== undefined) taken.push(item);
      }
    }
    this.#size -= taken.length;
    return taken;
  }

  #longest(): T[] {
    let longest: T[] = [];
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    return longest;
  }
}
