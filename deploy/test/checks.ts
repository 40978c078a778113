import { recordTestCounts } from '../../scripts/test-counts.ts';

const counts = { passed: 0, failed: 0 };

/** Runs one check and prints its result. A failed check does not stop the others. */
export async function check(name: string, run: () => unknown): Promise<boolean> {
  const startedAt = performance.now();
  let problem: string | null = null;
  try {
    await run();
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${problem === null ? 'ok  ' : 'FAIL'}  ${name} (${seconds} s)`);
  if (problem !== null) console.log(problem.replace(/^/gm, '      '));
  counts[problem === null ? 'passed' : 'failed'] += 1;
  return problem === null;
}

/** Prints and records the counts. @returns the exit code */
export function finishChecks(): number {
  recordTestCounts(counts.passed, counts.failed);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
}

/** @throws Error with both values when they differ */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (one !== other) throw new Error(`${what}: expected ${other}, got ${one}`);
}
