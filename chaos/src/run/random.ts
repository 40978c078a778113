/** Seeded random numbers (mulberry32). A seed does not reproduce the timing of the machine. */
export interface Random {
  /** In [0, 1). */
  fraction(): number;
  /** An integer from `low` to `high`, inclusive. */
  integer(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<const T>(list: readonly [T, ...T[]]): T;
  /** Picks a name according to its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
  /** An independent generator seeded by this one: draws in one part of a run do not affect another part. */
  branch(): Random;
}

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const integer = (low: number, high: number) => low + Math.floor(fraction() * (high - low + 1));
  return {
    fraction,
    integer,
    chance: (probability) => fraction() < probability,
    pick: (list) => list[integer(0, list.length - 1)] ?? list[0],
    weighted: (weights) => {
      const entries = Object.entries<number>(weights);
      let left = fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      const found = entries.find(([, weight]) => (left -= weight) < 0) ?? entries[0];
      return found?.[0] as never;
    },
    branch: () => randomFrom(integer(0, 0xffff_ffff)),
  };
}
