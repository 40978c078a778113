import { randomFraction } from './ids.ts';

/** Exponential backoff from `firstMs` up to `maxMs`, with ±25% jitter so that waiters do not retry at once. */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  const delayMs = Math.min(maxMs, firstMs * 2 ** Math.max(0, attempt - 1));
  return Math.round(delayMs * (0.75 + randomFraction() / 2));
}
