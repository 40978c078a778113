import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Appends the counts of a run to the file named by TEST_COUNTS, one "passed failed skipped" line per run, so that
 * .ci/run can print the total of several suites.
 */
export function recordTestCounts(passed: number, failed: number, skipped = 0): void {
  const file = process.env['TEST_COUNTS'];
  if (file) appendFileSync(file, `${passed} ${failed} ${skipped}\n`);
}

/** Records the counts of a vitest run. */
export class TestCounts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      counts.failed += module.errors().length;
    }
    recordTestCounts(counts.passed, counts.failed + counts.pending, counts.skipped);
  }
}
