import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { uuidv7 } from '../../src/kit/ids.ts';
import { readResourceReference, resourceReference } from '../../src/kit/resource-reference.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../src/organizations/organization.ts';
import { type MadePayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const CENTS = '120050';

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
  await driver.booksAreWhole();
});

const strike = (
  fault:
    | 'duplicate'
    | 'lost-notice'
    | 'reorder'
    | 'wrong-amount'
    | 'unknown-id'
    | 'bad-signature'
    | 'lost-answer',
) => driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault, times: 1 });

/** A message that is signed as the rail's own, whatever the rail's books say. */
function tell(endToEndId: string, changes: object = {}): Promise<void> {
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
  const digits = createHmac('sha256', stack.settings['BREB_NOTICE_SECRET'] ?? '')
    .update(`${timestamp}.${body}`)
    .digest('hex');
  const answer = await fetch(`${stack.apis[0]?.url}/rail-notices/breb`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-notice-timestamp': timestamp,
      'x-notice-signature': `v1=${digits}`,
    },
    body,
  });
  expect(answer.status).toBe(200);
}
const REJECTION = { type: 'ORDER_REJECTED', executionId: null, code: '4010' };

/** At the rail, which does nothing about it by itself. */
async function waiting(): Promise<MadePayout> {
  const made = await driver.create({ key: '@TESTTIMEOUT' });
  await until('its answer is written down', async () => (await driver.attempts(made.id))[0]?.answer);
  return made;
}

async function confirmedOnce(made: MadePayout, cause: string): Promise<void> {
  await driver.reaches(made.id, 'CONFIRMED');
  expect(await driver.causes(made.id)).toEqual(['created', cause]);
  expect(await driver.events(made.id)).toEqual(['payout.confirmed']);
  expect(await driver.moves(made.id)).toHaveLength(2);
  expect(await driver.executions(made)).toBe(1);
}

describe('a notice of a settlement', () => {
  it.each(['duplicate', 'bad-signature', 'lost-answer'] as const)(
    'struck by "%s" confirms once, and nothing is odd about it',
    async (fault) => {
      await strike(fault);
      const made = await driver.create();
      await driver.reaches(made.id, 'CONFIRMED');
      await driver.quiet();
      await confirmedOnce(made, 'settled_on_notification');
      expect(await driver.anomalies(made.id)).toEqual([]);
    },
  );

  it('that is lost is not waited for longer than half a minute: the rail is asked', async () => {
    await strike('lost-notice');
    const made = await driver.create();
    await until('it is settled', async () => (await driver.executions(made)) === 1);
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    await stack.shiftTime(31_000);
    await confirmedOnce(made, 'settled_on_poll');
  });

  it('that is overtaken by a later one confirms its own payout all the same', async () => {
    await strike('reorder');
    const [first, second] = await Promise.all([driver.create(), driver.create()]);
    await confirmedOnce(first, 'settled_on_notification');
    await confirmedOnce(second, 'settled_on_notification');
    expect(await driver.anomalies(first.id)).toEqual([]);
  });

  it('over another amount is not believed: the rail is asked, and its answer confirms', async () => {
    await strike('wrong-amount');
    const made = await driver.create();
    await confirmedOnce(made, 'settled_on_poll');
    expect(await driver.moves(made.id)).toEqual([
      `available → held ${CENTS}`,
      `held → clearing_bre_b ${CENTS}`,
    ]);
    await driver.quiet();
    expect(await driver.anomalies(made.id)).toEqual([]);
  });

  it('of an order that nobody knows is an anomaly of the house without money, and the true one confirms', async () => {
    await strike('unknown-id');
    const made = await driver.create();
    await confirmedOnce(made, 'settled_on_notification');
    await driver.nothingMoreToHear();
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

  it('told a hundred times over is one settlement', async () => {
    const made = await waiting();
    const { executionId } = await driver.simulator.endOrder({
      endToEndId: made.endToEndId,
      outcome: 'SETTLED',
    });
    await Promise.all(Array.from({ length: 100 }, () => tell(made.endToEndId, { executionId })));
    await driver.reaches(made.id, 'CONFIRMED');
    await driver.quiet();
    await confirmedOnce(made, 'settled_on_notification');
    expect(await driver.anomalies(made.id)).toEqual([]);
  });

  it('that names a payout under the number of somebody else is about nobody', async () => {
    const made = await waiting();
    const [row] = await driver.query<{ number: number }>(
      'select number from caudal.organizations where id = $1',
      [OPERATOR_ORGANIZATION_ID],
    );
    expect(readResourceReference(made.endToEndId)?.organizationNumber).not.toBe(row?.number);
    const executionId = randomUUID();
    await tell(resourceReference(made.id, row?.number ?? 0), { executionId });
    await driver.nothingMoreToHear();
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    expect(
      await driver.query('select kind, payout_id from caudal.anomalies where execution_id = $1', [
        executionId,
      ]),
    ).toEqual([{ kind: 'unmatched', payout_id: null }]);
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED' });
    await confirmedOnce(made, 'settled_on_notification');
  });

  it('of a payout that never was, in the form of ours, is about nobody', async () => {
    const executionId = randomUUID();
    await tell(resourceReference(uuidv7(Date.now(), 1), 1), { executionId });
    await driver.nothingMoreToHear();
    expect(
      await driver.query('select kind, amount_in_cents from caudal.anomalies where execution_id = $1', [
        executionId,
      ]),
    ).toEqual([{ kind: 'unmatched', amount_in_cents: null }]);
  });
});

const confirmedAmong = (payouts: readonly MadePayout[]) =>
  driver.query<{ id: string }>(
    "select id from caudal.payouts where id = any ($1::uuid[]) and status = 'CONFIRMED'",
    [payouts.map(({ id }) => id)],
  );

describe('one execution id in the notifications of two payouts', () => {
  it('confirms one payout; the other stays open, is queried and raises an anomaly, and other notifications apply', async () => {
    const [one, other, bystander] = [await waiting(), await waiting(), await waiting()];
    const executionId = randomUUID();
    await send([
      settlement(one.endToEndId, { executionId }),
      settlement(other.endToEndId, { executionId }),
      settlement(bystander.endToEndId),
    ]);
    await driver.reaches(bystander.id, 'CONFIRMED');
    await driver.reaches(one.id, 'CONFIRMED');
    await driver.nothingMoreToHear();
    expect((await driver.get(other.id)).status).toBe('PROCESSING');
    expect(await driver.anomalies(other.id)).toMatchObject([
      { kind: 'unconfirmed', cents: null, execution_id: executionId },
    ]);
    await driver.simulator.endOrder({ endToEndId: other.endToEndId, outcome: 'SETTLED' });
    await confirmedOnce(other, 'settled_on_notification');
  });

  it('confirms one payout of each pair when two workers apply both notifications at the same time', async () => {
    const pairs = await Promise.all(
      Array.from({ length: 8 }, async () => Promise.all([waiting(), waiting()])),
    );
    await Promise.all(
      pairs.flatMap((pair) => {
        const executionId = randomUUID();
        return pair.map(({ endToEndId }) => tell(endToEndId, { executionId }));
      }),
    );
    await driver.nothingMoreToHear();
    for (const pair of pairs) expect(await confirmedAmong(pair)).toHaveLength(1);
  });

  it('is a contradiction when the rail itself reports it, and the payout is confirmed once the rail names another', async () => {
    const [made, other] = [await waiting(), await driver.create()];
    await driver.reaches(other.id, 'CONFIRMED');
    await strike('lost-notice');
    const { executionId } = await driver.simulator.endOrder({
      endToEndId: made.endToEndId,
      outcome: 'SETTLED',
    });
    // The simulator numbers its executions itself: the record of the other payout is made to hold this one's number.
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
    await stack.shiftTime(31_000);
    await until('it is noticed', async () => (await driver.anomalies(made.id)).length > 0);
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    expect(await driver.anomalies(made.id)).toMatchObject([
      { kind: 'contradiction', cents: null, execution_id: executionId },
    ]);
    await rename(executionId, own?.execution_id ?? '');
    await confirmedOnce(made, 'settled_on_poll');
  });
});

describe('a payout that the rail reports as settled by the execution of another payout', () => {
  it('is not sent again, and can be declined by an operator', async () => {
    const [made, other] = [await waiting(), await driver.create()];
    await driver.reaches(other.id, 'CONFIRMED');
    await strike('lost-notice');
    const order = { endToEndId: made.endToEndId, outcome: 'SETTLED' } as const;
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
    await until('it is noticed', async () => (await driver.anomalies(made.id)).length > 0);
    const resolve = (way: string) =>
      driver.command('payouts', 'resolve', made.id, way, '--by', 'Laura', '--note', 'case 4711');
    await expect(resolve('--resend')).rejects.toThrow(/paid another payout.*--decline/);
    expect(await resolve('--decline')).toContain('DECLINED');
    expect((await driver.get(made.id)).status).toBe('DECLINED');
    await rename(executionId, own?.execution_id ?? '');
    await driver.query('update caudal.payouts set rail_task = null, rail_due_at = null where id = $1', [
      made.id,
    ]);
  });
});

describe('a notice of a rejection', () => {
  it('is asked about first, and believed when the rail stands by it', async () => {
    const made = await waiting();
    const before = (await driver.simulator.stats()).calls.BRE_B['order-query'] ?? 0;
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'REJECTED', code: '4011' });
    expect(await driver.reaches(made.id, 'DECLINED')).toMatchObject({ errorCode: 'SUSPECTED_FRAUD' });
    expect(await driver.causes(made.id)).toEqual(['created', 'rejected_by_rail']);
    expect((await driver.simulator.stats()).calls.BRE_B['order-query']).toBeGreaterThan(before);
  });

  it('that the rail does not stand by changes nothing, and the settlement that follows counts', async () => {
    const made = await waiting();
    await tell(made.endToEndId, REJECTION);
    await driver.nothingMoreToHear();
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED' });
    await confirmedOnce(made, 'settled_on_notification');
  });

  it('that overtook a lost settlement confirms it, by what the rail answers', async () => {
    const made = await waiting();
    await strike('lost-notice');
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED' });
    await tell(made.endToEndId, REJECTION);
    await confirmedOnce(made, 'settled_on_poll');
    await driver.quiet();
    expect((await driver.get(made.id)).status).toBe('CONFIRMED');
  });
});

describe('what is final absorbs', () => {
  it('a settlement after a rejection: DECLINED stays, suspense owes the money, and an anomaly tells of it once', async () => {
    const made = await driver.create({ key: '@TESTDECLINED' });
    const declined = await driver.reaches(made.id, 'DECLINED');
    const before = { ...(await driver.balance()), suspense: await driver.suspense() };
    await strike('duplicate');
    const { executionId } = await driver.simulator.endOrder({
      endToEndId: made.endToEndId,
      outcome: 'SETTLED',
      anyway: true,
    });
    await until('it is noticed', async () => (await driver.anomalies(made.id)).length > 0);
    await driver.quiet();
    expect(await driver.get(made.id)).toMatchObject({
      ...declined,
      anomalies: [{ kind: 'SENT_LATE', amountInCents: -Number(CENTS), resolution: null }],
    });
    expect(await driver.anomalies(made.id)).toMatchObject([
      { kind: 'sent_late', cents: `-${CENTS}`, execution_id: executionId },
    ]);
    const [anomaly] = await driver.anomalies(made.id);
    expect(await driver.moves(anomaly?.id ?? '')).toEqual([`suspense → clearing_bre_b ${CENTS}`]);
    expect({ ...(await driver.balance()), suspense: await driver.suspense() }).toEqual({
      ...before,
      suspense: before.suspense - Number(CENTS),
    });
    expect(await driver.events(made.id)).toEqual(['payout.declined']);
  });

  it('a settlement after a rejection of which no notice ever came is found by the last question', async () => {
    const made = await driver.create({ key: '@TESTDECLINED' });
    await driver.reaches(made.id, 'DECLINED');
    await strike('lost-notice');
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED', anyway: true });
    await stack.shiftTime(61_000);
    await until('it is noticed', async () => (await driver.anomalies(made.id)).length > 0);
    expect(await driver.anomalies(made.id)).toMatchObject([{ kind: 'sent_late', cents: `-${CENTS}` }]);
    expect((await driver.get(made.id)).status).toBe('DECLINED');
    const [row] = await driver.query('select rail_task, rail_due_at from caudal.payouts where id = $1', [
      made.id,
    ]);
    expect(row, 'and was the last').toEqual({ rail_task: null, rail_due_at: null });
  });

  it('a rejection after a settlement: CONFIRMED stays, and it is a contradiction without money', async () => {
    const made = await driver.create();
    const confirmed = await driver.reaches(made.id, 'CONFIRMED');
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'REJECTED', anyway: true });
    await until('it is noticed', async () => (await driver.anomalies(made.id)).length > 0);
    await driver.quiet();
    expect(await driver.get(made.id)).toMatchObject({
      ...confirmed,
      anomalies: [{ kind: 'CONTRADICTION', amount: null, resolution: null }],
    });
    expect(await driver.anomalies(made.id)).toMatchObject([{ kind: 'contradiction', cents: null }]);
    expect(await driver.moves(made.id)).toHaveLength(2);
  });

  it('the same settlement said again: nothing new in it', async () => {
    const made = await driver.create();
    await driver.reaches(made.id, 'CONFIRMED');
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED', anyway: true });
    await driver.quiet();
    expect(await driver.anomalies(made.id)).toEqual([]);
    await confirmedOnce(made, 'settled_on_notification');
  });

  it('another execution of what was confirmed, of which the rail knows nothing: told, and no money moves', async () => {
    const made = await driver.create();
    await driver.reaches(made.id, 'CONFIRMED');
    const executionId = randomUUID();
    await tell(made.endToEndId, { executionId });
    await driver.nothingMoreToHear();
    expect(await driver.anomalies(made.id)).toMatchObject([
      { kind: 'unconfirmed', cents: null, execution_id: executionId },
    ]);
    await confirmedOnce(made, 'settled_on_notification');
  });

  it('a rejection of what was declined: nothing new in it', async () => {
    const made = await driver.create({ key: '@TESTDECLINED' });
    await driver.reaches(made.id, 'DECLINED');
    await tell(made.endToEndId, REJECTION);
    await driver.quiet();
    expect(await driver.anomalies(made.id)).toEqual([]);
    expect(await driver.events(made.id)).toEqual(['payout.declined']);
  });
});

it('an order in whose name a lot is said at once, in every order, ends as the rail says and once', async () => {
  const made = await Promise.all(Array.from({ length: 12 }, () => waiting()));
  await Promise.all(
    made.map(async ({ endToEndId }, index) => {
      const outcome = index % 2 === 0 ? ('SETTLED' as const) : ('REJECTED' as const);
      await Promise.all([
        tell(endToEndId, REJECTION),
        driver.simulator.endOrder({ endToEndId, outcome }),
        tell(endToEndId, { amount: '7.00' }),
        tell(endToEndId, REJECTION),
      ]);
    }),
  );
  for (const [index, { id }] of made.entries())
    await driver.reaches(id, index % 2 === 0 ? 'CONFIRMED' : 'DECLINED');
  await driver.nothingMoreToHear();
  for (const [index, each] of made.entries()) {
    expect(await driver.events(each.id)).toEqual([index % 2 === 0 ? 'payout.confirmed' : 'payout.declined']);
    expect(await driver.executions(each)).toBe(index % 2 === 0 ? 1 : 0);
    expect((await driver.anomalies(each.id)).map(({ cents }) => cents)).not.toContainEqual(
      expect.any(String),
    );
  }
});
