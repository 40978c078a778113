import { afterAll, beforeAll, expect, it } from 'vitest';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

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
  await until(
    'the metric has the time of the check',
    async () => (await metric('caudal_backup_last_check_timestamp_seconds')) > 1_700_000_000,
  );
  await expect(metric('caudal_backup_age_seconds')).rejects.toThrow('no metric');
});

it('takes the time of another program, and fails when it is too old', async () => {
  const [row] = await stack.database.query<{ at: Date }>(
    "select clock_timestamp() - interval '1 hour' as at",
  );
  const anHourAgo = row?.at.toISOString() ?? '';
  const statuses = { archiving: 'warn', 'last backup': 'ok', 'backup role': 'ok', secrets: 'warn' };
  expect(await check('--backup-at', anHourAgo)).toEqual({ code: 0, statuses });
  const age = await until('the metric has the age', () => metric('caudal_backup_age_seconds'));
  const [now] = await stack.database.query<{ age: number }>(
    'select extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as age',
    [anHourAgo],
  );
  expect(age).toBeGreaterThanOrEqual(3600);
  expect(age).toBeLessThanOrEqual(now?.age ?? 0);
  const old = await check('--backup-at', anHourAgo.replace(/^\d{4}/, '2020'));
  expect(old).toEqual({ code: 1, statuses: { ...statuses, 'last backup': 'fail' } });
});

it('fails when the role for dumps cannot read a table', async () => {
  await stack.database.query('revoke select on caudal.payins from caudal_backup');
  const { code, statuses } = await check('--backup-at', new Date().toISOString());
  expect({ code, role: statuses['backup role'] }).toEqual({ code: 1, role: 'fail' });
});
