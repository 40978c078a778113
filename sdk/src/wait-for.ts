import { type CallOptions, checkSignal } from './call-options.ts';
import { AbortedError, TimeoutError } from './errors.ts';
import { checkNames, checkTimeout } from './option-checks.ts';
import type { Signal } from './platform.ts';
import { pause } from './waiting.ts';

export interface WaitOptions {
  /** Total time to wait; two minutes by default. */
  timeoutMs?: number | undefined;
  signal?: Signal | undefined;
}

const WAIT_MS = 120_000;
const FIRST_POLL_MS = 250;
const MAX_POLL_MS = 3_000;
/** Near the deadline a read gets only the remaining time, but at least MIN_READ_TIMEOUT_MS. */
const DEFAULT_READ_TIMEOUT_MS = 30_000;
const MIN_READ_TIMEOUT_MS = 1_000;

/**
 * Polls a resource until its status is final. A timeout does not mean that the payment failed.
 * @param what resource name for messages: `payins`
 */
export async function waitForFinal<Resource extends { readonly status: string }>(
  what: string,
  id: string,
  finals: readonly string[],
  read: (id: string, options: CallOptions) => Promise<Resource>,
  options: WaitOptions,
): Promise<Resource> {
  checkNames(`${what}.waitFor`, options, ['timeoutMs', 'signal']);
  const { signal } = options;
  const timeoutMs = checkTimeout(options.timeoutMs ?? WAIT_MS);
  checkSignal(signal);
  const deadline = performance.now() + timeoutMs;
  const context = { operation: `${what}.waitFor`, idempotencyKey: null, outcomeUnknown: false };
  for (let attempts = 1, pollMs = FIRST_POLL_MS; ; attempts += 1) {
    const leftMs = Math.max(MIN_READ_TIMEOUT_MS, Math.ceil(deadline - performance.now()));
    const resource = await read(
      id,
      leftMs < DEFAULT_READ_TIMEOUT_MS ? { signal, timeoutMs: leftMs } : { signal },
    );
    if (finals.includes(resource.status)) return resource;
    if (performance.now() + pollMs > deadline)
      throw new TimeoutError(
        `${what}.waitFor: ${id} is still ${resource.status} after ${timeoutMs} ms. It has not failed: its event will report the outcome`,
        { ...context, attempts },
      );
    await pause(pollMs, signal);
    if (signal?.aborted)
      throw new AbortedError(`${what}.waitFor: aborted by the caller`, { ...context, attempts });
    pollMs = Math.min(MAX_POLL_MS, pollMs * 1.5);
  }
}
