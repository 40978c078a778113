import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PayinDriver, type PayinView, payer } from '../harness/payin-driver.ts';
import { brebPayin, psePayin } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

// Long enough that a slow machine does not make the last poll before the test's payment.
const PROCESSING_MS = 20 * 60_000;

let stack: Stack;
let driver: PayinDriver;
beforeAll(async () => {
  stack = await startStack({
    apis: 2,
    workers: 2,
    settings: {
      CAUDAL_WORKER_POLL_MS: '20',
      // Keeps the settlement schedule, which runs every minute, out of these tests.
      CAUDAL_SETTLEMENT_DELAY_MINUTES: '600',
      BREB_MAX_PROCESSING_MS: String(PROCESSING_MS),
    },
  });
  driver = new PayinDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

describe('magic document numbers decide the outcome within ten seconds', () => {
  /** Returns at once: the outcome must not come while the test waits for the rail. */
  async function create(body: Record<string, unknown>): Promise<string> {
    const answer = await stack.api.post<PayinView>('/payins', body);
    expect(answer.status).toBe(201);
    return answer.body.id;
  }

  it.each([
    ['1000000001', 'CONFIRMED', null, null],
    ['1000000003', 'DECLINED', 'RAIL_REJECTED', 'INSUFFICIENT_FUNDS'],
    ['1000000005', 'CANCELED', 'PAYER_CANCELED', 'PAYER_CANCELED'],
  ])('%s ends %s on both rails', async (idNumber, status, brebCode, pseCode) => {
    const [breb, pse] = await Promise.all([
      create(brebPayin(payer(idNumber))),
      create(psePayin(payer(idNumber))),
    ]);
    expect(await driver.waitForStatus(breb, status)).toMatchObject({ errorCode: brebCode });
    expect(await driver.waitForStatus(pse, status)).toMatchObject({ errorCode: pseCode });
  });
});

describe('a Bre-B payin', () => {
  it('is CONFIRMED when paid; history, event and transfer have the same timestamp', async () => {
    const { payin, key } = await driver.breb();
    const [execution] = await driver.simulator.pay({ key });
    const current = await driver.waitForStatus(payin.id, 'CONFIRMED');
    expect(current).toMatchObject({
      confirmedAmountInCents: payin.amountInCents,
      settlementStatus: 'PENDING_SETTLEMENT',
      errorCode: null,
    });
    expect(await driver.transfers(payin.id)).toEqual([
      { debit: 'clearing_bre_b', credit: 'pending', cents: String(payin.amountInCents) },
    ]);
    expect((await driver.events(payin.id)).map(({ event }) => event)).toEqual(['payin.confirmed']);
    const [facts] = await driver.query<{
      result_at: Date;
      history: Date;
      event: Date;
      transfer: Date;
      cause: string;
    }>(
      `select p.result_at, h.at as history, e.created_at as event, t.at as transfer, t.cause_id as cause from caudal.payins p
       join caudal.payin_history h on h.payin_id = p.id and h.to_status = 'CONFIRMED'
       join caudal.events e on e.resource_id = p.id join caudal.ledger_transfers t on t.resource_id = p.id where p.id = $1`,
      [payin.id],
    );
    expect(facts?.cause).toBe(`BRE_B:${execution?.executionId}`);
    expect(new Set([facts?.result_at, facts?.history, facts?.event, facts?.transfer].map(Number)).size).toBe(
      1,
    );
  });

  it('is closed when paid; a second payment in flight goes to suspense and raises an anomaly', async () => {
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key });
    await driver.waitForStatus(payin.id, 'CONFIRMED');
    await until('the key is closed', async () => (await driver.simulator.key(key))?.status === 'CLOSED');
    expect(await driver.simulator.pay({ key })).toMatchObject([{ code: '0004' }]);
    const [second] = await driver.simulator.pay({ key, amount: '10.00', anyway: true });
    await driver.waitUntilIdle();
    expect(await driver.get(payin.id)).toMatchObject({ confirmedAmountInCents: payin.amountInCents });
    expect(await driver.anomalies(payin.id)).toEqual([
      { kind: 'paid_again', cents: '1000', execution_id: second?.executionId },
    ]);
    expect(await driver.transfers(payin.id)).toHaveLength(2);
    expect(await driver.events(payin.id)).toHaveLength(1);
  });

  it('is closed at the rail on expiry and then CANCELED with EXPIRED', async () => {
    const { payin, key } = await driver.breb();
    await stack.shiftTime(61 * 60_000);
    expect(await driver.waitForStatus(payin.id, 'CANCELED')).toMatchObject({ errorCode: 'EXPIRED' });
    expect(await driver.simulator.key(key)).toMatchObject({ status: 'CLOSED' });
    expect((await driver.events(payin.id)).map(({ event }) => event)).toEqual(['payin.canceled']);
  });

  it('stays CANCELED when paid after closing; the money goes to suspense', async () => {
    const { payin, key } = await driver.breb();
    await stack.shiftTime(61 * 60_000);
    await driver.waitForStatus(payin.id, 'CANCELED');
    await driver.simulator.pay({ key, anyway: true });
    await driver.waitUntilIdle();
    expect((await driver.get(payin.id)).status).toBe('CANCELED');
    expect(await driver.anomalies(payin.id)).toMatchObject([
      { kind: 'paid_late', cents: String(payin.amountInCents) },
    ]);
    expect(await driver.transfers(payin.id)).toEqual([
      { debit: 'clearing_bre_b', credit: 'suspense', cents: String(payin.amountInCents) },
    ]);
  });
});

describe('a PSE payin', () => {
  it('is CONFIRMED when approved', async () => {
    const { payin, reference } = await driver.pse();
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    expect(await driver.waitForStatus(payin.id, 'CONFIRMED')).toMatchObject({
      confirmedAmountInCents: payin.amountInCents,
    });
    expect(await driver.transfers(payin.id)).toEqual([
      { debit: 'clearing_pse', credit: 'pending', cents: String(payin.amountInCents) },
    ]);
  });

  it('stays DECLINED when it is rejected and later paid; the money goes to suspense', async () => {
    const { payin, reference } = await driver.pse();
    await driver.simulator.endTransaction({ reference, state: 'NOT_AUTHORIZED', reason: '8' });
    expect(await driver.waitForStatus(payin.id, 'DECLINED')).toMatchObject({ errorCode: 'LIMIT_EXCEEDED' });
    await driver.simulator.endTransaction({ reference, state: 'OK', anyway: true });
    await driver.waitUntilIdle();
    expect((await driver.get(payin.id)).status).toBe('DECLINED');
    expect(await driver.anomalies(payin.id)).toMatchObject([{ kind: 'paid_late' }]);
  });
});

describe('the last status poll of a Bre-B key', () => {
  it.each([
    ['CONFIRMED', 'paid_again'],
    ['CANCELED', 'paid_late'],
  ])('finds a payment that arrived after %s and whose notification was lost', async (status, kind) => {
    const { payin, key } = await driver.breb();
    if (status === 'CONFIRMED') await driver.simulator.pay({ key });
    else await stack.shiftTime(61 * 60_000);
    await driver.waitForStatus(payin.id, status);
    await driver.waitUntilIdle();
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    await driver.simulator.pay({ key, amount: '33.00', anyway: true });
    await stack.shiftTime(PROCESSING_MS + 1000);
    await driver.waitUntilIdle();
    expect(await driver.anomalies(payin.id)).toMatchObject([{ kind, cents: '3300' }]);
    const [row] = await driver.query<{ rail_task: string | null }>(
      'select rail_task from caudal.payins where id = $1',
      [payin.id],
    );
    expect(row?.rail_task, 'no further poll is scheduled').toBeNull();
  });
});
