import { recordFailure, recordTestCounts } from '../../../scripts/test-counts.ts';

/** Result of one part of a run. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
}

export function print(text: string): void {
  console.log(text);
}

/** Counts passed and failed checks; prints a failure immediately. */
export function tally(): { pass(): void; fail(what: string): void; done(): Outcome } {
  let passed = 0;
  let failed = 0;
  return {
    pass: () => {
      passed += 1;
    },
    fail: (what) => {
      failed += 1;
      recordFailure(what);
      print(`  FAIL  ${what}`);
    },
    done: () => ({ passed, failed }),
  };
}

/** Prints the totals, and writes them to the file that .ci/run names. @returns the exit code */
export function reportTotals(outcomes: readonly Outcome[]): number {
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0);
  print(`${passed} passed, ${failed} failed`);
  recordTestCounts(passed, failed);
  return failed === 0 ? 0 : 1;
}
