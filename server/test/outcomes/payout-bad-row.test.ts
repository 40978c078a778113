import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type CreatedPayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { whilePaused } from './payout-steps.ts';

const OVER_THE_LIMIT = 1_155_200_100;

let stack: Stack;
let driver: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayoutDriver(stack);
  await driver.fund(100_000_000);
});
afterAll(() => stack?.stop());
afterEach(async () => {
  await driver.simulator.clearFaults();
  await driver.checkLedger();
});

/** Blocks every outcome of this payout: its final event already exists, so the insert fails. */
const blockOutcome = ({ id }: CreatedPayout) =>
  driver.query(
    `insert into caudal.final_events (organization_id, resource_id, event_id, event)
     select organization_id, id, id, 'payout.declined' from caudal.payouts where id = $1`,
    [id],
  );
const unblockOutcome = ({ id }: CreatedPayout) =>
  driver.query('delete from caudal.final_events where resource_id = $1', [id]);

/** Six payouts at the rail; the first one is blocked. */
async function createAtRail(): Promise<[CreatedPayout, ...CreatedPayout[]]> {
  const created = await driver.createMany(6, { key: '@TESTTIMEOUT' });
  for (const { id } of created) await until('it is sent', async () => (await driver.attempts(id))[0]?.answer);
  return blockFirst(created);
}

async function blockFirst(created: readonly CreatedPayout[]): Promise<[CreatedPayout, ...CreatedPayout[]]> {
  const [blocked, ...others] = created;
  if (!blocked) throw new Error('no payout');
  await blockOutcome(blocked);
  return [blocked, ...others];
}

/** Runs `work` while the rail is paused, so that one batch sends all its payouts afterwards. */
const inOneBatch = <T>(work: () => Promise<T>) => whilePaused(stack, driver, work);

/** Delivers all notifications in one request, so that one batch applies them. */
async function decideOrders(
  created: readonly CreatedPayout[],
  outcome: 'SETTLED' | 'REJECTED',
): Promise<void> {
  const fault = await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'down' });
  await Promise.all(created.map(({ endToEndId }) => driver.simulator.endOrder({ endToEndId, outcome })));
  await driver.simulator.removeFault(fault);
}

describe('a payout whose outcome cannot be written is postponed; the others of the batch end, and it ends once repaired', () => {
  it.each<[string, (created: CreatedPayout[]) => Promise<unknown>, string, string]>([
    [
      'applied from notifications',
      (created) => decideOrders(created, 'SETTLED'),
      'CONFIRMED',
      "select from caudal.rail_notices where task = 'apply' and attempts > 0 and due_at > received_at",
    ],
    [
      'applied from notifications that need verification',
      (created) => decideOrders(created, 'REJECTED'),
      'DECLINED',
      "select from caudal.rail_notices where task = 'verify' and due_at > caudal.now() + interval '5 minutes'",
    ],
    [
      'applied from a status poll',
      async (created) => {
        await driver.simulator.addFault({
          rail: 'BRE_B',
          operation: 'notice',
          fault: 'lost-notice',
          times: created.length,
        });
        await decideOrders(created, 'SETTLED');
        await stack.shiftTime(31_000);
      },
      'CONFIRMED',
      "select from caudal.payouts where status = 'PROCESSING' and rail_task = 'poll' and rail_due_at > caudal.now() + interval '5 minutes'",
    ],
  ])('%s', async (_what, trigger, status, postponedQuery) => {
    const [blocked, ...others] = await createAtRail();
    await trigger([blocked, ...others]);
    await driver.waitForAll(others, status);
    await until('it is postponed', async () => (await driver.query(postponedQuery)).length === 1);
    expect((await driver.get(blocked.id)).status).toBe('PROCESSING');
    await unblockOutcome(blocked);
    await stack.shiftTime(11 * 60_000);
    await driver.waitForStatus(blocked.id, status);
    await driver.waitUntilIdle();
  });

  it('rejected on sending', async () => {
    const [blocked, ...others] = await inOneBatch(async () =>
      blockFirst(await driver.createMany(6, { amountInCents: OVER_THE_LIMIT })),
    );
    await driver.waitForAll(others, 'DECLINED');
    for (const { id } of others) expect(await driver.attempts(id)).toHaveLength(1);
    expect((await driver.get(blocked.id)).status).toBe('PROCESSING');
    await unblockOutcome(blocked);
    // The first answer was not recorded: the payout is polled, sent again, rejected again and polled.
    await until('it has ended', async () => {
      await stack.shiftTime(10_000);
      return (await driver.get(blocked.id)).status === 'DECLINED';
    });
    expect(await driver.get(blocked.id)).toMatchObject({ errorCode: 'NETWORK_LIMIT_EXCEEDED' });
    expect(await driver.executions(blocked)).toBe(0);
  });

  it('postpones a payout whose receiver cannot be decrypted, and sends the others', async () => {
    const [unreadable, ...others] = await inOneBatch(async () => {
      const created = await driver.createMany(6);
      await driver.query("update caudal.payouts set receiver = '\\x00' where id = $1", [created[0]?.id]);
      return created;
    });
    await driver.waitForAll(others, 'CONFIRMED');
    await until(
      'it is postponed',
      async () => (await driver.attempts(unreadable?.id ?? ''))[0]?.answer === 'not_sent',
    );
    expect(await driver.simulator.order(unreadable?.endToEndId ?? '')).toBeNull();
  });

  it('declined because its receiver changed while it waited', async () => {
    const [blocked, ...others] = await inOneBatch(async () => {
      await driver.simulator.setDirectoryEntry({ key: '@BADROW' });
      const lookupId = await driver.lookUp('@BADROW');
      const created = await blockFirst(await driver.createMany(6, { key: '@BADROW', lookupId }));
      await driver.simulator.setDirectoryEntry({ key: '@BADROW', holder: null });
      await stack.shiftTime(20 * 60_000);
      return created;
    });
    await driver.waitForAll(others, 'DECLINED');
    await until('it is postponed', async () => {
      const postponed = await driver.query(
        "select from caudal.payouts where id = $1 and rail_due_at > caudal.now() + interval '5 minutes'",
        [blocked.id],
      );
      return postponed.length === 1;
    });
    expect((await driver.get(blocked.id)).status).toBe('PROCESSING');
    await unblockOutcome(blocked);
    await stack.shiftTime(11 * 60_000);
    await driver.waitForStatus(blocked.id, 'DECLINED');
  });
});
