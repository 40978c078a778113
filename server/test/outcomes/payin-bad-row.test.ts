import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PayinDriver } from '../harness/payin-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: PayinDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayinDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

/** Blocks every outcome of this payin: its final event already exists, so the insert fails. */
const blockOutcome = (id: string) =>
  driver.query(
    `insert into caudal.final_events (organization_id, resource_id, event_id, event)
     select organization_id, id, id, 'payin.declined' from caudal.payins where id = $1`,
    [id],
  );
const unblockOutcome = (id: string) =>
  driver.query('delete from caudal.final_events where resource_id = $1', [id]);

type Rail = Pick<PayinDriver, 'simulator'>;
const loseNotices = ({ simulator }: Rail, times: number) =>
  simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times });

describe('a payin whose outcome cannot be written is postponed; the others of the batch end, and it ends once repaired', () => {
  it.each<[string, (keys: string[]) => Promise<void>, string]>([
    [
      'applied from notifications',
      async (keys) => void (await driver.simulator.pay(...keys.map((key) => ({ key })))),
      "select from caudal.rail_notices where task = 'apply' and attempts > 0 and due_at > received_at",
    ],
    [
      'applied from notifications that need verification',
      async (keys) => void (await driver.simulator.pay(...keys.map((key) => ({ key, amount: '60000.00' })))),
      "select from caudal.rail_notices where task = 'verify' and due_at > caudal.now() + interval '5 minutes'",
    ],
    [
      'applied from a status poll',
      async (keys) => {
        await loseNotices(driver, keys.length);
        await driver.simulator.pay(...keys.map((key) => ({ key })));
        await stack.shiftTime(31_000);
      },
      "select from caudal.payins where status = 'PROCESSING' and rail_task = 'poll' and rail_due_at > caudal.now() + interval '5 minutes' and rail_attempts > 0",
    ],
    [
      'closed on expiry',
      async () => stack.shiftTime(61 * 60_000),
      "select from caudal.payins where status = 'PROCESSING' and rail_task = 'close' and rail_due_at > caudal.now() + interval '5 minutes'",
    ],
  ])('%s', async (what, trigger, postponedQuery) => {
    const created = await Promise.all(Array.from({ length: 6 }, () => driver.breb()));
    const [blocked, ...others] = created.map(({ payin }) => payin.id);
    if (blocked === undefined) throw new Error('no payin');
    await blockOutcome(blocked);
    await trigger(created.map(({ key }) => key));
    const expectedStatus = what === 'closed on expiry' ? 'CANCELED' : 'CONFIRMED';
    for (const id of others) await driver.waitForStatus(id, expectedStatus);
    await until('it is postponed', async () => (await driver.query(postponedQuery)).length === 1);
    expect((await driver.get(blocked)).status).toBe('PROCESSING');
    await unblockOutcome(blocked);
    await stack.shiftTime(11 * 60_000);
    await driver.waitForStatus(blocked, expectedStatus);
    await driver.waitUntilIdle();
  });
});
