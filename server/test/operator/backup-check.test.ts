import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

vi.setConfig({ testTimeout: 60_000 });

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ apis: 0, workers: 1 });
});
afterAll(() => stack?.stop());

async function check(...args: readonly string[]) {
  const { code, stdout } = await runOperatorCommand(stack.settings, 'backup', 'check', '--json', ...args);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; status: string }[] };
  return { code, statuses: Object.fromEntries(checks.map(({ name, status }) => [name, status])) };
}

const metric = (name: string) => {
  const [worker] = stack.workers;
  if (!worker) throw new Error('no worker');
  return readMetric(worker, name);
};

it('fails without archiving and without a backup, and records that it ran', async () => {
  expect(await metric('caudal_backup_last_check_timestamp_seconds')).toBe(0);
  expect(await check('--stanza', 'absent')).toEqual({
    code: 1,
    statuses: { archiving: 'fail', 'last backup': 'fail', 'backup role': 'ok', secrets: 'warn' },
  });
  // A worker reads the database for metrics at most every two seconds.
  await until(
    'the metric has the time of the check',
    async () => (await metric('caudal_backup_last_check_timestamp_seconds')) > 1_700_000_000,
  );
  await expect(metric('caudal_backup_age_seconds')).rejects.toThrow('no metric');
});

it('takes the time of another program, and fails when it is too old', async () => {
  const anHourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const statuses = { archiving: 'warn', 'last backup': 'ok', 'backup role': 'ok', secrets: 'warn' };
  expect(await check('--backup-at', anHourAgo)).toEqual({ code: 0, statuses });
  const age = await until('the metric has the age', () => metric('caudal_backup_age_seconds'));
  expect(Math.round(age / 60)).toBe(60);
  const old = await check('--backup-at', anHourAgo.replace(/^\d{4}/, '2020'));
  expect(old).toEqual({ code: 1, statuses: { ...statuses, 'last backup': 'fail' } });
});

it('fails when the role for dumps cannot read a table', async () => {
  await stack.database.query('revoke select on caudal.payins from caudal_backup');
  const { code, statuses } = await check('--backup-at', new Date().toISOString());
  expect({ code, role: statuses['backup role'] }).toEqual({ code: 1, role: 'fail' });
});
