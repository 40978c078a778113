const KEPT = 200;

/** Keeps the last few, cut off by the hundred: a shift for each of a million would be felt. */
export function remember<T>(newest: T[], item: T): void {
  newest.push(item);
  if (newest.length >= 2 * KEPT) newest.splice(0, KEPT);
}
