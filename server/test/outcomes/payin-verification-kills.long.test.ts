import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: PayinDriver;
let payouts: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 0, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayinDriver(stack);
  payouts = new PayoutDriver(stack);
});
afterAll(() => stack?.stop());

it.each([
  ['BRE_B queryStatus: after call', 'BRE_B'],
  ['apply statuses: before commit', 'PSE'],
] as const)(
  'a worker killed at "%s" leaves the payment unverified, and the next one verifies it',
  async (failpoint, rail) => {
    const { payin } = rail === 'BRE_B' ? await createPaidBreb() : await createPaidPse();
    const worker = await startServer('worker', { ...stack.settings, CAUDAL_FAILPOINT: failpoint });
    expect(await worker.exited, `expected the worker to be killed: ${worker.output()}`).toBeNull();
    expect(await driver.get(payin.id)).toMatchObject({ status: 'CONFIRMED' });
    await payouts.command('schedules', 'run', 'settlement');
    expect(await driver.get(payin.id)).toMatchObject({ settlementStatus: 'PENDING_SETTLEMENT' });

    const next = await startServer('worker', stack.settings);
    try {
      // Once the lease of the killed worker has expired, after twenty seconds of real time.
      await until('it is verified', () => isVerified(payin.id));
      await payouts.command('schedules', 'run', 'settlement');
      expect(await driver.get(payin.id)).toMatchObject({ settlementStatus: 'SETTLED' });
      expect(await driver.anomalies(payin.id)).toEqual([]);
      expect(await driver.transfers(payin.id)).toHaveLength(1);
    } finally {
      await next.stop();
    }
  },
);

async function isVerified(id: string): Promise<boolean> {
  const [row] = await driver.query<{ verified: boolean }>(
    'select payment_verified_at is not null as verified from caudal.payins where id = $1',
    [id],
  );
  return row?.verified ?? false;
}

async function createPaidBreb() {
  const created = await driver.breb();
  await driver.simulator.pay({ key: created.key });
  await waitForNotification();
  return created;
}

async function createPaidPse() {
  const created = await driver.pse();
  await driver.simulator.endTransaction({ reference: created.reference, state: 'OK' });
  await waitForNotification();
  return created;
}

/** Waits until the notification is stored: a worker that starts now applies it first. */
function waitForNotification() {
  return until('the notification arrived', async () => {
    const { notices } = await driver.simulator.stats();
    return notices.queued > 0 && notices.acknowledged === notices.queued;
  });
}
