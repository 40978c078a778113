import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CUSTOMER, newReference } from '../harness/payin-requests.ts';
import { type MadePayout, PayoutDriver, type SeenPayout } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const MINUTE = 60_000;
const SOMEBODY_ELSE = {
  person: { type: 'N', documentType: 'CC', documentNumber: '1000000123', names: 'OTRA PERSONA' },
} as const;

let stack: Stack;
let driver: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(() => stack?.stop());
afterEach(async () => {
  await driver.simulator.clearFaults();
  await driver.query('delete from caudal.rail_pauses');
  await pausesKnown(0);
  await driver.booksAreWhole();
});

async function pausesKnown(count: number): Promise<void> {
  const everybody = [...stack.apis, ...stack.workers];
  await until('every process knows of the pauses', async () => {
    const known = await Promise.all(everybody.map((each) => readMetric(each, 'caudal_rail_pauses')));
    return known.every((pauses) => pauses === count);
  });
}

async function pause(...of: readonly string[]): Promise<void> {
  await driver.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'falla', '--by', 'Laura', ...of);
  await pausesKnown(1);
}
const resume = (...of: readonly string[]) => driver.command('rails', 'resume', '--rail', 'BRE_B', ...of);

let keys = 0;
/** A key of the directory that only this test uses, and what was promised about it. */
async function lookedUp(): Promise<{ key: string; made: MadePayout }> {
  keys += 1;
  const key = `@STALE${keys}`;
  await driver.simulator.list({ key });
  const lookupId = await driver.lookUp(key);
  return { key, made: await driver.create({ key, lookupId }) };
}

const promiseOf = async ({ id }: MadePayout) =>
  (
    await driver.query<{ resolution_id: string | null }>(
      'select resolution_id from caudal.payouts where id = $1',
      [id],
    )
  )[0]?.resolution_id;

async function neverSent(made: MadePayout): Promise<void> {
  expect(await driver.attempts(made.id)).toEqual([]);
  expect(await driver.simulator.order(made.endToEndId)).toBeNull();
}

describe('a pause', () => {
  it('lets payouts be accepted and canceled, sends none, and all the others when it ends', async () => {
    await pause();
    const before = await driver.balance();
    const made = await driver.createMany(4);
    expect(made.map(({ payout }) => payout.status)).toEqual(made.map(() => 'PROCESSING'));
    await stack.shiftTime(30 * MINUTE);
    for (const worker of stack.workers)
      await until('they wait', async () => (await readMetric(worker, 'caudal_payouts_waiting')) === 4);
    for (const each of made) await neverSent(each);
    const [canceled, ...others] = made;
    if (!canceled) throw new Error('no payout');
    const answer = await stack.api.post<SeenPayout>(`/payouts/${canceled.id}/cancel`, {});
    expect([answer.status, answer.body.status]).toEqual([200, 'CANCELED']);
    expect(await driver.balance()).toEqual({
      available: before.available - 3 * 120_050,
      held: before.held + 3 * 120_050,
    });
    await resume();
    await driver.allReach(others, 'CONFIRMED');
    await neverSent(canceled);
    expect((await driver.get(canceled.id)).status).toBe('CANCELED');
    expect(await driver.events(canceled.id)).toEqual(['payout.canceled']);
    for (const each of others) expect(await driver.executions(each)).toBe(1);
  });

  it('of one organization holds its payouts back while those of the others are sent', async () => {
    const other = await stack.newOrganization();
    const { organizationId: org } = other;
    await driver.command(
      'ledger',
      'deposit',
      '--org',
      org,
      '--amount',
      '5000',
      '--reference',
      newReference(),
    );
    await pause('--org', stack.organization.organizationId);
    const held = await driver.create();
    const theirs = stack.api.as(other.apiKey);
    const { body } = await theirs.post<SeenPayout>('/payouts', {
      amountInCents: 100,
      currency: 'COP',
      rail: 'BRE_B',
      reference: newReference(),
      inlineCustomer: CUSTOMER,
      breb: { keyString: '@TESTOK' },
    });
    await until(
      'the other one is sent',
      async () => (await theirs.get<SeenPayout>(`/payouts/${body.id}`)).body.status === 'CONFIRMED',
    );
    await neverSent(held);
    await resume('--org', stack.organization.organizationId);
    await driver.reaches(held.id, 'CONFIRMED');
    expect(await driver.executions(held)).toBe(1);
  });

  it('does not stop the questions about what was sent before', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    const made = await driver.create();
    await until('it is settled', async () => (await driver.executions(made)) === 1);
    await pause();
    await stack.shiftTime(31_000);
    await driver.reaches(made.id, 'CONFIRMED');
    expect(await driver.causes(made.id)).toEqual(['created', 'settled_on_poll']);
  });
});

describe('a promise of the directory that is too old when the payout may leave', () => {
  it('is renewed where the key has the same holder, and the payout CONFIRMED under the new one', async () => {
    await pause();
    const { key, made } = await lookedUp();
    const before = await promiseOf(made);
    expect(before).toEqual(expect.any(String));
    await stack.shiftTime(20 * MINUTE);
    await resume();
    await driver.reaches(made.id, 'CONFIRMED');
    const now = await promiseOf(made);
    expect(now).not.toBe(before);
    expect(await driver.simulator.order(made.endToEndId)).toMatchObject({ key, resolutionId: now });
    expect(await driver.executions(made)).toBe(1);
    expect(await driver.attempts(made.id)).toHaveLength(1);
  });

  it.each([
    [
      'has another holder',
      'RECEIVER_MISMATCH',
      (key: string) => driver.simulator.list({ key, holder: SOMEBODY_ELSE }),
    ],
    ['is gone', 'KEY_NOT_FOUND', (key: string) => driver.simulator.list({ key, holder: null })],
    [
      'is suspended',
      'KEY_SUSPENDED',
      (key: string) => driver.simulator.list({ key, status: 'SUSPENDED_BY_CLIENT' }),
    ],
  ])('whose key %s: DECLINED as %s, never sent, the money back', async (_what, errorCode, change) => {
    await pause();
    const before = await driver.balance();
    const { key, made } = await lookedUp();
    await change(key);
    await stack.shiftTime(20 * MINUTE);
    await resume();
    expect(await driver.reaches(made.id, 'DECLINED')).toMatchObject({ errorCode });
    expect(await driver.causes(made.id)).toEqual(['created', 'receiver_changed']);
    expect(await driver.events(made.id)).toEqual(['payout.declined']);
    await neverSent(made);
    expect(await driver.balance()).toEqual(before);
  });

  it.each(['down', 'lost-answer', 'hang'] as const)(
    'is asked about again when the directory does not answer (%s)',
    async (fault) => {
      await pause();
      const { made } = await lookedUp();
      await stack.shiftTime(20 * MINUTE);
      const id = await driver.simulator.addFault({ rail: 'BRE_B', operation: 'resolve', fault, times: 1 });
      await resume();
      await until('the directory was asked', async () => (await driver.simulator.struck(id)) === 1);
      await driver.reaches(made.id, 'CONFIRMED', 20_000);
      expect(await driver.executions(made)).toBe(1);
    },
  );

  it('of a payout that was canceled meanwhile leads nowhere', async () => {
    await pause();
    const { made } = await lookedUp();
    const after = await driver.create();
    await stack.shiftTime(20 * MINUTE);
    expect((await stack.api.post(`/payouts/${made.id}/cancel`, {})).status).toBe(200);
    await resume();
    await driver.reaches(after.id, 'CONFIRMED');
    expect((await driver.get(made.id)).status).toBe('CANCELED');
    await neverSent(made);
  });

  it.each([
    ['the same holder', undefined, 'CONFIRMED', 1],
    // Once it may have left only the rail says no.
    ['another holder, which the rail refuses', SOMEBODY_ELSE, 'DECLINED', 0],
  ] as const)('of an order that must be repeated, with %s', async (_what, holder, end, executions) => {
    for (const operation of ['order', 'order-query'])
      await driver.simulator.addFault({ rail: 'BRE_B', operation, fault: 'down' });
    const { key, made } = await lookedUp();
    await until('the first attempt failed', async () => (await driver.attempts(made.id))[0]?.answer);
    await stack.shiftTime(20 * MINUTE);
    if (holder) await driver.simulator.list({ key, holder });
    await driver.simulator.clearFaults();
    await stack.shiftTime(2 * MINUTE);
    await driver.reaches(made.id, end, 20_000);
    expect((await driver.get(made.id)).errorCode).toBe(holder ? 'RECEIVER_MISMATCH' : null);
    expect((await driver.attempts(made.id)).map(({ answer }) => answer)).toEqual(['unknown', 'accepted']);
    expect(await driver.executions(made)).toBe(executions);
  });
});
