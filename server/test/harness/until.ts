import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';

const FIRST_PAUSE_MS = 20;
const MAX_PAUSE_MS = 100;

/** Polls a condition until it holds or the deadline passes; never waits a fixed time. */
export async function until<T>(
  what: string,
  check: () => Promise<T | false | null | undefined>,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let lastError: unknown;
  let pauseMs = FIRST_PAUSE_MS;
  while (performance.now() < deadline) {
    try {
      const answer = await check();
      if (answer !== false && answer !== null && answer !== undefined) return answer;
    } catch (error) {
      lastError = error;
    }
    await sleep(pauseMs);
    pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2);
  }
  throw new Error(`timed out after ${withinMs} ms waiting until ${what}`, { cause: lastError });
}
