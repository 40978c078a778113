import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../server/test/harness/until.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Longer than a late timer may be. */
const STALL_MS = 1000;
let folder: string;

beforeEach(() => {
  // Inside the clone, where vitest is found.
  folder = mkdtempSync(join(ROOT, 'node_modules', '.caudal-ci-'));
  const counts = join(ROOT, 'scripts', 'test-counts.ts');
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { TestCounts } from '${counts}';
    export default { root: '${folder}', test: { reporters: ['default', new TestCounts()] } };`,
  );
  writeFileSync(
    join(folder, 'first.test.ts'),
    `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
    import { expect, it } from 'vitest';
    it('passes when it runs the second time', async () => {
      appendFileSync('${folder}/runs', 'x');
      while (!existsSync('${folder}/go')) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(readFileSync('${folder}/runs', 'utf8')).toBe('xx');
    }, 20_000);
    it('passes', () => undefined);`,
  );
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function runTests(whileRunning: (run: ChildProcess) => Promise<void>) {
  const run = spawn(
    process.execPath,
    ['scripts/ci/run-tests.ts', '--root', folder, '--config', join(folder, 'vitest.config.ts')],
    { cwd: ROOT, env: { ...process.env, TEST_COUNTS: join(folder, 'counts'), TEST_RESULTS: '' } },
  );
  const closed = once(run, 'close') as Promise<[number]>;
  run.stdout.resume();
  run.stderr.resume();
  await until('the test file runs', async () => existsSync(join(folder, 'runs')), 20_000);
  await whileRunning(run);
  writeFileSync(join(folder, 'go'), '');
  const [exitCode] = await closed;
  return {
    exitCode,
    runs: readFileSync(join(folder, 'runs'), 'utf8').length,
    counts: readFileSync(join(folder, 'counts'), 'utf8'),
  };
}

/** Stops the process that measures stalls for a while: to it, the machine stands still. */
async function stall(run: ChildProcess): Promise<void> {
  const children = readFileSync(`/proc/${run.pid}/task/${run.pid}/children`, 'utf8').trim().split(' ');
  const pid = Number(
    children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('measure-stalls')),
  );
  process.kill(pid, 'SIGSTOP');
  await sleep(STALL_MS);
  process.kill(pid, 'SIGCONT');
}

it('runs a file again that failed while the machine stalled, and counts it once', async () => {
  expect(await runTests(stall)).toEqual({ exitCode: 0, runs: 2, counts: '2 0 0\n' });
}, 60_000);

it('fails when a file failed and the machine did not stall', async () => {
  const { exitCode, runs, counts } = await runTests(() => Promise.resolve());
  // A machine that really stalled here would have repeated it.
  if (runs === 2) return;
  expect(exitCode).toBe(1);
  expect(counts).toBe('1 1 0\n');
}, 60_000);
