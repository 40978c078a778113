import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition, never for a time: asks again until it holds or the deadline has passed. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | false | null | undefined>,
  withinMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      const answer = await ask();
      if (answer !== false && answer !== null && answer !== undefined) return answer;
    } catch (error) {
      last = error;
    }
    await sleep(20);
  }
  throw new Error(`${what}: not within ${withinMs} ms`, { cause: last });
}
