import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type MadePayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

vi.setConfig({ testTimeout: 60_000 });

const WHY = ['--by', 'Laura', '--note', 'el nodo no la recibió, caso 4711'];
/** An order leaves within 20 s of its attempt and is processed within the default 120 s. */
const PAST_WINDOW_MS = 141_000;

let stack: Stack;
let driver: PayoutDriver;
beforeAll(async () => {
  // An empty setting is one that is not set: the connection as it is without a word from the provider's documents.
  const unset = { BREB_REJECTS_DUPLICATE_ORDERS: '', BREB_MAX_PROCESSING_MS: '' };
  stack = await startStack({ apis: 1, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20', ...unset } });
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(() => stack?.stop());
afterEach(async () => {
  await driver.simulator.clearFaults();
  await driver.booksAreWhole();
});

const fault = (operation: 'order' | 'order-query', kind: 'down' | 'slow', times?: number, ms?: number) =>
  driver.simulator.addFault({
    rail: 'BRE_B',
    operation,
    fault: kind,
    ...(times === undefined ? {} : { times }),
    ...(ms === undefined ? {} : { ms }),
  });
const resend = (id: string) => driver.command('payouts', 'resolve', id, '--resend', ...WHY);

const answered = (made: MadePayout, number: number) =>
  until(`attempt ${number} has its answer`, async () => (await driver.attempts(made.id))[number - 1]?.answer);

/** Lets time pass, until the rail has been queried about the payout after it. */
async function pass(made: MadePayout, ms: number): Promise<void> {
  const questions = async () => {
    const [row] = await driver.query<{ questions: number }>(
      'select questions from caudal.payouts where id = $1',
      [made.id],
    );
    return row?.questions ?? 0;
  };
  const before = await questions();
  await stack.shiftTime(ms);
  await until('the rail was queried again', async () => (await questions()) > before);
}

async function reasonOf({ id }: MadePayout): Promise<string | undefined> {
  const listed = JSON.parse(await driver.command('payouts', 'unknown', '--json')) as {
    id: string;
    reason: string;
  }[];
  return listed.find((each) => each.id === id)?.reason;
}

describe('a rail whose documents do not say that it rejects duplicates', () => {
  it('gets exactly one attempt of an order that arrives 75 s late, and the payout is confirmed once', async () => {
    await fault('order', 'slow', 1, 9000);
    const made = await driver.create();
    expect(await answered(made, 1)).toBe('unknown');
    await pass(made, 75_000);
    expect(await driver.attempts(made.id)).toHaveLength(1);
    await driver.reaches(made.id, 'CONFIRMED', 20_000);
    expect(await driver.attempts(made.id)).toHaveLength(1);
    expect(await driver.executions(made)).toBe(1);
    expect((await driver.simulator.stats()).orders.duplicates).toBe(0);
  });

  it('does not get a lost order again until an operator orders it; then it is executed once under the same id', async () => {
    await fault('order', 'down', 1);
    const made = await driver.create();
    expect(await answered(made, 1)).toBe('unknown');
    await pass(made, 61_000);
    expect(await reasonOf(made)).toBe('rail_not_found');
    await expect(resend(made.id)).rejects.toThrow(/may still arrive/);
    await pass(made, PAST_WINDOW_MS - 61_000);
    await pass(made, 31_000);
    expect(await driver.attempts(made.id)).toHaveLength(1);
    expect(await reasonOf(made)).toBe('awaiting_operator');
    expect(await driver.command('payouts', 'unknown')).toContain('AWAITING OPERATOR');
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    expect(await resend(made.id)).toContain('sent again under the same end-to-end id');
    await driver.reaches(made.id, 'CONFIRMED');
    expect((await driver.attempts(made.id)).map(({ answer }) => answer)).toEqual(['unknown', 'accepted']);
    expect(await driver.executions(made)).toBe(1);
    expect(await driver.simulator.order(made.endToEndId)).toMatchObject({ status: 'SETTLED' });
    const audit = JSON.parse(await driver.command('audit', 'list', '--json')) as { resource: string }[];
    expect(audit.filter(({ resource }) => resource === made.id)).toMatchObject([
      { operator: 'Laura', action: 'payouts.resolve', details: { asked: 'resend' }, note: WHY[3] },
    ]);
  });
});

describe('payouts resolve --resend', () => {
  it('is refused while the rail reports the order as in progress', async () => {
    const made = await driver.create({ key: '@TESTTIMEOUT' });
    await answered(made, 1);
    await pass(made, PAST_WINDOW_MS);
    await expect(resend(made.id)).rejects.toThrow(/in progress/);
    expect(await driver.attempts(made.id)).toHaveLength(1);
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED' });
    await driver.reaches(made.id, 'CONFIRMED');
  });

  it('is refused while the rail does not answer, and confirms when the rail reports the order as settled', async () => {
    await fault('order', 'down', 1);
    const made = await driver.create();
    await answered(made, 1);
    await fault('order-query', 'down');
    await stack.shiftTime(PAST_WINDOW_MS);
    await expect(resend(made.id)).rejects.toThrow(/did not answer/);
    expect(await driver.attempts(made.id)).toHaveLength(1);
    await driver.simulator.clearFaults();
    await resend(made.id);
    await driver.reaches(made.id, 'CONFIRMED');
    await expect(resend(made.id)).rejects.toThrow(/ended before: CONFIRMED/);
    expect(await driver.executions(made)).toBe(1);
  });
});
