import { afterAll, beforeAll, expect, it } from 'vitest';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
});
afterAll(() => stack?.stop());

it('months detach succeeds after payins end has ended the three payins that blocked it', async () => {
  const driver = new PayinDriver(stack);
  const created = [await driver.pse(), await driver.pse(), await driver.pse()];
  const [month] = await driver.query<{ before: string }>(
    "select to_char(caudal.now() at time zone 'UTC' + interval '1 month', 'YYYY-MM') as before",
  );
  // Advances our time only, so that the rail keeps them pending.
  await driver.query("select caudal.shift_time(interval '250 days')");
  const detach = () =>
    runOperatorCommand(stack.settings, 'months', 'detach', '--before', month?.before ?? '');
  expect(await detach()).toMatchObject({ code: 1, stderr: expect.stringContaining('3 payins') as string });
  for (const { payin } of created) {
    const ended = await runOperatorCommand(
      stack.settings,
      'payins',
      'end',
      payin.id,
      '--reason',
      'never paid',
    );
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  }
  await until('the events are dispatched', async () => {
    const waiting = await driver.query('select 1 from caudal.events where undispatched');
    return waiting.length === 0;
  });
  expect(await detach()).toMatchObject({ code: 0 });
});
