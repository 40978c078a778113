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

/** No outcome of this payin can be written: an event stands in its way. */
const spoil = (id: string) =>
  driver.query(
    `insert into caudal.final_events (organization_id, resource_id, event_id, event)
     select organization_id, id, id, 'payin.declined' from caudal.payins where id = $1`,
    [id],
  );
const mend = (id: string) => driver.query('delete from caudal.final_events where resource_id = $1', [id]);

type Rail = Pick<PayinDriver, 'simulator'>;
const loseNotices = ({ simulator }: Rail, times: number) =>
  simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times });

describe('a payin whose outcome cannot be written is put off, its neighbours of the same batch end, and so does it once mended', () => {
  it.each<[string, (keys: string[]) => Promise<void>, string]>([
    [
      'told by notices',
      async (keys) => void (await driver.simulator.pay(...keys.map((key) => ({ key })))),
      "select from caudal.rail_notices where task = 'apply' and attempts > 0 and due_at > received_at",
    ],
    [
      'told by notices that are asked about',
      async (keys) => void (await driver.simulator.pay(...keys.map((key) => ({ key, amount: '60000.00' })))),
      "select from caudal.rail_notices where task = 'ask' and due_at > caudal.now() + interval '5 minutes'",
    ],
    [
      'answered when asked',
      async (keys) => {
        await loseNotices(driver, keys.length);
        await driver.simulator.pay(...keys.map((key) => ({ key })));
        await stack.shiftTime(31_000);
      },
      "select from caudal.payins where status = 'PROCESSING' and rail_task = 'ask' and rail_due_at > caudal.now() + interval '5 minutes' and rail_attempts > 0",
    ],
    [
      'closed when expired',
      async () => stack.shiftTime(61 * 60_000),
      "select from caudal.payins where status = 'PROCESSING' and rail_task = 'close' and rail_due_at > caudal.now() + interval '5 minutes'",
    ],
  ])('%s', async (what, happens, putOff) => {
    const made = await Promise.all(Array.from({ length: 6 }, () => driver.breb()));
    const [bad, ...others] = made.map(({ payin }) => payin.id);
    if (bad === undefined) throw new Error('no payin');
    await spoil(bad);
    await happens(made.map(({ key }) => key));
    const end = what === 'closed when expired' ? 'CANCELED' : 'CONFIRMED';
    for (const id of others) await driver.reaches(id, end);
    await until('it is put off', async () => (await driver.query(putOff)).length === 1);
    expect((await driver.get(bad)).status).toBe('PROCESSING');
    await mend(bad);
    await stack.shiftTime(11 * 60_000);
    await driver.reaches(bad, end);
    await driver.quiet();
  });
});
