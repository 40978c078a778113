import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type FaultyPeer, startFaultyPeer } from '../harness/faulty-peer.ts';
import { type CreatedPayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { forward, waitForAnswers } from './payout-steps.ts';

const AUTHOR_AND_NOTE = ['--by', 'Laura', '--note', 'el nodo no la recibió, caso 4711'];
/** An order leaves within 20 s of its attempt and is processed within the default 120 s. */
const PAST_WINDOW_MS = 141_000;

let stack: Stack;
let driver: PayoutDriver;
let proxy: FaultyPeer;
/** Orders reach the node once this resolves. */
let arrival: Promise<void> | null = null;
beforeAll(async () => {
  proxy = await startFaultyPeer(async (call) => {
    if (call.path === '/breb/v1/orders') await arrival;
    return forward(stack.simulatorUrl, call);
  });
  // An empty setting counts as unset: the defaults when the provider documents neither property.
  const unset = { BREB_REJECTS_DUPLICATE_ORDERS: '', BREB_MAX_PROCESSING_MS: '' };
  const settings = { CAUDAL_WORKER_POLL_MS: '20', BREB_URL: `${proxy.url}/breb`, ...unset };
  stack = await startStack({ apis: 1, workers: 2, settings });
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(async () => {
  await stack?.stop();
  await proxy?.stop();
});
afterEach(async () => {
  arrival = null;
  await driver.simulator.clearFaults();
  await driver.checkLedger();
});

const breakCalls = (operation: 'order' | 'order-query', times?: number) =>
  driver.simulator.addFault({
    rail: 'BRE_B',
    operation,
    fault: 'down',
    ...(times === undefined ? {} : { times }),
  });
const resend = (id: string) => driver.command('payouts', 'resolve', id, '--resend', ...AUTHOR_AND_NOTE);

const waitForAnswer = (created: CreatedPayout, number: number) =>
  until(
    `attempt ${number} has its answer`,
    async () => (await driver.attempts(created.id))[number - 1]?.answer,
  );

/** Advances time and waits until the rail was polled about the payout afterwards. */
async function passTime(created: CreatedPayout, ms: number): Promise<void> {
  const countPolls = async () => {
    const [row] = await driver.query<{ polls: number }>('select polls from caudal.payouts where id = $1', [
      created.id,
    ]);
    return row?.polls ?? 0;
  };
  const before = await countPolls();
  await stack.shiftTime(ms);
  await until('the rail was polled again', async () => (await countPolls()) > before);
}

async function readReason({ id }: CreatedPayout): Promise<string | undefined> {
  const listed = JSON.parse(await driver.command('payouts', 'unknown', '--json')) as {
    id: string;
    reason: string;
  }[];
  return listed.find((each) => each.id === id)?.reason;
}

describe('a rail that is not documented to reject duplicate orders', () => {
  it('gets one attempt of an order that arrives 75 s late, and the payout is confirmed once', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    arrival = promise;
    const created = await driver.create();
    expect(await waitForAnswer(created, 1)).toBe('unknown');
    await passTime(created, 75_000);
    expect(await driver.attempts(created.id)).toHaveLength(1);
    resolve();
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await driver.attempts(created.id)).toHaveLength(1);
    expect(await driver.executions(created)).toBe(1);
    expect((await driver.simulator.stats()).orders.duplicates).toBe(0);
  });

  it('gets a lost order again only when an operator resends it; then it is executed once under the same ID', async () => {
    await breakCalls('order', 1);
    const created = await driver.create();
    expect(await waitForAnswer(created, 1)).toBe('unknown');
    await passTime(created, 61_000);
    expect(await readReason(created)).toBe('rail_not_found');
    await expect(resend(created.id)).rejects.toThrow(/may still arrive/);
    await passTime(created, PAST_WINDOW_MS - 61_000);
    await passTime(created, 31_000);
    expect(await driver.attempts(created.id)).toHaveLength(1);
    expect(await readReason(created)).toBe('awaiting_operator');
    expect(await driver.command('payouts', 'unknown')).toContain('AWAITING OPERATOR');
    expect((await driver.get(created.id)).status).toBe('PROCESSING');
    expect(await resend(created.id)).toContain('sent again under the same end-to-end id');
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await waitForAnswers(driver, created, 2)).toEqual(['unknown', 'accepted']);
    expect(await driver.executions(created)).toBe(1);
    expect(await driver.simulator.order(created.endToEndId)).toMatchObject({ status: 'SETTLED' });
    const audit = JSON.parse(await driver.command('audit', 'list', '--json')) as { resource: string }[];
    expect(audit.filter(({ resource }) => resource === created.id)).toMatchObject([
      {
        operator: 'Laura',
        action: 'payouts.resolve',
        details: { decision: 'resend' },
        note: AUTHOR_AND_NOTE[3],
      },
    ]);
  });
});

describe('payouts resolve --resend', () => {
  it('is rejected while the rail reports the order as in progress', async () => {
    const created = await driver.create({ key: '@TESTTIMEOUT' });
    await waitForAnswer(created, 1);
    await passTime(created, PAST_WINDOW_MS);
    await expect(resend(created.id)).rejects.toThrow(/in progress/);
    expect(await driver.attempts(created.id)).toHaveLength(1);
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED' });
    await driver.waitForStatus(created.id, 'CONFIRMED');
  });

  it('is rejected while the rail does not answer, and confirms when the rail reports the order as settled', async () => {
    await breakCalls('order', 1);
    const created = await driver.create();
    await waitForAnswer(created, 1);
    await breakCalls('order-query');
    await stack.shiftTime(PAST_WINDOW_MS);
    await expect(resend(created.id)).rejects.toThrow(/did not answer/);
    expect(await driver.attempts(created.id)).toHaveLength(1);
    await driver.simulator.clearFaults();
    await resend(created.id);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    await expect(resend(created.id)).rejects.toThrow(/already final: CONFIRMED/);
    expect(await driver.executions(created)).toBe(1);
  });
});
