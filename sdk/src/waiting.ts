import type { Signal } from './platform.ts';

const FIRST_MS = 500;
const MOST_MS = 8_000;

/** Full jitter: clients that failed together do not come back together. */
export function backoffMs(attempt: number, firstMs = FIRST_MS, maxMs = MOST_MS): number {
  return Math.random() * Math.min(maxMs, firstMs * 2 ** (attempt - 1));
}

/** Resolves after a time, or as soon as the signal aborts: whoever waits looks at the signal next. */
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
 * What `Retry-After` asks for, in milliseconds: seconds, or a date, which is read against the answer's own `Date` so
 * that it does not matter how wrong our clock is.
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
