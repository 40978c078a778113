import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { type CreatedPayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

// The lease of a dead worker expires after twenty seconds of real time.

let stack: Stack;
let driver: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(() => stack?.stop());

/** Failpoint, whether the order was sent by then, and whether its notification is lost too. */
const CRASHES = [
  ['commit attempts: before commit', 'never committed', 'notice'],
  ['commit attempts: after commit', 'unsent', 'notice'],
  ['BRE_B pay: before call', 'unsent', 'notice'],
  ['BRE_B pay: after call', 'sent', 'notice'],
  ['BRE_B pay: after call', 'sent', 'no notice'],
  ['record attempts: before commit', 'sent', 'notice'],
  ['record attempts: before commit', 'sent', 'no notice'],
  ['record attempts: after commit', 'recorded', 'no notice'],
] as const;

async function crashWorkerAt(failpoint: string): Promise<void> {
  const worker = await startServer('worker', { ...stack.settings, CAUDAL_FAILPOINT: failpoint });
  expect(await worker.exited, `expected the worker to be killed: ${worker.output()}`).toBeNull();
}

/**
 * Starts two workers and advances business time past the window of an order in flight. An order that was
 * never sent is sent by these workers, so no time may pass between it and its notification.
 */
async function recover(created: readonly CreatedPayout[], inFlight = true): Promise<void> {
  const workers = await Promise.all([
    startServer('worker', stack.settings),
    startServer('worker', stack.settings),
  ]);
  try {
    if (inFlight) await stack.shiftTime(41_000);
    await driver.waitForAll(created, 'CONFIRMED');
    await driver.waitUntilIdle();
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

describe('a worker killed while sending an order', () => {
  const killed: CreatedPayout[] = [];

  it('leaves what it had committed and sent', async () => {
    for (const [failpoint, left, notice] of CRASHES) {
      if (notice === 'no notice')
        await driver.simulator.addFault({
          rail: 'BRE_B',
          operation: 'notice',
          fault: 'lost-notice',
          times: 1,
        });
      const created = await driver.create();
      killed.push(created);
      await crashWorkerAt(failpoint);
      const attempts = await driver.attempts(created.id);
      expect(attempts.length, `at ${failpoint}`).toBe(left === 'never committed' ? 0 : 1);
      expect((await driver.simulator.order(created.endToEndId)) !== null, `at ${failpoint}`).toBe(
        left === 'sent' || left === 'recorded',
      );
      if (left === 'sent' || left === 'recorded')
        await until('it is settled', async () => (await driver.executions(created)) === 1);
      // The next worker that is killed must find no other order to send.
      if (left === 'never committed') await recover([created], false);
    }
  });

  it('has each payout CONFIRMED by later workers, executed once under its original ID', async () => {
    expect(killed).toHaveLength(CRASHES.length);
    await recover(killed);
    for (const [index, [failpoint, left, notice]] of CRASHES.entries()) {
      const { id, endToEndId } = killed[index] ?? { id: '', endToEndId: '' };
      expect(await driver.executions({ endToEndId }), `at ${failpoint}`).toBe(1);
      expect(await driver.simulator.order(endToEndId), `at ${failpoint}`).toMatchObject({ internalId: id });
      expect(await driver.events(id), `at ${failpoint}`).toEqual(['payout.confirmed']);
      expect(await driver.transfers(id), `at ${failpoint}`).toHaveLength(2);
      const answers = (await driver.attempts(id)).map(({ answer }) => answer);
      const attempts = {
        'never committed': ['accepted'],
        unsent: [null, 'accepted'],
        sent: [null],
        recorded: ['accepted'],
      };
      expect(answers, `at ${failpoint}`).toEqual(attempts[left]);
      expect((await driver.causes(id))[1], `at ${failpoint}`).toBe(
        notice === 'notice' ? 'settled_on_notification' : 'settled_on_poll',
      );
    }
    expect(await driver.ledgerInconsistencies()).toEqual([]);
    expect((await driver.simulator.stats()).orders).toMatchObject({
      received: CRASHES.length,
      duplicates: 0,
    });
  });
});

describe('a worker killed while applying a status', () => {
  it.each([
    'BRE_B queryOrders: after call',
    'apply payout statuses: before commit',
    'apply payout statuses: after commit',
  ])('at "%s" leaves the payout to others, which confirm it once', async (failpoint) => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    const sender = await startServer('worker', stack.settings);
    const created = await driver.create();
    await until('it is settled', async () => (await driver.executions(created)) === 1);
    await sender.stop();
    await stack.shiftTime(31_000);
    await crashWorkerAt(failpoint);
    // Its lease expires after twenty seconds, which the tests above cover.
    await driver.query(
      'update caudal.payouts set leased_until = clock_timestamp() where lease_token is not null',
    );
    await recover([created]);
    expect(await driver.executions(created)).toBe(1);
    expect(await driver.events(created.id)).toEqual(['payout.confirmed']);
    expect(await driver.transfers(created.id)).toHaveLength(2);
    expect(await driver.attempts(created.id)).toHaveLength(1);
  });
});

it('the ledger is consistent', async () => {
  expect(await driver.ledgerInconsistencies()).toEqual([]);
});
