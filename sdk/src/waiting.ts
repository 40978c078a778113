import type { Signal } from './platform.ts';

const FIRST_MS = 500;
const MAX_MS = 8_000;

/** Exponential backoff with full jitter, so that clients that failed together do not retry together. */
export function backoffMs(attempt: number, firstMs = FIRST_MS, maxMs = MAX_MS): number {
  return Math.random() * Math.min(maxMs, firstMs * 2 ** (attempt - 1));
}

/** Resolves after `ms` or when the signal aborts; the caller checks the signal afterwards. */
export function pause(ms: number, signal?: Signal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

/**
 * `Retry-After` in milliseconds. A date is compared with the `Date` header of the response, so that the local clock does
 * not matter.
 */
export function retryAfterMs(headers: { get(name: string): string | null }): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const until = Date.parse(value);
  if (Number.isNaN(until)) return null;
  const date = Date.parse(headers.get('date') ?? '');
  return Math.max(0, until - (Number.isNaN(date) ? Date.now() : date));
}
