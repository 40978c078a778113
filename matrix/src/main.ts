/** npm run matrix: installs the packages outside the repository and uses them in every supported combination. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startDevStack } from '../../scripts/stack/dev-stack.ts';
import { recordTestCounts } from '../../scripts/test-counts.ts';
import { Deliveries } from './deliveries.ts';
import { preparePackages } from './packages.ts';
import { type MatrixContext, NotInstalled, type Row, rowText } from './row.ts';
import { COMMAND_LINE_ROWS } from './rows/command-line.ts';
import { COMPILER_ROWS } from './rows/compilers.ts';
import { FRAMEWORK_ROWS } from './rows/frameworks.ts';
import { OPENAPI_ROWS } from './rows/openapi.ts';
import { SCRIPT_ROWS } from './rows/scripts.ts';
import { TEST_RUNNER_ROWS } from './rows/test-runners.ts';
import { WORKER_ROWS } from './rows/workers.ts';
import { Runtimes } from './runtimes.ts';

const ROWS = [
  ...SCRIPT_ROWS,
  ...COMPILER_ROWS,
  ...TEST_RUNNER_ROWS,
  ...WORKER_ROWS,
  ...FRAMEWORK_ROWS,
  ...COMMAND_LINE_ROWS,
  ...OPENAPI_ROWS,
];
/** Rows wait for installations and for the simulated payer most of the time. */
const CONCURRENCY = 3;

interface Result {
  readonly row: Row;
  readonly outcome: 'works' | 'FAILED' | 'not installed here';
  readonly seconds: number;
  readonly reason: string;
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { only: { type: 'string' }, list: { type: 'boolean' } } });
  const pattern = new RegExp(values.only ?? '', 'i');
  const rows = ROWS.filter((row) => pattern.test(rowText(row)));
  if (values.list) {
    for (const row of rows) console.log(rowText(row));
    return 0;
  }
  const results = await runRows(rows);
  print(results);
  return report(results);
}

async function runRows(rows: readonly Row[]): Promise<readonly Result[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'caudal-matrix-'));
  const packages = await preparePackages();
  const stack = await startDevStack();
  try {
    const deliveries = await Deliveries.start(stack.baseUrl, stack.apiKey);
    const context: MatrixContext = {
      ...stack,
      deliveries,
      packages,
      scratch,
      runtimes: new Runtimes(join(scratch, 'runtimes')),
    };
    const waiting = [...rows];
    const results: Result[] = [];
    const runNext = async (): Promise<void> => {
      for (let row = waiting.shift(); row; row = waiting.shift()) {
        const result = await runRow(row, context);
        results.push(result);
        console.log(`${result.outcome} after ${result.seconds.toFixed(1)} s: ${rowText(row)}`);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, runNext));
    deliveries.stop();
    return rows.flatMap((row) => results.find((result) => result.row === row) ?? []);
  } finally {
    await stack.stop();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function runRow(row: Row, context: MatrixContext): Promise<Result> {
  const startedAt = performance.now();
  const result = (outcome: Result['outcome'], reason = ''): Result => ({
    row,
    outcome,
    seconds: (performance.now() - startedAt) / 1000,
    reason,
  });
  try {
    await row.run(context);
    return result('works');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return result(error instanceof NotInstalled ? 'not installed here' : 'FAILED', reason);
  }
}

/** Prints the matrix as a table, then the reason of every row that did not work. */
function print(results: readonly Result[]): void {
  const table = [
    ['Package', 'Runtime', 'Modules', 'Tool', 'Result'],
    ...results.map(({ row, outcome }) => [row.package, row.runtime, row.modules, row.tool, outcome]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...table.map((cells) => cells[column]?.length ?? 0)),
  );
  for (const cells of table)
    console.log(
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  for (const { row, outcome, reason } of results)
    if (outcome !== 'works') console.log(`\n${outcome}: ${rowText(row)}\n${reason}`);
}

/** Prints the totals, and writes them to the file that .ci/run names. @returns the exit code */
function report(results: readonly Result[]): number {
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length;
  const [passed, failed, skipped] = [count('works'), count('FAILED'), count('not installed here')];
  console.log(`${passed} passed, ${failed} failed, ${skipped} not installed here`);
  recordTestCounts(passed, failed, skipped);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();
