import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseResourceReference, resourceReference } from '../../src/kit/resource-reference.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { type CreatedPayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { makePollDue, postponePolls } from './payout-steps.ts';

const CENTS = '120050';
/** With the cell of the stack. */
const UNKNOWN_PAYOUT = '019b2c5e-8f3a-7c41-8010-3f9d2b7a6c10';

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
  await driver.checkLedger();
});

const addNotificationFault = (
  fault:
    | 'duplicate'
    | 'lost-notice'
    | 'reorder'
    | 'wrong-amount'
    | 'unknown-id'
    | 'bad-signature'
    | 'lost-answer',
) => driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault, times: 1 });

/** Sends a notification with a valid rail signature, independent of the rail's state. */
function notify(endToEndId: string, changes: object = {}): Promise<void> {
  return send([settlement(endToEndId, changes)]);
}

function settlement(endToEndId: string, changes: object = {}): object {
  return {
    noticeId: randomUUID(),
    type: 'ORDER_SETTLED',
    endToEndId,
    internalId: randomUUID(),
    executionId: randomUUID(),
    amount: '1200.50',
    currency: 'COP',
    code: null,
    at: new Date().toISOString(),
    ...changes,
  };
}

async function send(notices: readonly object[]): Promise<void> {
  const body = JSON.stringify({ notices });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', stack.settings['BREB_NOTICE_SECRET'] ?? '')
    .update(`${timestamp}.${body}`)
    .digest('hex');
  const answer = await fetch(`${stack.apis[0]?.url}/rail-notices/breb`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-notice-timestamp': timestamp,
      'x-notice-signature': `v1=${signature}`,
    },
    body,
  });
  expect(answer.status).toBe(200);
}
const REJECTION = { type: 'ORDER_REJECTED', executionId: null, code: '4010' };

/** A payout that stays in progress at the rail. No poll about it is due: only notifications lead to queries. */
async function createInProgress(): Promise<CreatedPayout> {
  const created = await driver.create({ key: '@TESTTIMEOUT' });
  await until('its answer is recorded', async () => (await driver.attempts(created.id))[0]?.answer);
  await postponePolls(driver, created);
  return created;
}

async function expectConfirmedOnce(created: CreatedPayout, cause: string): Promise<void> {
  await driver.waitForStatus(created.id, 'CONFIRMED');
  expect(await driver.causes(created.id)).toEqual(['created', cause]);
  expect(await driver.events(created.id)).toEqual(['payout.confirmed']);
  expect(await driver.transfers(created.id)).toHaveLength(2);
  expect(await driver.executions(created)).toBe(1);
}

describe('a settlement notification', () => {
  it.each(['duplicate', 'bad-signature', 'lost-answer'] as const)(
    'with fault "%s" confirms once and raises no anomaly',
    async (fault) => {
      await addNotificationFault(fault);
      const created = await driver.create();
      await driver.waitForStatus(created.id, 'CONFIRMED');
      await driver.waitUntilIdle();
      await expectConfirmedOnce(created, 'settled_on_notification');
      expect(await driver.anomalies(created.id)).toEqual([]);
    },
  );

  it('that is lost is replaced by a status poll after half a minute', async () => {
    await addNotificationFault('lost-notice');
    const created = await driver.create();
    await until('it is settled', async () => (await driver.executions(created)) === 1);
    await stack.shiftTime(31_000);
    await expectConfirmedOnce(created, 'settled_on_poll');
    const [row] = await driver.query(
      "select result_at - last_sent_at >= interval '30 seconds' as waited from caudal.payouts where id = $1",
      [created.id],
    );
    expect(row).toEqual({ waited: true });
  });

  it('that arrives out of order still confirms its own payout', async () => {
    await addNotificationFault('reorder');
    const [first, second] = await Promise.all([driver.create(), driver.create()]);
    await expectConfirmedOnce(first, 'settled_on_notification');
    await expectConfirmedOnce(second, 'settled_on_notification');
    expect(await driver.anomalies(first.id)).toEqual([]);
  });

  it('with a different amount is verified by a poll, and the polled status confirms', async () => {
    await addNotificationFault('wrong-amount');
    const created = await driver.create();
    await expectConfirmedOnce(created, 'settled_on_poll');
    expect(await driver.transfers(created.id)).toEqual([
      `available → held ${CENTS}`,
      `held → clearing_bre_b ${CENTS}`,
    ]);
    await driver.waitUntilIdle();
    expect(await driver.anomalies(created.id)).toEqual([]);
  });

  it('of an unknown order is an anomaly of the operator organization without money, and the correct one confirms', async () => {
    await addNotificationFault('unknown-id');
    const created = await driver.create();
    await expectConfirmedOnce(created, 'settled_on_notification');
    await driver.passProcessingWindow();
    expect(
      await driver.query(
        'select kind, amount_in_cents, payout_id, organization_id from caudal.anomalies where payout_id is null',
      ),
    ).toEqual([
      {
        kind: 'unmatched',
        amount_in_cents: null,
        payout_id: null,
        organization_id: OPERATOR_ORGANIZATION_ID,
      },
    ]);
  });

  it('delivered a hundred times is one settlement', async () => {
    const created = await createInProgress();
    const { executionId } = await driver.simulator.endOrder({
      endToEndId: created.endToEndId,
      outcome: 'SETTLED',
    });
    await Promise.all(Array.from({ length: 100 }, () => notify(created.endToEndId, { executionId })));
    await driver.waitForStatus(created.id, 'CONFIRMED');
    await driver.waitUntilIdle();
    await expectConfirmedOnce(created, 'settled_on_notification');
    expect(await driver.anomalies(created.id)).toEqual([]);
  });

  it('that names a payout with the number of another organization is unmatched', async () => {
    const created = await createInProgress();
    const [row] = await driver.query<{ number: number }>(
      'select number from caudal.organizations where id = $1',
      [OPERATOR_ORGANIZATION_ID],
    );
    expect(parseResourceReference(created.endToEndId)?.organizationNumber).not.toBe(row?.number);
    const executionId = randomUUID();
    await notify(resourceReference(created.id, row?.number ?? 0), { executionId });
    await driver.passProcessingWindow();
    expect((await driver.get(created.id)).status).toBe('PROCESSING');
    expect(
      await driver.query('select kind, payout_id from caudal.anomalies where execution_id = $1', [
        executionId,
      ]),
    ).toEqual([{ kind: 'unmatched', payout_id: null }]);
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED' });
    await expectConfirmedOnce(created, 'settled_on_notification');
  });

  it('of a nonexistent payout with a well-formed reference is unmatched', async () => {
    const executionId = randomUUID();
    await notify(resourceReference(UNKNOWN_PAYOUT, 1), { executionId });
    await driver.passProcessingWindow();
    expect(
      await driver.query('select kind, amount_in_cents from caudal.anomalies where execution_id = $1', [
        executionId,
      ]),
    ).toEqual([{ kind: 'unmatched', amount_in_cents: null }]);
  });
});

const findConfirmed = (payouts: readonly CreatedPayout[]) =>
  driver.query<{ id: string }>(
    "select id from caudal.payouts where id = any ($1::uuid[]) and status = 'CONFIRMED'",
    [payouts.map(({ id }) => id)],
  );

describe('one execution ID in the notifications of two payouts', () => {
  it('confirms one payout; the other stays open, is polled and raises an anomaly, and other notifications apply', async () => {
    const [one, other, bystander] = [
      await createInProgress(),
      await createInProgress(),
      await createInProgress(),
    ];
    const executionId = randomUUID();
    await send([
      settlement(one.endToEndId, { executionId }),
      settlement(other.endToEndId, { executionId }),
      settlement(bystander.endToEndId),
    ]);
    await driver.waitForStatus(bystander.id, 'CONFIRMED');
    await driver.waitForStatus(one.id, 'CONFIRMED');
    await driver.passProcessingWindow();
    expect((await driver.get(other.id)).status).toBe('PROCESSING');
    expect(await driver.anomalies(other.id)).toMatchObject([
      { kind: 'unconfirmed', cents: null, execution_id: executionId },
    ]);
    await driver.simulator.endOrder({ endToEndId: other.endToEndId, outcome: 'SETTLED' });
    await expectConfirmedOnce(other, 'settled_on_notification');
  });

  it('confirms one payout of each pair when two workers apply both notifications at the same time', async () => {
    const pairs = await Promise.all(
      Array.from({ length: 8 }, async () => Promise.all([createInProgress(), createInProgress()])),
    );
    await Promise.all(
      pairs.flatMap((pair) => {
        const executionId = randomUUID();
        return pair.map(({ endToEndId }) => notify(endToEndId, { executionId }));
      }),
    );
    await driver.passProcessingWindow();
    for (const pair of pairs) expect(await findConfirmed(pair)).toHaveLength(1);
  });

  it('is a contradiction when the rail itself reports it, and the payout is confirmed once the rail names another', async () => {
    const [created, other] = [await createInProgress(), await driver.create()];
    await driver.waitForStatus(other.id, 'CONFIRMED');
    await addNotificationFault('lost-notice');
    const { executionId } = await driver.simulator.endOrder({
      endToEndId: created.endToEndId,
      outcome: 'SETTLED',
    });
    // The simulator chooses its execution IDs: this gives the record of the other payout the same ID.
    const rename = (from: string | null, to: string | null) =>
      driver.query('update caudal.payout_executions set execution_id = $2 where execution_id = $1', [
        from,
        to,
      ]);
    const [own] = await driver.query<{ execution_id: string }>(
      'select execution_id from caudal.payouts where id = $1',
      [other.id],
    );
    await rename(own?.execution_id ?? '', executionId);
    await makePollDue(driver, created);
    await until('the anomaly is recorded', async () => (await driver.anomalies(created.id)).length > 0);
    expect((await driver.get(created.id)).status).toBe('PROCESSING');
    expect(await driver.anomalies(created.id)).toMatchObject([
      { kind: 'contradiction', cents: null, execution_id: executionId },
    ]);
    await rename(executionId, own?.execution_id ?? '');
    await expectConfirmedOnce(created, 'settled_on_poll');
  });
});

describe('a payout that the rail reports as settled by the execution of another payout', () => {
  it('is not sent again, and can be declined by an operator', async () => {
    const [created, other] = [await createInProgress(), await driver.create()];
    await driver.waitForStatus(other.id, 'CONFIRMED');
    await addNotificationFault('lost-notice');
    const order = { endToEndId: created.endToEndId, outcome: 'SETTLED' } as const;
    const { executionId } = await driver.simulator.endOrder(order);
    const rename = (from: string | null, to: string | null) =>
      driver.query('update caudal.payout_executions set execution_id = $2 where execution_id = $1', [
        from,
        to,
      ]);
    const [own] = await driver.query<{ execution_id: string }>(
      'select execution_id from caudal.payouts where id = $1',
      [other.id],
    );
    await rename(own?.execution_id ?? '', executionId);
    await stack.shiftTime(61_000);
    await makePollDue(driver, created);
    await until('the anomaly is recorded', async () => (await driver.anomalies(created.id)).length > 0);
    const resolve = (option: string) =>
      driver.command('payouts', 'resolve', created.id, option, '--by', 'Laura', '--note', 'case 4711');
    await expect(resolve('--resend')).rejects.toThrow(/paid another payout.*--decline/);
    expect(await resolve('--decline')).toContain('DECLINED');
    expect((await driver.get(created.id)).status).toBe('DECLINED');
    await rename(executionId, own?.execution_id ?? '');
    await driver.query('update caudal.payouts set rail_task = null, rail_due_at = null where id = $1', [
      created.id,
    ]);
  });
});

describe('a rejection notification', () => {
  it('is verified by a poll and applied when the rail confirms it', async () => {
    const created = await createInProgress();
    const before = (await driver.simulator.stats()).calls.BRE_B['order-query'] ?? 0;
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'REJECTED', code: '4011' });
    expect(await driver.waitForStatus(created.id, 'DECLINED')).toMatchObject({
      errorCode: 'SUSPECTED_FRAUD',
    });
    expect(await driver.causes(created.id)).toEqual(['created', 'rejected_by_rail']);
    expect((await driver.simulator.stats()).calls.BRE_B['order-query']).toBeGreaterThan(before);
  });

  it('that the rail does not confirm changes nothing, and the later settlement applies', async () => {
    const created = await createInProgress();
    await notify(created.endToEndId, REJECTION);
    await driver.passProcessingWindow();
    expect((await driver.get(created.id)).status).toBe('PROCESSING');
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED' });
    await expectConfirmedOnce(created, 'settled_on_notification');
  });

  it('that arrives after a lost settlement leads to CONFIRMED, by the polled status', async () => {
    const created = await createInProgress();
    await addNotificationFault('lost-notice');
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED' });
    await notify(created.endToEndId, REJECTION);
    await expectConfirmedOnce(created, 'settled_on_poll');
    await driver.waitUntilIdle();
    expect((await driver.get(created.id)).status).toBe('CONFIRMED');
  });
});

describe('a final payout', () => {
  it('stays DECLINED when a settlement follows a rejection: suspense owes the money, with one anomaly', async () => {
    const created = await driver.create({ key: '@TESTDECLINED' });
    const declined = await driver.waitForStatus(created.id, 'DECLINED');
    const before = { ...(await driver.balance()), suspense: await driver.suspense() };
    await addNotificationFault('duplicate');
    const { executionId } = await driver.simulator.endOrder({
      endToEndId: created.endToEndId,
      outcome: 'SETTLED',
      anyway: true,
    });
    await until('the anomaly is recorded', async () => (await driver.anomalies(created.id)).length > 0);
    await driver.waitUntilIdle();
    expect(await driver.get(created.id)).toMatchObject({
      ...declined,
      anomalies: [{ kind: 'SENT_LATE', amountInCents: -Number(CENTS), resolution: null }],
    });
    expect(await driver.anomalies(created.id)).toMatchObject([
      { kind: 'sent_late', cents: `-${CENTS}`, execution_id: executionId },
    ]);
    const [anomaly] = await driver.anomalies(created.id);
    expect(await driver.transfers(anomaly?.id ?? '')).toEqual([`suspense → clearing_bre_b ${CENTS}`]);
    expect({ ...(await driver.balance()), suspense: await driver.suspense() }).toEqual({
      ...before,
      suspense: before.suspense - Number(CENTS),
    });
    expect(await driver.events(created.id)).toEqual(['payout.declined']);
  });

  it('is polled a last time, which finds a settlement after a rejection whose notification was lost', async () => {
    const created = await driver.create({ key: '@TESTDECLINED' });
    await driver.waitForStatus(created.id, 'DECLINED');
    await addNotificationFault('lost-notice');
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED', anyway: true });
    await stack.shiftTime(61_000);
    await until('the anomaly is recorded', async () => (await driver.anomalies(created.id)).length > 0);
    expect(await driver.anomalies(created.id)).toMatchObject([{ kind: 'sent_late', cents: `-${CENTS}` }]);
    expect((await driver.get(created.id)).status).toBe('DECLINED');
    const [row] = await driver.query('select rail_task, rail_due_at from caudal.payouts where id = $1', [
      created.id,
    ]);
    expect(row, 'no further poll is scheduled').toEqual({ rail_task: null, rail_due_at: null });
  });

  it('stays CONFIRMED when a rejection follows a settlement, with a contradiction anomaly without money', async () => {
    const created = await driver.create();
    const confirmed = await driver.waitForStatus(created.id, 'CONFIRMED');
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'REJECTED', anyway: true });
    await until('the anomaly is recorded', async () => (await driver.anomalies(created.id)).length > 0);
    await driver.waitUntilIdle();
    expect(await driver.get(created.id)).toMatchObject({
      ...confirmed,
      anomalies: [{ kind: 'CONTRADICTION', amount: null, resolution: null }],
    });
    expect(await driver.anomalies(created.id)).toMatchObject([{ kind: 'contradiction', cents: null }]);
    expect(await driver.transfers(created.id)).toHaveLength(2);
  });

  it('ignores a repeated settlement', async () => {
    const created = await driver.create();
    await driver.waitForStatus(created.id, 'CONFIRMED');
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED', anyway: true });
    await driver.waitUntilIdle();
    expect(await driver.anomalies(created.id)).toEqual([]);
    await expectConfirmedOnce(created, 'settled_on_notification');
  });

  it('stays CONFIRMED with an anomaly and no money when a notification names an execution the rail does not know', async () => {
    const created = await driver.create();
    await driver.waitForStatus(created.id, 'CONFIRMED');
    const executionId = randomUUID();
    await notify(created.endToEndId, { executionId });
    await driver.passProcessingWindow();
    expect(await driver.anomalies(created.id)).toMatchObject([
      { kind: 'unconfirmed', cents: null, execution_id: executionId },
    ]);
    await expectConfirmedOnce(created, 'settled_on_notification');
  });

  it('ignores a repeated rejection', async () => {
    const created = await driver.create({ key: '@TESTDECLINED' });
    await driver.waitForStatus(created.id, 'DECLINED');
    await notify(created.endToEndId, REJECTION);
    await driver.waitUntilIdle();
    expect(await driver.anomalies(created.id)).toEqual([]);
    expect(await driver.events(created.id)).toEqual(['payout.declined']);
  });
});

it('conflicting concurrent notifications of an order lead once to the outcome the rail reports', async () => {
  const created = await Promise.all(Array.from({ length: 12 }, () => createInProgress()));
  await Promise.all(
    created.map(async ({ endToEndId }, index) => {
      const outcome = index % 2 === 0 ? ('SETTLED' as const) : ('REJECTED' as const);
      await Promise.all([
        notify(endToEndId, REJECTION),
        driver.simulator.endOrder({ endToEndId, outcome }),
        notify(endToEndId, { amount: '7.00' }),
        notify(endToEndId, REJECTION),
      ]);
    }),
  );
  for (const [index, { id }] of created.entries())
    await driver.waitForStatus(id, index % 2 === 0 ? 'CONFIRMED' : 'DECLINED');
  await driver.passProcessingWindow();
  for (const [index, each] of created.entries()) {
    expect(await driver.events(each.id)).toEqual([index % 2 === 0 ? 'payout.confirmed' : 'payout.declined']);
    expect(await driver.executions(each)).toBe(index % 2 === 0 ? 1 : 0);
    expect((await driver.anomalies(each.id)).map(({ cents }) => cents)).not.toContainEqual(
      expect.any(String),
    );
  }
});
