import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Appends the test counts of a run to the file named by TEST_COUNTS, one "passed failed skipped" line per run, so that
 * .ci/run can print the total of several suites.
 */
export class TestCounts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const file = process.env['TEST_COUNTS'];
    if (!file) return;
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1;
      counts.failed += module.errors().length;
    }
    appendFileSync(file, `${counts.passed} ${counts.failed + counts.pending} ${counts.skipped}\n`);
  }
}
