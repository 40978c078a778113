import { appendFileSync } from 'node:fs';

/** What came of a part of a run. */
export interface Outcome {
  readonly passed: number;
  readonly failed: number;
}

export function say(text: string): void {
  console.log(text);
}

/** Counts what a part proves; a failure is told at once. */
export function tally(): { pass(): void; fail(what: string): void; done(): Outcome } {
  let passed = 0;
  let failed = 0;
  return {
    pass: () => {
      passed += 1;
    },
    fail: (what) => {
      failed += 1;
      say(`  FAIL  ${what}`);
    },
    done: () => ({ passed, failed }),
  };
}

/** The last line of a run, and for .ci/run the same counts in the file it names. */
export function close(outcomes: readonly Outcome[]): number {
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, 0);
  say(`${passed} passed, ${failed} failed`);
  const file = process.env['TEST_COUNTS'];
  if (file) appendFileSync(file, `${passed} ${failed} 0\n`);
  return failed === 0 ? 0 : 1;
}
