/**
 * node scripts/ci/run-tests.ts [VITEST OPTION…]: runs vitest as CI does. CI runs on shared machines, which stall for
 * seconds, and the tests have deadlines. A file that failed while the machine stalled is inconclusive: it runs once more,
 * alone, and must pass. A file that failed without a stall has failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ModuleResult, RESULTS_VARIABLE, recordTestCounts } from '../test-counts.ts';
import { describeStalls, stallsBetween, watchStalls } from './machine-stalls.ts';

interface Run {
  readonly exitCode: number;
  readonly modules: readonly ModuleResult[];
}

async function runVitest(options: readonly string[], resultsFile: string): Promise<Run> {
  const child = spawn('npx', ['vitest', 'run', ...options], {
    stdio: 'inherit',
    env: { ...process.env, [RESULTS_VARIABLE]: resultsFile },
  });
  const [exitCode] = (await once(child, 'close')) as [number | null];
  return { exitCode: exitCode ?? 1, modules: readResults(resultsFile) };
}

function readResults(file: string): ModuleResult[] {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ModuleResult[];
  } catch {
    // vitest ended before its reporter wrote the results.
    return [];
  }
}

async function main(options: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-results-'));
  const watch = watchStalls();
  try {
    const first = await runVitest(options, join(folder, 'first.json'));
    await watch.stop();
    const failed = first.modules.filter((module) => module.failed > 0);
    const inconclusive = failed.filter(
      ({ startedAt, endedAt }) => stallsBetween(watch.stalls, startedAt, endedAt).length > 0,
    );
    if (watch.stalls.length > 0) console.log(`The machine stalled:\n  ${describeStalls(watch.stalls)}`);
    if (first.exitCode === 0 || failed.length === 0 || inconclusive.length < failed.length) {
      report(first.modules, first.exitCode);
      return first.exitCode;
    }
    console.log(`All files that failed ran while the machine stalled. Again, one at a time:`);
    const files = inconclusive.map(({ file }) => file);
    const second = await runVitest([...options, '--maxWorkers=1', ...files], join(folder, 'second.json'));
    report(
      [...first.modules.filter((module) => !inconclusive.includes(module)), ...second.modules],
      second.exitCode,
    );
    return second.exitCode;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(modules: readonly ModuleResult[], exitCode: number): void {
  const sum = (count: 'passed' | 'failed' | 'skipped') =>
    modules.reduce((total, module) => total + module[count], 0);
  // An error outside of a test, or no result at all, is a failure too.
  const failed = sum('failed');
  recordTestCounts(sum('passed'), exitCode !== 0 && failed === 0 ? 1 : failed, sum('skipped'));
}

process.exitCode = await main(process.argv.slice(2));
