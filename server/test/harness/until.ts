import { setTimeout as sleep } from 'node:timers/promises';

/** Polls a condition until it holds or the deadline passes; never waits a fixed time. */
export async function until<T>(
  what: string,
  check: () => Promise<T | false | null | undefined>,
  withinMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let lastError: unknown;
  while (performance.now() < deadline) {
    try {
      const answer = await check();
      if (answer !== false && answer !== null && answer !== undefined) return answer;
    } catch (error) {
      lastError = error;
    }
    await sleep(20);
  }
  throw new Error(`timed out after ${withinMs} ms waiting until ${what}`, { cause: lastError });
}
