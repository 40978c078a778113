import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { atTheDesk } from '../harness/operator-desk.ts';
import { OutcomeDesk } from '../harness/outcome-desk.ts';
import { type Stack, startStack } from '../harness/stack.ts';

vi.setConfig({ testTimeout: 60_000 });

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ workers: 1, settings: { CAUDAL_DUE_EVERY_MS: '20' } });
});
afterAll(() => stack?.stop());

it('months detach goes on after payins end has ended the three payins that blocked it', async () => {
  const desk = new OutcomeDesk(stack);
  const made = [await desk.pse(), await desk.pse(), await desk.pse()];
  const [month] = await desk.query<{ before: string }>(
    "select to_char(caudal.now() at time zone 'UTC' + interval '1 month', 'YYYY-MM') as before",
  );
  // For us and not for the rail, which therefore keeps them pending.
  await desk.query("select caudal.shift_time(interval '250 days')");
  const detach = () => atTheDesk(stack.settings, 'months', 'detach', '--before', month?.before ?? '');
  expect(await detach()).toMatchObject({ code: 1, stderr: expect.stringContaining('3 payins') as string });
  for (const { payin } of made) {
    const ended = await atTheDesk(stack.settings, 'payins', 'end', payin.id, '--reason', 'never paid');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
  }
  expect(await detach()).toMatchObject({ code: 0 });
});
