import { appendFileSync, writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

/**
 * Appends the counts of a run to the file named by TEST_COUNTS, one "passed failed skipped" line per run, so that
 * .ci/run can print the total of several suites.
 */
export function recordTestCounts(passed: number, failed: number, skipped = 0): void {
  const file = process.env['TEST_COUNTS'];
  if (file) appendFileSync(file, `${passed} ${failed} ${skipped}\n`);
}

/** Appends a failed check to the file named by TEST_FAILURES, which .ci/run prints at its end. */
export function recordFailure(name: string, reason = ''): void {
  const file = process.env['TEST_FAILURES'];
  const [firstLine = ''] = reason.split('\n');
  if (file) appendFileSync(file, firstLine === '' ? `${name}\n` : `${name}\n    ${firstLine}\n`);
}

/** Names the file for the results of a vitest run by test file, instead of TEST_COUNTS. */
export const RESULTS_VARIABLE = 'TEST_RESULTS';

export interface ModuleResult {
  readonly file: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Records the counts of a vitest run. */
export class TestCounts implements Reporter {
  readonly #startedAt = new Map<string, number>();
  readonly #endedAt = new Map<string, number>();

  onTestModuleQueued({ moduleId }: TestModule): void {
    this.#startedAt.set(moduleId, Date.now());
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#endedAt.set(moduleId, Date.now());
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const results = modules.map((module) => this.#count(module));
    const file = process.env[RESULTS_VARIABLE];
    if (file) writeFileSync(file, JSON.stringify(results));
    else for (const { passed, failed, skipped } of results) recordTestCounts(passed, failed, skipped);
  }

  #count(module: TestModule): ModuleResult {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const test of module.children.allTests()) counts[test.result().state] += 1;
    const { moduleId } = module;
    return {
      file: moduleId,
      startedAt: this.#startedAt.get(moduleId) ?? 0,
      endedAt: this.#endedAt.get(moduleId) ?? Date.now(),
      passed: counts.passed,
      failed: counts.failed + counts.pending + module.errors().length,
      skipped: counts.skipped,
    };
  }
}
