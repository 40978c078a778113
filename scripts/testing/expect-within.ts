/** Whether `.ci/long timing` runs the tests: alone on the machine, with the deadlines of production. */
export const TIMED = process.env['TIMED'] === '1';

/**
 * A limit on real time. It says something only about a machine that does nothing else, so only `.ci/long timing` asserts it;
 * elsewhere a missed one is printed.
 */
export function expectWithin(what: string, ms: number, limitMs: number): void {
  if (ms < limitMs) return;
  const missed = `${what} took ${Math.round(ms)} ms, limit ${limitMs} ms`;
  if (TIMED) throw new Error(missed);
  process.stderr.write(`slow: ${missed}\n`);
}

/** Runs an action under `expectWithin`. */
export async function within<T>(what: string, limitMs: number, action: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const result = await action();
  expectWithin(what, performance.now() - startedAt, limitMs);
  return result;
}

/** @returns a function that returns the milliseconds since this call */
export function stopwatch(): () => number {
  const startedAt = performance.now();
  return () => performance.now() - startedAt;
}
