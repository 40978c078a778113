import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type MadePayout, PayoutDriver } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

vi.setConfig({ testTimeout: 90_000 });

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
  await driver.booksAreWhole();
});

/** No outcome of this payout can be written: an event stands in its way. */
const spoil = ({ id }: MadePayout) =>
  driver.query(
    `insert into caudal.final_events (organization_id, resource_id, event_id, event)
     select organization_id, id, id, 'payout.declined' from caudal.payouts where id = $1`,
    [id],
  );
const mend = ({ id }: MadePayout) =>
  driver.query('delete from caudal.final_events where resource_id = $1', [id]);

/** Six that are at the rail, the first of which is bad. */
async function atTheRail(): Promise<[MadePayout, ...MadePayout[]]> {
  const made = await driver.createMany(6, { key: '@TESTTIMEOUT' });
  for (const { id } of made) await until('it is sent', async () => (await driver.attempts(id))[0]?.answer);
  return startingWithTheBad(made);
}

async function startingWithTheBad(made: readonly MadePayout[]): Promise<[MadePayout, ...MadePayout[]]> {
  const [bad, ...others] = made;
  if (!bad) throw new Error('no payout');
  await spoil(bad);
  return [bad, ...others];
}

/** Made while nothing may leave, so that one batch takes them all. */
async function underPause<T>(work: () => Promise<T>): Promise<T> {
  const known = (count: number) =>
    until('the workers know', async () => {
      const pauses = await Promise.all(stack.workers.map((each) => readMetric(each, 'caudal_rail_pauses')));
      return pauses.every((each) => each === count);
    });
  await driver.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'prueba', '--by', 'Laura');
  await known(1);
  const done = await work();
  await driver.command('rails', 'resume', '--rail', 'BRE_B');
  return done;
}

/** Told in one post, so that one batch takes what is said of all of them. */
async function end(made: readonly MadePayout[], outcome: 'SETTLED' | 'REJECTED'): Promise<void> {
  const held = await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'down' });
  await Promise.all(made.map(({ endToEndId }) => driver.simulator.endOrder({ endToEndId, outcome })));
  await driver.simulator.removeFault(held);
}

describe('a payout whose outcome cannot be written is put off, its neighbours of the same batch end, and so does it once mended', () => {
  it.each<[string, (made: MadePayout[]) => Promise<unknown>, string, string]>([
    [
      'told by notices',
      (made) => end(made, 'SETTLED'),
      'CONFIRMED',
      "select from caudal.rail_notices where task = 'apply' and attempts > 0 and due_at > received_at",
    ],
    [
      'told by notices that are asked about',
      (made) => end(made, 'REJECTED'),
      'DECLINED',
      "select from caudal.rail_notices where task = 'ask' and due_at > caudal.now() + interval '5 minutes'",
    ],
    [
      'answered when asked',
      async (made) => {
        await driver.simulator.addFault({
          rail: 'BRE_B',
          operation: 'notice',
          fault: 'lost-notice',
          times: made.length,
        });
        await end(made, 'SETTLED');
        await stack.shiftTime(31_000);
      },
      'CONFIRMED',
      "select from caudal.payouts where status = 'PROCESSING' and rail_task = 'ask' and rail_due_at > caudal.now() + interval '5 minutes'",
    ],
  ])('%s', async (_what, happens, status, putOff) => {
    const [bad, ...others] = await atTheRail();
    await happens([bad, ...others]);
    await driver.allReach(others, status);
    await until('it is put off', async () => (await driver.query(putOff)).length === 1);
    expect((await driver.get(bad.id)).status).toBe('PROCESSING');
    await mend(bad);
    await stack.shiftTime(11 * 60_000);
    await driver.reaches(bad.id, status);
    await driver.quiet();
  });

  it('refused when sent', async () => {
    const [bad, ...others] = await underPause(async () =>
      startingWithTheBad(await driver.createMany(6, { amountInCents: OVER_THE_LIMIT })),
    );
    await driver.allReach(others, 'DECLINED');
    for (const { id } of others) expect(await driver.attempts(id)).toHaveLength(1);
    expect((await driver.get(bad.id)).status).toBe('PROCESSING');
    await mend(bad);
    // What it was told is not known any more: it is asked about, sent again, refused again and asked about.
    await until(
      'it has ended',
      async () => {
        await stack.shiftTime(10_000);
        return (await driver.get(bad.id)).status === 'DECLINED';
      },
      60_000,
    );
    expect(await driver.get(bad.id)).toMatchObject({ errorCode: 'NETWORK_LIMIT_EXCEEDED' });
    expect(await driver.executions(bad)).toBe(0);
  });

  it('sent, one of them to a receiver that cannot be read: it is put off and the others leave', async () => {
    const [unreadable, ...neighbours] = await underPause(async () => {
      const made = await driver.createMany(6);
      await driver.query("update caudal.payouts set receiver = '\\x00' where id = $1", [made[0]?.id]);
      return made;
    });
    await driver.allReach(neighbours, 'CONFIRMED');
    await until(
      'it is put off',
      async () => (await driver.attempts(unreadable?.id ?? ''))[0]?.answer === 'unknown',
    );
    expect(await driver.simulator.order(unreadable?.endToEndId ?? '')).toBeNull();
  });

  it('declined because its receiver has changed while it waited', async () => {
    const [bad, ...others] = await underPause(async () => {
      await driver.simulator.list({ key: '@BADROW' });
      const lookupId = await driver.lookUp('@BADROW');
      const made = await startingWithTheBad(await driver.createMany(6, { key: '@BADROW', lookupId }));
      await driver.simulator.list({ key: '@BADROW', holder: null });
      await stack.shiftTime(20 * 60_000);
      return made;
    });
    await driver.allReach(others, 'DECLINED', 45_000);
    expect((await driver.get(bad.id)).status).toBe('PROCESSING');
    await mend(bad);
    await stack.shiftTime(11 * 60_000);
    await driver.reaches(bad.id, 'DECLINED', 45_000);
  });
});
