import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Appends the counts of a run to the file named by TEST_COUNTS, one "passed failed skipped" line per run, so that
 * .ci/run can print the total of several suites.
 */
export function recordTestCounts(passed: number, failed: number, skipped = 0): void {
  append('TEST_COUNTS', `${passed} ${failed} ${skipped}`);
}

/** Appends a failed check to the file named by TEST_FAILURES, which .ci/run prints at its end. */
export function recordFailure(name: string, reason = ''): void {
  const [firstLine = ''] = reason.split('\n');
  append('TEST_FAILURES', firstLine === '' ? name : `${name}\n    ${firstLine}`);
}

function append(variable: 'TEST_COUNTS' | 'TEST_FAILURES', line: string): void {
  const file = process.env[variable];
  if (file) appendFileSync(file, `${line}\n`);
}

/** Records the counts and failures of a vitest run. */
export class TestCounts implements Reporter {
  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly { readonly message: string }[],
  ): void {
    for (const module of modules) recordModule(module);
    // An error outside of the tests fails the run, too.
    for (const { message } of unhandledErrors) recordFailure('outside of the tests', message);
    if (unhandledErrors.length > 0) recordTestCounts(0, unhandledErrors.length);
  }
}

function recordModule(module: TestModule): void {
  const file = relative(process.cwd(), module.moduleId);
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result();
    counts[state] += 1;
    if (state === 'failed' || state === 'pending')
      recordFailure(`${file} > ${test.fullName}`, errors?.[0]?.message ?? 'did not end');
  }
  for (const { message } of module.errors()) recordFailure(file, message);
  recordTestCounts(counts.passed, counts.failed + counts.pending + module.errors().length, counts.skipped);
}
