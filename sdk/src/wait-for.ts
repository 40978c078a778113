import type { CallOptions } from './calls.ts';
import { AbortedError, TimeoutError } from './errors.ts';
import type { Signal } from './platform.ts';
import { pause } from './waiting.ts';

export interface WaitOptions {
  /** How long to wait altogether; two minutes by default. */
  timeoutMs?: number | undefined;
  signal?: Signal | undefined;
}

const WAIT_MS = 120_000;
const FIRST_POLL_MS = 250;
const SLOWEST_POLL_MS = 3_000;
/** Near the end a read gets no more time than is left, and never too little to succeed. */
const LONG_READ_MS = 30_000;
const SHORTEST_READ_MS = 1_000;

/**
 * Reads a resource until it is final. That it takes longer is no failure, and is not told as one.
 * @param what `payin`, for people
 */
export async function waitForFinal<Resource extends { readonly status: string }>(
  what: string,
  id: string,
  finals: readonly string[],
  read: (id: string, options: CallOptions) => Promise<Resource>,
  { timeoutMs = WAIT_MS, signal }: WaitOptions,
): Promise<Resource> {
  const deadline = performance.now() + timeoutMs;
  const facts = { operation: `${what}.waitFor`, idempotencyKey: null, outcomeUnknown: false };
  for (let attempts = 1, pollMs = FIRST_POLL_MS; ; attempts += 1) {
    const leftMs = Math.max(SHORTEST_READ_MS, Math.ceil(deadline - performance.now()));
    const resource = await read(id, leftMs < LONG_READ_MS ? { signal, timeoutMs: leftMs } : { signal });
    if (finals.includes(resource.status)) return resource;
    if (performance.now() + pollMs > deadline)
      throw new TimeoutError(
        `${what}.waitFor: ${id} is still ${resource.status} after ${timeoutMs} ms. It has not failed: its event tells the outcome`,
        { ...facts, attempts },
      );
    await pause(pollMs, signal);
    if (signal?.aborted)
      throw new AbortedError(`${what}.waitFor: ended by the caller`, { ...facts, attempts });
    pollMs = Math.min(SLOWEST_POLL_MS, pollMs * 1.5);
  }
}
