import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { type MadePayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

// What a dead worker held is free twenty seconds of real time later.
vi.setConfig({ testTimeout: 120_000 });

let stack: Stack;
let driver: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(() => stack?.stop());

/** Where it dies, whether the order has left by then, and whether its notice is lost on top of it. */
const DEATHS = [
  ['commit attempts: before commit', 'never committed', 'notice'],
  ['commit attempts: after commit', 'unsent', 'notice'],
  ['BRE_B pay: before call', 'unsent', 'notice'],
  ['BRE_B pay: after call', 'sent', 'notice'],
  ['BRE_B pay: after call', 'sent', 'no notice'],
  ['record attempts: before commit', 'sent', 'notice'],
  ['record attempts: before commit', 'sent', 'no notice'],
  ['record attempts: after commit', 'recorded', 'no notice'],
] as const;

async function dieAt(failpoint: string): Promise<void> {
  const worker = await startServer('worker', { ...stack.settings, CAUDAL_FAILPOINT: failpoint });
  expect(await worker.exited, `it was killed: ${worker.output()}`).toBeNull();
}

/**
 * With two workers, while business time goes on as it must for an order that may still be under way.
 * One that never left is sent by these, and time must not pass between it and its notice.
 */
async function recover(made: readonly MadePayout[], underWay = true): Promise<void> {
  const workers = await Promise.all([
    startServer('worker', stack.settings),
    startServer('worker', stack.settings),
  ]);
  try {
    if (underWay) await stack.shiftTime(41_000);
    await driver.allReach(made, 'CONFIRMED', 60_000);
    await driver.quiet();
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}

describe('a worker killed on the way of an order', () => {
  const killed: MadePayout[] = [];

  it('dies where it should, leaving behind what it had committed and sent', async () => {
    for (const [failpoint, left, notice] of DEATHS) {
      if (notice === 'no notice')
        await driver.simulator.addFault({
          rail: 'BRE_B',
          operation: 'notice',
          fault: 'lost-notice',
          times: 1,
        });
      const made = await driver.create();
      killed.push(made);
      await dieAt(failpoint);
      const story = await driver.attempts(made.id);
      expect(story.length, `at ${failpoint}`).toBe(left === 'never committed' ? 0 : 1);
      expect((await driver.simulator.order(made.endToEndId)) !== null, `at ${failpoint}`).toBe(
        left === 'sent' || left === 'recorded',
      );
      if (left === 'sent' || left === 'recorded')
        await until('it is settled', async () => (await driver.executions(made)) === 1);
      // The next worker to die must find no other order to send.
      if (left === 'never committed') await recover([made], false);
    }
  });

  it('and each is CONFIRMED by those that come after, executed once, under the id it was created with', async () => {
    expect(killed).toHaveLength(DEATHS.length);
    await recover(killed);
    for (const [index, [failpoint, left, notice]] of DEATHS.entries()) {
      const { id, endToEndId } = killed[index] ?? { id: '', endToEndId: '' };
      expect(await driver.executions({ endToEndId }), `at ${failpoint}`).toBe(1);
      expect(await driver.simulator.order(endToEndId), `at ${failpoint}`).toMatchObject({ internalId: id });
      expect(await driver.events(id), `at ${failpoint}`).toEqual(['payout.confirmed']);
      expect(await driver.moves(id), `at ${failpoint}`).toHaveLength(2);
      const answers = (await driver.attempts(id)).map(({ answer }) => answer);
      const story = {
        'never committed': ['accepted'],
        unsent: [null, 'accepted'],
        sent: [null],
        recorded: ['accepted'],
      };
      expect(answers, `at ${failpoint}`).toEqual(story[left]);
      expect((await driver.causes(id))[1], `at ${failpoint}`).toBe(
        notice === 'notice' ? 'settled_on_notification' : 'settled_on_poll',
      );
    }
    expect(await driver.brokenBooks()).toEqual([]);
    expect((await driver.simulator.stats()).orders).toMatchObject({ received: DEATHS.length, duplicates: 0 });
  });
});

describe('a worker killed on the way of an answer', () => {
  it.each([
    'BRE_B queryOrders: after call',
    'apply payout statuses: before commit',
    'apply payout statuses: after commit',
  ])('at "%s" leaves it to others, and it is confirmed once', async (failpoint) => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    const sender = await startServer('worker', stack.settings);
    const made = await driver.create();
    await until('it is settled', async () => (await driver.executions(made)) === 1);
    await sender.stop();
    await stack.shiftTime(31_000);
    await dieAt(failpoint);
    // Its claim would end after twenty seconds; that it does is proved above.
    await driver.query(
      'update caudal.payouts set leased_until = clock_timestamp() where lease_token is not null',
    );
    await recover([made]);
    expect(await driver.executions(made)).toBe(1);
    expect(await driver.events(made.id)).toEqual(['payout.confirmed']);
    expect(await driver.moves(made.id)).toHaveLength(2);
    expect(await driver.attempts(made.id)).toHaveLength(1);
  });
});

it('the books are whole', async () => {
  expect(await driver.brokenBooks()).toEqual([]);
});
