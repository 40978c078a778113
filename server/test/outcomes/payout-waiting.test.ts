import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CUSTOMER, newReference } from '../harness/payin-requests.ts';
import { type CreatedPayout, PayoutDriver, type PayoutView } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { waitForAnswers } from './payout-steps.ts';

const MINUTE = 60_000;
const OTHER_HOLDER = {
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
  await waitForPauses(0);
  await driver.checkLedger();
});

async function waitForPauses(count: number): Promise<void> {
  const processes = [...stack.apis, ...stack.workers];
  await until('every process sees the pauses', async () => {
    const counts = await Promise.all(processes.map((each) => readMetric(each, 'caudal_rail_pauses')));
    return counts.every((pauses) => pauses === count);
  });
}

async function pause(...scope: readonly string[]): Promise<void> {
  await driver.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'falla', '--by', 'Laura', ...scope);
  await waitForPauses(1);
}
const resume = (...scope: readonly string[]) =>
  driver.command('rails', 'resume', '--rail', 'BRE_B', ...scope);

let keys = 0;
/** A payout to a directory key that only this test uses, with its lookup. */
async function createWithLookup(): Promise<{ key: string; created: CreatedPayout }> {
  keys += 1;
  const key = `@STALE${keys}`;
  await driver.simulator.setDirectoryEntry({ key });
  const lookupId = await driver.lookUp(key);
  return { key, created: await driver.create({ key, lookupId }) };
}

const readResolutionId = async ({ id }: CreatedPayout) =>
  (
    await driver.query<{ resolution_id: string | null }>(
      'select resolution_id from caudal.payouts where id = $1',
      [id],
    )
  )[0]?.resolution_id;

async function expectNeverSent(created: CreatedPayout): Promise<void> {
  expect(await driver.attempts(created.id)).toEqual([]);
  expect(await driver.simulator.order(created.endToEndId)).toBeNull();
}

describe('a rail pause', () => {
  it('accepts and cancels payouts, sends none, and sends the others when it ends', async () => {
    await pause();
    const before = await driver.balance();
    const created = await driver.createMany(4);
    expect(created.map(({ payout }) => payout.status)).toEqual(created.map(() => 'PROCESSING'));
    await stack.shiftTime(30 * MINUTE);
    for (const worker of stack.workers)
      await until('they wait', async () => (await readMetric(worker, 'caudal_payouts_waiting')) === 4);
    for (const each of created) await expectNeverSent(each);
    const [canceled, ...others] = created;
    if (!canceled) throw new Error('no payout');
    const answer = await stack.api.post<PayoutView>(`/payouts/${canceled.id}/cancel`, {});
    expect([answer.status, answer.body.status]).toEqual([200, 'CANCELED']);
    expect(await driver.balance()).toEqual({
      available: before.available - 3 * 120_050,
      held: before.held + 3 * 120_050,
    });
    await resume();
    await driver.waitForAll(others, 'CONFIRMED');
    await expectNeverSent(canceled);
    expect((await driver.get(canceled.id)).status).toBe('CANCELED');
    expect(await driver.events(canceled.id)).toEqual(['payout.canceled']);
    for (const each of others) expect(await driver.executions(each)).toBe(1);
  });

  it('of one organization holds only its payouts', async () => {
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
    const otherApi = stack.api.as(other.apiKey);
    const { body } = await otherApi.post<PayoutView>('/payouts', {
      amountInCents: 100,
      currency: 'COP',
      rail: 'BRE_B',
      reference: newReference(),
      inlineCustomer: CUSTOMER,
      breb: { keyString: '@TESTOK' },
    });
    await until(
      'the other payout is sent',
      async () => (await otherApi.get<PayoutView>(`/payouts/${body.id}`)).body.status === 'CONFIRMED',
    );
    await expectNeverSent(held);
    await resume('--org', stack.organization.organizationId);
    await driver.waitForStatus(held.id, 'CONFIRMED');
    expect(await driver.executions(held)).toBe(1);
  });

  it('does not stop status polls of payouts sent before', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    const created = await driver.create();
    await until('it is settled', async () => (await driver.executions(created)) === 1);
    await pause();
    await stack.shiftTime(31_000);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await driver.causes(created.id)).toEqual(['created', 'settled_on_poll']);
  });
});

describe('a key resolution that is too old when the payout can be sent', () => {
  it('is refreshed when the key has the same holder, and the payout is CONFIRMED with the new one', async () => {
    await pause();
    const { key, created } = await createWithLookup();
    const before = await readResolutionId(created);
    expect(before).toEqual(expect.any(String));
    await stack.shiftTime(20 * MINUTE);
    await resume();
    await driver.waitForStatus(created.id, 'CONFIRMED');
    const now = await readResolutionId(created);
    expect(now).not.toBe(before);
    expect(await driver.simulator.order(created.endToEndId)).toMatchObject({ key, resolutionId: now });
    expect(await driver.executions(created)).toBe(1);
    expect(await driver.attempts(created.id)).toHaveLength(1);
  });

  it.each([
    [
      'has another holder',
      'RECEIVER_MISMATCH',
      (key: string) => driver.simulator.setDirectoryEntry({ key, holder: OTHER_HOLDER }),
    ],
    [
      'does not exist any more',
      'KEY_NOT_FOUND',
      (key: string) => driver.simulator.setDirectoryEntry({ key, holder: null }),
    ],
    [
      'is suspended',
      'KEY_SUSPENDED',
      (key: string) => driver.simulator.setDirectoryEntry({ key, status: 'SUSPENDED_BY_CLIENT' }),
    ],
  ])('whose key %s: DECLINED with %s, never sent, refunded', async (_what, errorCode, change) => {
    await pause();
    const before = await driver.balance();
    const { key, created } = await createWithLookup();
    await change(key);
    await stack.shiftTime(20 * MINUTE);
    await resume();
    expect(await driver.waitForStatus(created.id, 'DECLINED')).toMatchObject({ errorCode });
    expect(await driver.causes(created.id)).toEqual(['created', 'receiver_changed']);
    expect(await driver.events(created.id)).toEqual(['payout.declined']);
    await expectNeverSent(created);
    expect(await driver.balance()).toEqual(before);
  });

  it.each(['down', 'lost-answer', 'hang'] as const)(
    'is requested again when the directory does not answer (%s)',
    async (fault) => {
      await pause();
      const { created } = await createWithLookup();
      await stack.shiftTime(20 * MINUTE);
      const id = await driver.simulator.addFault({ rail: 'BRE_B', operation: 'resolve', fault, times: 1 });
      await resume();
      await until('the directory was queried', async () => (await driver.simulator.timesApplied(id)) === 1);
      await driver.waitForStatus(created.id, 'CONFIRMED');
      expect(await driver.executions(created)).toBe(1);
    },
  );

  it('of a payout canceled meanwhile is ignored', async () => {
    await pause();
    const { created } = await createWithLookup();
    const after = await driver.create();
    await stack.shiftTime(20 * MINUTE);
    expect((await stack.api.post(`/payouts/${created.id}/cancel`, {})).status).toBe(200);
    await resume();
    await driver.waitForStatus(after.id, 'CONFIRMED');
    expect((await driver.get(created.id)).status).toBe('CANCELED');
    await expectNeverSent(created);
  });

  it.each([
    ['the same holder', undefined, 'CONFIRMED', 1],
    // Once the order may have been sent, only the rail can reject it.
    ['another holder, which the rail rejects', OTHER_HOLDER, 'DECLINED', 0],
  ] as const)(
    'of an order that must be retried, with %s',
    async (_what, holder, expectedStatus, executions) => {
      for (const operation of ['order', 'order-query'])
        await driver.simulator.addFault({ rail: 'BRE_B', operation, fault: 'down' });
      const { key, created } = await createWithLookup();
      await until('the first attempt failed', async () => (await driver.attempts(created.id))[0]?.answer);
      await stack.shiftTime(20 * MINUTE);
      if (holder) await driver.simulator.setDirectoryEntry({ key, holder });
      await driver.simulator.clearFaults();
      await stack.shiftTime(2 * MINUTE);
      await driver.waitForStatus(created.id, expectedStatus);
      expect((await driver.get(created.id)).errorCode).toBe(holder ? 'RECEIVER_MISMATCH' : null);
      expect(await waitForAnswers(driver, created, 2)).toEqual(['unknown', 'accepted']);
      expect(await driver.executions(created)).toBe(executions);
    },
  );
});
