/**
 * A bounded queue that is fair between groups (organizations): each group has its own FIFO queue, groups are served
 * round-robin, and when the total limit is reached an item of the longest group is evicted. So the flood of one
 * organization delays only itself; a quiet organization is still accepted and served in the next batch.
 */
export class FairQueue<T> {
  readonly #limit: number;
  /** Insertion order is the order of service: a served group moves to the end. */
  readonly #groups = new Map<string, T[]>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Appends an item to its group.
   * @returns the evicted item if the queue was full: the newest of the longest group, or the new item
   */
  push(group: string, item: T): T | null {
    const items = this.#groups.get(group);
    if (this.#size < this.#limit) {
      if (items) items.push(item);
      else this.#groups.set(group, [item]);
      this.#size += 1;
      return null;
    }
    const longest = this.#longest();
    if ((items?.length ?? 0) + 1 >= longest.length) return item;
    const evicted = longest.pop();
    if (items) items.push(item);
    else this.#groups.set(group, [item]);
    return evicted ?? null;
  }

  /** Takes up to `limit` items round-robin: one from each group at a time, oldest first within a group. */
  take(limit: number): T[] {
    const taken: T[] = [];
    // The round-robin order continues across batches: groups served first in this batch are last in the next.
    while (taken.length < limit && this.#groups.size > 0) {
      for (const [group, items] of Array.from(this.#groups)) {
        if (taken.length >= limit) break;
        const item = items.shift();
        this.#groups.delete(group);
        if (items.length > 0) this.#groups.set(group, items);
        if (item !== undefined) taken.push(item);
      }
    }
    this.#size -= taken.length;
    return taken;
  }

  #longest(): T[] {
    let longest: T[] = [];
    for (const items of this.#groups.values()) if (items.length > longest.length) longest = items;
    return longest;
  }
}
