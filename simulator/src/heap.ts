/** Binary heap: `peek` returns the first item by `before` in constant time. */
export class Heap<T> {
  readonly #before: (a: T, b: T) => boolean;
  readonly #items: T[] = [];

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let hole = items.length;
    items.push(item);
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      const above = items[parent];
      if (above === undefined || !this.#before(item, above)) break;
      items[hole] = above;
      hole = parent;
    }
    items[hole] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last !== undefined && items.length > 0) this.#sink(last);
    return first;
  }

  #sink(item: T): void {
    const items = this.#items;
    let hole = 0;
    for (;;) {
      const child = this.#firstChild(hole);
      const below = items[child];
      if (below === undefined || !this.#before(below, item)) break;
      items[hole] = below;
      hole = child;
    }
    items[hole] = item;
  }

  #firstChild(parent: number): number {
    const left = 2 * parent + 1;
    const [a, b] = [this.#items[left], this.#items[left + 1]];
    return a !== undefined && b !== undefined && this.#before(b, a) ? left + 1 : left;
  }
}
