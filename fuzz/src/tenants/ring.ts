import type { Random } from '../../../chaos/src/run/random.ts';

/** The newest values of a kind. Bounded, because a long run sees millions. */
export class Ring<T> {
  readonly #capacity: number;
  readonly #values: T[] = [];
  #next = 0;

  constructor(capacity = 256) {
    this.#capacity = capacity;
  }

  add(value: T): void {
    this.#values[this.#next % this.#capacity] = value;
    this.#next += 1;
  }

  replace(values: readonly T[]): void {
    this.#values.length = 0;
    this.#next = 0;
    for (const value of values) this.add(value);
  }

  pick(random: Random): T | null {
    return choose(random, this.#values);
  }

  /** Each value once: a resource appears in many responses. */
  get distinct(): readonly T[] {
    return [...new Set(this.#values)];
  }
}

export function choose<T>(random: Random, list: readonly T[]): T | null {
  return list[random.integer(0, list.length - 1)] ?? null;
}

/** One of a list that is never empty. */
export function oneOf<T>(random: Random, list: readonly [T, ...T[]]): T {
  return choose(random, list) ?? list[0];
}
