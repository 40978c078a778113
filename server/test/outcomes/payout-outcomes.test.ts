import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPayload } from '../../src/events/event.seal.ts';
import type { OrganizationSecrets } from '../../src/organizations/organization.ts';
import { composeInProcess, settingsFor } from '../harness/in-process.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: PayoutDriver;
let secrets: OrganizationSecrets;
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayoutDriver(stack);
  await driver.fund();
  const inside = await composeInProcess(settingsFor(stack.database.ownerUrl));
  ({ secrets } = await inside.principalOf(stack.organization.apiKey));
  await inside.close();
});
afterAll(() => stack?.stop());

async function bodyOfEvent(id: string): Promise<unknown> {
  const [row] = await driver.query<{ id: string; organization_id: string; payload: Buffer }>(
    'select id, organization_id, payload from caudal.events where resource_id = $1',
    [id],
  );
  if (!row) throw new Error('no event');
  return JSON.parse(openPayload(secrets.dataKey, row.payload, row.organization_id, row.id).toString());
}

describe('a payout that arrives', () => {
  it.each(['@TESTOK', '@TESTLOSTANSWER'])(
    'at %s is CONFIRMED, executed once, told once and paid from the balance',
    async (key) => {
      const before = await driver.balance();
      const made = await driver.create({ key });
      const seen = await driver.reaches(made.id, 'CONFIRMED');
      await driver.quiet();
      expect(await driver.executions(made)).toBe(1);
      expect(await driver.attempts(made.id)).toEqual([
        { number: 1, answer: key === '@TESTOK' ? 'accepted' : 'unknown', error_code: null },
      ]);
      expect(await driver.moves(made.id)).toEqual([
        'available → held 120050',
        'held → clearing_bre_b 120050',
      ]);
      expect(await driver.balance()).toEqual({ available: before.available - 120_050, held: before.held });
      expect(await driver.events(made.id)).toEqual(['payout.confirmed']);
      expect(await bodyOfEvent(made.id)).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        event: 'payout.confirmed',
        resource: 'payout',
        createdAt: seen.resultAt,
        data: {
          id: made.id,
          reference: made.payout.reference,
          amount: 1200.5,
          amountInCents: 120_050,
          currency: 'COP',
          status: 'CONFIRMED',
          rail: 'BRE_B',
          sourceData: { keyString: key, endToEndId: made.endToEndId },
          errorCode: null,
          createdAt: made.payout.createdAt,
          updatedAt: seen.resultAt,
          resultAt: seen.resultAt,
          organizationId: stack.organization.organizationId,
        },
      });
    },
  );

  it('has state, history, event and money of the same moment, under the execution of the rail', async () => {
    const made = await driver.create();
    await driver.reaches(made.id, 'CONFIRMED');
    const [facts] = await driver.query<Record<'result' | 'history' | 'event' | 'transfer', Date>>(
      `select p.result_at as result, h.at as history, e.created_at as event, t.at as transfer from caudal.payouts p
       join caudal.payout_history h on h.payout_id = p.id and h.to_status = 'CONFIRMED'
       join caudal.events e on e.resource_id = p.id
       join caudal.ledger_transfers t on t.resource_id = p.id and t.cause_kind = 'payout' where p.id = $1`,
      [made.id],
    );
    expect(new Set(Object.values(facts ?? {}).map(Number)).size).toBe(1);
    const [row] = await driver.query('select execution_id from caudal.payouts where id = $1', [made.id]);
    const order = await driver.simulator.order(made.endToEndId);
    expect(row).toEqual({ execution_id: order?.executionId });
    expect(order).toMatchObject({ internalId: made.id, amount: '1200.50', key: '@TESTOK' });
  });
});

describe('a payout that is rejected', () => {
  it('at @TESTDECLINED is DECLINED as ACCOUNT_NOT_FOUND, and its money is back', async () => {
    const before = await driver.balance();
    const made = await driver.create({ key: '@TESTDECLINED' });
    const seen = await driver.reaches(made.id, 'DECLINED');
    expect(seen.errorCode).toBe('ACCOUNT_NOT_FOUND');
    await driver.quiet();
    expect(await driver.executions(made)).toBe(0);
    expect(await driver.balance()).toEqual(before);
    expect(await driver.moves(made.id)).toEqual(['available → held 120050', 'held → available 120050']);
    expect(await driver.events(made.id)).toEqual(['payout.declined']);
    expect(await bodyOfEvent(made.id)).toMatchObject({
      event: 'payout.declined',
      data: { status: 'DECLINED', errorCode: 'ACCOUNT_NOT_FOUND', resultAt: seen.resultAt },
    });
  });

  it.each([
    ['@TESTSUSPENDED', 'KEY_SUSPENDED'],
    ['@TESTNOTFOUND', 'KEY_NOT_FOUND'],
  ])('at %s is DECLINED as %s', async (key, errorCode) => {
    const { id } = await driver.create({ key });
    expect(await driver.reaches(id, 'DECLINED')).toMatchObject({ errorCode });
  });

  it('over what the network carries is refused at the door, and DECLINED at once without asking', async () => {
    await driver.fund(20_000_000);
    const before = await driver.balance();
    const made = await driver.create({ amountInCents: 1_155_200_100 });
    expect(await driver.reaches(made.id, 'DECLINED')).toMatchObject({ errorCode: 'NETWORK_LIMIT_EXCEEDED' });
    expect(await driver.attempts(made.id)).toEqual([
      { number: 1, answer: 'refused', error_code: 'NETWORK_LIMIT_EXCEEDED' },
    ]);
    expect(await driver.causes(made.id)).toEqual(['created', 'order_refused']);
    const [row] = await driver.query('select questions from caudal.payouts where id = $1', [made.id]);
    expect(row).toEqual({ questions: 0 });
    expect(await driver.balance()).toEqual(before);
    expect(await driver.events(made.id)).toEqual(['payout.declined']);
  });
});

describe('a payout of which the rail does not tell', () => {
  it('stays PROCESSING with its money set aside, and after a minute a person is told', async () => {
    const before = await driver.balance();
    const made = await driver.create({ key: '@TESTTIMEOUT' });
    await driver.arrives(made);
    await until('its answer is written down', async () => (await driver.attempts(made.id))[0]?.answer);
    const unknown = async () =>
      (JSON.parse(await driver.command('payouts', 'unknown', '--json')) as { id: string }[]).map(
        ({ id }) => id,
      );
    expect(await unknown()).toEqual([]);
    await stack.shiftTime(65_000);
    expect(await unknown()).toEqual([made.id]);
    for (const worker of stack.workers)
      await until('the metric tells', async () => (await readMetric(worker, 'caudal_payouts_unknown')) === 1);
    // Asked and asked again: no answer of the kind "in process" ever ends it.
    await stack.shiftTime(2 * 3_600_000);
    await driver.quiet();
    const [row] = await driver.query<{ questions: number }>(
      'select questions from caudal.payouts where id = $1',
      [made.id],
    );
    expect(row?.questions).toBeGreaterThan(0);
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    expect(await driver.attempts(made.id), 'sent once').toHaveLength(1);
    expect(await driver.balance()).toEqual({
      available: before.available - 120_050,
      held: before.held + 120_050,
    });
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED' });
    await driver.reaches(made.id, 'CONFIRMED');
    expect(await unknown()).toEqual([]);
    for (const worker of stack.workers)
      await until(
        'the metric is back',
        async () => (await readMetric(worker, 'caudal_payouts_unknown')) === 0,
      );
  });
});

it('the books of all this are whole', async () => {
  await driver.quiet();
  expect(await driver.brokenBooks()).toEqual([]);
});
