import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type CreatedPayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

vi.setConfig({ testTimeout: 60_000 });

const AUTHOR_AND_NOTE = ['--by', 'Laura', '--note', 'el nodo no la recibió, caso 4711'];
/** An order leaves within 20 s of its attempt and is processed within the default 120 s. */
const PAST_WINDOW_MS = 141_000;

let stack: Stack;
let driver: PayoutDriver;
beforeAll(async () => {
  // An empty setting counts as unset: the defaults when the provider documents neither property.
  const unset = { BREB_REJECTS_DUPLICATE_ORDERS: '', BREB_MAX_PROCESSING_MS: '' };
  stack = await startStack({ apis: 1, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20', ...unset } });
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(() => stack?.stop());
afterEach(async () => {
  await driver.simulator.clearFaults();
  await driver.checkLedger();
});

const fault = (operation: 'order' | 'order-query', kind: 'down' | 'slow', times?: number, ms?: number) =>
  driver.simulator.addFault({
    rail: 'BRE_B',
    operation,
    fault: kind,
    ...(times === undefined ? {} : { times }),
    ...(ms === undefined ? {} : { ms }),
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
    await fault('order', 'slow', 1, 9000);
    const created = await driver.create();
    expect(await waitForAnswer(created, 1)).toBe('unknown');
    await passTime(created, 75_000);
    expect(await driver.attempts(created.id)).toHaveLength(1);
    await driver.waitForStatus(created.id, 'CONFIRMED', 20_000);
    expect(await driver.attempts(created.id)).toHaveLength(1);
    expect(await driver.executions(created)).toBe(1);
    expect((await driver.simulator.stats()).orders.duplicates).toBe(0);
  });

  it('gets a lost order again only when an operator resends it; then it is executed once under the same ID', async () => {
    await fault('order', 'down', 1);
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
    expect((await driver.attempts(created.id)).map(({ answer }) => answer)).toEqual(['unknown', 'accepted']);
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
    await fault('order', 'down', 1);
    const created = await driver.create();
    await waitForAnswer(created, 1);
    await fault('order-query', 'down');
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
