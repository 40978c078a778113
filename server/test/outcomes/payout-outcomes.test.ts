import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decryptPayload } from '../../src/events/event.encryption.ts';
import type { OrganizationSecrets } from '../../src/organizations/organization.ts';
import { composeInProcess, settingsFor } from '../harness/in-process.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { waitForAnswers } from './payout-steps.ts';

let stack: Stack;
let driver: PayoutDriver;
let secrets: OrganizationSecrets;
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayoutDriver(stack);
  await driver.fund();
  const inProcess = await composeInProcess(settingsFor(stack.database.ownerUrl));
  ({ secrets } = await inProcess.authenticate(stack.organization.apiKey));
  await inProcess.close();
});
afterAll(() => stack?.stop());

async function readEventBody(id: string): Promise<unknown> {
  const [row] = await driver.query<{ id: string; organization_id: string; payload: Buffer }>(
    'select id, organization_id, payload from caudal.events where resource_id = $1',
    [id],
  );
  if (!row) throw new Error('no event');
  return JSON.parse(decryptPayload(secrets.dataKey, row.payload, row.organization_id, row.id).toString());
}

describe('a payout that is executed', () => {
  it.each(['@TESTOK', '@TESTLOSTANSWER'])(
    'at %s is CONFIRMED, with one execution, one event and one debit of the balance',
    async (key) => {
      const before = await driver.balance();
      const created = await driver.create({ key });
      const current = await driver.waitForStatus(created.id, 'CONFIRMED');
      await driver.waitUntilIdle();
      expect(await driver.executions(created)).toBe(1);
      await waitForAnswers(driver, created, 1);
      expect(await driver.attempts(created.id)).toEqual([
        { number: 1, answer: key === '@TESTOK' ? 'accepted' : 'unknown', error_code: null },
      ]);
      expect(await driver.transfers(created.id)).toEqual([
        'available → held 120050',
        'held → clearing_bre_b 120050',
      ]);
      expect(await driver.balance()).toEqual({ available: before.available - 120_050, held: before.held });
      expect(await driver.events(created.id)).toEqual(['payout.confirmed']);
      expect(await readEventBody(created.id)).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        event: 'payout.confirmed',
        resource: 'payout',
        createdAt: current.resultAt,
        data: {
          id: created.id,
          reference: created.payout.reference,
          amount: 1200.5,
          amountInCents: 120_050,
          currency: 'COP',
          status: 'CONFIRMED',
          rail: 'BRE_B',
          sourceData: { keyString: key, endToEndId: created.endToEndId },
          errorCode: null,
          createdAt: created.payout.createdAt,
          updatedAt: current.resultAt,
          resultAt: current.resultAt,
          organizationId: stack.organization.organizationId,
          metadata: {},
        },
      });
    },
  );

  it('has status, history, event and transfer with the same timestamp, and the execution ID of the rail', async () => {
    const created = await driver.create();
    await driver.waitForStatus(created.id, 'CONFIRMED');
    const [facts] = await driver.query<Record<'result' | 'history' | 'event' | 'transfer', Date>>(
      `select p.result_at as result, h.at as history, e.created_at as event, t.at as transfer from caudal.payouts p
       join caudal.payout_history h on h.payout_id = p.id and h.to_status = 'CONFIRMED'
       join caudal.events e on e.resource_id = p.id
       join caudal.ledger_transfers t on t.resource_id = p.id and t.cause_kind = 'payout' where p.id = $1`,
      [created.id],
    );
    expect(new Set(Object.values(facts ?? {}).map(Number)).size).toBe(1);
    const [row] = await driver.query('select execution_id from caudal.payouts where id = $1', [created.id]);
    const order = await driver.simulator.order(created.endToEndId);
    expect(row).toEqual({ execution_id: order?.executionId });
    expect(order).toMatchObject({ internalId: created.id, amount: '1200.50', key: '@TESTOK' });
  });
});

describe('a payout that is rejected', () => {
  it('at @TESTDECLINED is DECLINED with ACCOUNT_NOT_FOUND and refunded', async () => {
    const before = await driver.balance();
    const created = await driver.create({ key: '@TESTDECLINED' });
    const current = await driver.waitForStatus(created.id, 'DECLINED');
    expect(current.errorCode).toBe('ACCOUNT_NOT_FOUND');
    await driver.waitUntilIdle();
    expect(await driver.executions(created)).toBe(0);
    expect(await driver.balance()).toEqual(before);
    expect(await driver.transfers(created.id)).toEqual([
      'available → held 120050',
      'held → available 120050',
    ]);
    expect(await driver.events(created.id)).toEqual(['payout.declined']);
    expect(await readEventBody(created.id)).toMatchObject({
      event: 'payout.declined',
      data: { status: 'DECLINED', errorCode: 'ACCOUNT_NOT_FOUND', resultAt: current.resultAt },
    });
  });

  it.each([
    ['@TESTSUSPENDED', 'KEY_SUSPENDED'],
    ['@TESTNOTFOUND', 'KEY_NOT_FOUND'],
  ])('at %s is DECLINED with %s', async (key, errorCode) => {
    const { id } = await driver.create({ key });
    expect(await driver.waitForStatus(id, 'DECLINED')).toMatchObject({ errorCode });
  });

  it('over the network limit is rejected on sending and DECLINED without a poll', async () => {
    await driver.fund(20_000_000);
    const before = await driver.balance();
    const created = await driver.create({ amountInCents: 1_155_200_100 });
    expect(await driver.waitForStatus(created.id, 'DECLINED')).toMatchObject({
      errorCode: 'NETWORK_LIMIT_EXCEEDED',
    });
    expect(await driver.attempts(created.id)).toEqual([
      { number: 1, answer: 'refused', error_code: 'NETWORK_LIMIT_EXCEEDED' },
    ]);
    expect(await driver.causes(created.id)).toEqual(['created', 'order_refused']);
    const [row] = await driver.query('select polls from caudal.payouts where id = $1', [created.id]);
    expect(row).toEqual({ polls: 0 });
    expect(await driver.balance()).toEqual(before);
    expect(await driver.events(created.id)).toEqual(['payout.declined']);
  });
});

describe('a payout without a result from the rail', () => {
  it('stays PROCESSING with its money held, and is reported as unknown after a minute', async () => {
    const before = await driver.balance();
    const created = await driver.create({ key: '@TESTTIMEOUT' });
    await driver.waitForOrder(created);
    await until('its answer is recorded', async () => (await driver.attempts(created.id))[0]?.answer);
    const listUnknown = async () =>
      (JSON.parse(await driver.command('payouts', 'unknown', '--json')) as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await listUnknown()).toEqual([]);
    await stack.shiftTime(65_000);
    expect(await listUnknown()).toEqual([created.id]);
    for (const worker of stack.workers)
      await until(
        'the metric counts it',
        async () => (await readMetric(worker, 'caudal_payouts_unknown')) === 1,
      );
    // Repeated polls that report "in progress" never end the payout.
    await stack.shiftTime(2 * 3_600_000);
    await driver.waitUntilIdle();
    const [row] = await driver.query<{ polls: number }>('select polls from caudal.payouts where id = $1', [
      created.id,
    ]);
    expect(row?.polls).toBeGreaterThan(0);
    expect((await driver.get(created.id)).status).toBe('PROCESSING');
    expect(await driver.attempts(created.id), 'sent once').toHaveLength(1);
    expect(await driver.balance()).toEqual({
      available: before.available - 120_050,
      held: before.held + 120_050,
    });
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED' });
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await listUnknown()).toEqual([]);
    for (const worker of stack.workers)
      await until(
        'the metric is zero again',
        async () => (await readMetric(worker, 'caudal_payouts_unknown')) === 0,
      );
  });
});

it('the ledger is consistent', async () => {
  await driver.waitUntilIdle();
  expect(await driver.ledgerInconsistencies()).toEqual([]);
});
