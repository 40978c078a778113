import { setTimeout as sleep } from 'node:timers/promises';

export async function waitFor<T>(
  what: string,
  check: () => Promise<T | null>,
  withinMs = 20_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await check().catch(() => null);
    if (found !== null) return found;
    if (performance.now() > deadline) throw new Error(`did not happen in ${withinMs / 1000} s: ${what}`);
    await sleep(200);
  }
}
