import { randomFraction } from './ids.ts';

/** Doubling from `firstMs` up to `mostMs`, with up to a quarter of jitter so that waiters do not come back as one. */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  const plain = Math.min(maxMs, firstMs * 2 ** Math.max(0, attempt - 1));
  return Math.round(plain * (0.75 + randomFraction() / 2));
}
