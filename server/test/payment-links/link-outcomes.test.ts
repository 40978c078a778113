import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutDriver, LINK_AMOUNT, type LinkBody, PAYER_DETAILS } from '../harness/checkout-driver.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { readPseReference } from '../harness/pse-reference.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const MINUTE = 60_000;
const FULL = String(LINK_AMOUNT);

let stack: Stack;
let driver: CheckoutDriver;
beforeAll(async () => {
  stack = await startStack({
    apis: 2,
    workers: 2,
    // Keeps the settlement schedule, which runs every minute, out of these tests.
    settings: { CAUDAL_WORKER_POLL_MS: '20', CAUDAL_SETTLEMENT_DELAY_MINUTES: '600' },
  });
  driver = new CheckoutDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});
afterEach(() => driver.checkInvariants());

async function readEventNames(link: LinkBody): Promise<string[]> {
  return (await driver.events(link.paymentLinkId)).map(({ event }) => event);
}

describe('a link that is paid', () => {
  it('on Bre-B is COMPLETED with its payin, event and transfer in one transaction', async () => {
    const link = await driver.link();
    const { key, payin, payer } = await driver.breb(link);
    expect(payin).toMatchObject({
      status: 'PROCESSING',
      rail: 'BRE_B',
      amountInCents: LINK_AMOUNT,
      paymentLinkId: link.paymentLinkId,
      reference: (await driver.get(link)).reference,
      inlineCustomer: null,
      sourceData: { keyType: 'QR_CODE', keyString: key },
    });
    await driver.simulator.pay({ key });
    const completed = await driver.waitForStatus(link, 'COMPLETED');
    const confirmed = await driver.outcomes.get(payin.id);
    expect(confirmed).toMatchObject({
      status: 'CONFIRMED',
      confirmedAmountInCents: LINK_AMOUNT,
      settlementStatus: 'PENDING_SETTLEMENT',
    });
    expect(completed).toMatchObject({ payinId: payin.id, completedAt: confirmed.resultAt });
    expect(await driver.outcomes.transfers(payin.id)).toEqual([
      { debit: 'clearing_bre_b', credit: 'pending', cents: FULL },
    ]);
    const transactions = await stack.database.query<{ xmin: string }>(
      `select xmin::text from caudal.payment_links where id = $1
       union select xmin::text from caudal.final_events where resource_id = $1
       union select xmin::text from caudal.payin_history where payin_id = $2 and to_status = 'CONFIRMED'
       union select xmin::text from caudal.ledger_transfers where resource_id = $2`,
      [link.paymentLinkId, payin.id],
    );
    expect(transactions).toHaveLength(1);
    expect((await payer.open(link.paymentLinkUrl)).h1).toBe('Pago recibido');
    expect((await new PayerBrowser().open(link.paymentLinkUrl)).h1).toBe('Este pago ya fue realizado');
  });

  it('emits paymentlink.completed with the documented fields in order', async () => {
    const link = await driver.link();
    const { key } = await driver.breb(link);
    await driver.simulator.pay({ key });
    const { reference, completedAt } = await driver.waitForStatus(link, 'COMPLETED');
    const [event, ...more] = await driver.events(link.paymentLinkId);
    expect(more).toEqual([]);
    expect(Object.keys(event ?? {})).toEqual(['id', 'event', 'resource', 'createdAt', 'data']);
    expect(event).toMatchObject({
      event: 'paymentlink.completed',
      resource: 'paymentlink',
      createdAt: completedAt,
    });
    expect(Object.entries(event?.data ?? {})).toEqual(
      Object.entries({
        paymentLinkId: link.paymentLinkId,
        reference,
        amount: LINK_AMOUNT / 100,
        currency: 'COP',
        status: 'COMPLETED',
        createdAt: link.createdAt,
        updatedAt: completedAt,
        expiresAt: null,
        completedAt,
        metadata: {},
      }),
    );
  });

  it('on PSE after a declined attempt is COMPLETED by the second one', async () => {
    const link = await driver.link();
    const { payer, payin: first, reference } = await driver.pse(link);
    await driver.simulator.endTransaction({ reference, state: 'NOT_AUTHORIZED', reason: '8' });
    await driver.outcomes.waitForStatus(first.id, 'DECLINED');
    expect((await driver.get(link)).status).toBe('PENDING');
    const declinedPage = await payer.open(link.paymentLinkUrl);
    expect(declinedPage.h1).toBe('El valor está fuera de los límites');
    expect(declinedPage.text).toContain('El valor supera el límite de su banco');
    expect(declinedPage.text).toContain('No se hizo ningún cobro.');
    const bank = await payer.click(declinedPage, 'Intentar de nuevo');
    expect(bank.h1).toBe('Elija su banco');
    await payer.submit(await payer.submit(bank, { bank: 'CO_NEQUI' }), PAYER_DETAILS);
    const second = await driver.latestAttempt(link);
    expect(second.id).not.toBe(first.id);
    expect(second.sourceData.bank).toBe('CO_NEQUI');
    const again = await until('the second attempt is at its bank', async () => {
      const [transaction] = await stack.database.query<{ pse_url: string }>(
        'select pse_url from caudal.payins where id = $1 and pse_url is not null',
        [second.id],
      );
      return transaction;
    });
    expect(again.pse_url).toContain(stack.simulatorUrl);
    await driver.simulator.endTransaction({
      reference: await readPseReference(stack.database, second.id),
      state: 'OK',
    });
    expect(await driver.waitForStatus(link, 'COMPLETED')).toMatchObject({ payinId: second.id });
    expect(await driver.outcomes.get(first.id)).toMatchObject({ status: 'DECLINED' });
    expect(await readEventNames(link)).toEqual(['paymentlink.completed']);
  });
});

describe('a payment with another amount', () => {
  it('below the amount: the attempt is DECLINED with UNDERPAID, and the next one asks for the rest', async () => {
    const link = await driver.link();
    const { key, payin, payer } = await driver.breb(link);
    await driver.simulator.pay({ key, amount: '30000.00' });
    expect(await driver.outcomes.waitForStatus(payin.id, 'DECLINED')).toMatchObject({
      confirmedAmountInCents: 3_000_000,
      settlementStatus: null,
      errorCode: 'UNDERPAID',
    });
    expect(await driver.outcomes.transfers(payin.id)).toEqual([
      { debit: 'clearing_bre_b', credit: 'suspense', cents: '3000000' },
    ]);
    expect(await driver.outcomes.anomalies(payin.id)).toEqual([]);
    expect(await driver.get(link)).toMatchObject({
      status: 'PENDING',
      payinId: null,
      completedAt: null,
      paidAmount: 30_000,
      paidAmountInCents: 3_000_000,
    });
    expect(await readEventNames(link)).toEqual([]);
    const page = await payer.open(link.paymentLinkUrl);
    expect(page.h1).toBe('Recibimos $ 30.000 de $ 49.800');
    await driver.checkLedger();

    const next = await payer.post(`${link.paymentLinkUrl}/begin`, { ...PAYER_DETAILS, method: 'BRE_B' });
    expect(next.brebKey).not.toBe(key);
    const second = await driver.latestAttempt(link);
    expect(second).toMatchObject({ amountInCents: 1_980_000, sourceData: { keyString: next.brebKey } });
    await until('the key is registered', async () => (await driver.simulator.key(next.brebKey)) !== null);
    await driver.simulator.pay({ key: next.brebKey });
    expect(await driver.waitForStatus(link, 'COMPLETED')).toMatchObject({
      payinId: second.id,
      paidAmountInCents: LINK_AMOUNT,
    });
    expect(await driver.outcomes.get(second.id)).toMatchObject({
      status: 'CONFIRMED',
      confirmedAmountInCents: 1_980_000,
      settlementStatus: 'PENDING_SETTLEMENT',
    });
    // The earlier part becomes the merchant's in the transaction that completes the link.
    expect(await driver.outcomes.transfers(second.id)).toEqual([
      { debit: 'suspense', credit: 'pending', cents: '3000000' },
      { debit: 'clearing_bre_b', credit: 'pending', cents: '1980000' },
    ]);
    expect(await readEventNames(link)).toEqual(['paymentlink.completed']);
  });

  it('in three parts: COMPLETED by the last one, with the excess in suspense', async () => {
    const link = await driver.link();
    const { key, payer } = await driver.breb(link);
    let next = key;
    for (const amount of ['10000.00', '20000.00']) {
      const { id } = await driver.latestAttempt(link);
      await driver.simulator.pay({ key: next, amount });
      await driver.outcomes.waitForStatus(id, 'DECLINED');
      next = (await payer.post(`${link.paymentLinkUrl}/begin`, { ...PAYER_DETAILS, method: 'BRE_B' }))
        .brebKey;
      await until('the key is registered', async () => (await driver.simulator.key(next)) !== null);
    }
    await driver.simulator.pay({ key: next, amount: '20000.00' });
    const { payinId } = await driver.waitForStatus(link, 'COMPLETED');
    expect(await driver.attempts(link)).toHaveLength(3);
    expect(await driver.outcomes.get(payinId ?? '')).toMatchObject({
      amountInCents: 1_980_000,
      confirmedAmountInCents: 1_980_000,
    });
    expect((await driver.outcomes.anomalies(payinId ?? '')).map(({ kind, cents }) => [kind, cents])).toEqual([
      ['overpaid', '20000'],
    ]);
  });

  it('below the amount only: the link expires, and each part becomes an anomaly that can be accepted', async () => {
    const link = await driver.link();
    const { key, payin } = await driver.breb(link);
    const [execution] = await driver.simulator.pay({ key, amount: '0.01' });
    await driver.outcomes.waitForStatus(payin.id, 'DECLINED');
    await stack.shiftTime(61 * MINUTE);
    expect(await driver.waitForStatus(link, 'EXPIRED')).toMatchObject({
      payinId: null,
      paidAmountInCents: 1,
    });
    expect(await driver.outcomes.get(payin.id)).toMatchObject({ status: 'DECLINED', settlementStatus: null });
    expect(await readEventNames(link)).toEqual(['paymentlink.expired']);
    expect(await driver.outcomes.anomalies(payin.id)).toEqual([
      { kind: 'underpaid', cents: '1', execution_id: execution?.executionId },
    ]);
    const { body } = await stack.api.get<{ anomalies: { id: string }[] }>(`/payins/${payin.id}`);
    const accepted = await stack.api.post(
      `/payins/${payin.id}/anomalies/${body.anomalies[0]?.id}/accept`,
      {},
    );
    expect(accepted.status).toBe(201);
    await until('the part is credited', async () => {
      const { body } = await stack.api.get<{ availableInCents: number }>('/balance');
      return body.availableInCents % 100 === 1;
    });
  });

  it('above the amount: COMPLETED, with the excess in suspense', async () => {
    const link = await driver.link();
    const { key, payin } = await driver.breb(link);
    const [execution] = await driver.simulator.pay({ key, amount: '50000.00' });
    expect(await driver.waitForStatus(link, 'COMPLETED')).toMatchObject({ payinId: payin.id });
    expect(await driver.outcomes.get(payin.id)).toMatchObject({
      status: 'CONFIRMED',
      amountInCents: LINK_AMOUNT,
      confirmedAmountInCents: LINK_AMOUNT,
      settlementStatus: 'PENDING_SETTLEMENT',
    });
    expect(await driver.outcomes.transfers(payin.id)).toEqual([
      { debit: 'clearing_bre_b', credit: 'pending', cents: FULL },
      { debit: 'clearing_bre_b', credit: 'suspense', cents: '20000' },
    ]);
    expect(await driver.outcomes.anomalies(payin.id)).toEqual([
      { kind: 'overpaid', cents: '20000', execution_id: execution?.executionId },
    ]);
    const [event] = await driver.events(link.paymentLinkId);
    expect(event?.data['amount']).toBe(LINK_AMOUNT / 100);
  });

  it('that is made twice: the second one goes to suspense without an event', async () => {
    const link = await driver.link();
    const { key, payin } = await driver.breb(link);
    await driver.simulator.pay({ key });
    const completed = await driver.waitForStatus(link, 'COMPLETED');
    const [second] = await driver.simulator.pay({ key, anyway: true });
    await until(
      'the anomaly is recorded',
      async () => (await driver.outcomes.anomalies(payin.id)).length > 0,
    );
    expect(await driver.outcomes.anomalies(payin.id)).toEqual([
      { kind: 'paid_again', cents: FULL, execution_id: second?.executionId },
    ]);
    expect((await driver.outcomes.transfers(payin.id)).map(({ credit }) => credit)).toEqual([
      'pending',
      'suspense',
    ]);
    expect(await driver.get(link)).toEqual(completed);
    expect(await readEventNames(link)).toEqual(['paymentlink.completed']);
  });
});

describe('the expiry of a link', () => {
  it('does not depend on its key, which expires after 15 minutes and can be replaced', async () => {
    const link = await driver.link();
    const { key, payin, payer } = await driver.breb(link);
    expect(Date.parse(payin.expiresAt) - Date.parse(payin.createdAt)).toBe(15 * MINUTE);
    await stack.shiftTime(15 * MINUTE + 1000);
    await driver.outcomes.waitForStatus(payin.id, 'CANCELED');
    expect(await driver.simulator.key(key)).toMatchObject({ status: 'CLOSED' });
    const page = await payer.open(link.paymentLinkUrl);
    expect(page.h1).toBe('La llave venció');
    const start = await payer.click(page, 'Generar una llave nueva');
    const fresh = await payer.submit(start);
    expect(fresh.brebKey).not.toBe(key);
    await until('the key is registered', async () => (await driver.simulator.key(fresh.brebKey)) !== null);
    await driver.simulator.pay({ key: fresh.brebKey });
    await driver.waitForStatus(link, 'COMPLETED');
  });

  it('with an open key: the key expires with the link and is closed, then EXPIRED', async () => {
    const link = await driver.link();
    await stack.shiftTime(50 * MINUTE);
    const { key, payin, payer } = await driver.breb(link);
    expect(payin.expiresAt).toBe(link.expiresAt);
    await stack.shiftTime(10 * MINUTE + 1000);
    const expired = await driver.waitForStatus(link, 'EXPIRED');
    expect(await driver.simulator.key(key)).toMatchObject({ status: 'CLOSED' });
    expect(await driver.outcomes.get(payin.id)).toMatchObject({ status: 'CANCELED', errorCode: 'EXPIRED' });
    expect((await payer.open(link.paymentLinkUrl)).h1).toBe('Este link de pago venció');
    const [event, ...more] = await driver.events(link.paymentLinkId);
    expect(more).toEqual([]);
    const updatedAt = event?.data['updatedAt'];
    expect(Object.entries(event?.data ?? {})).toEqual(
      Object.entries({
        paymentLinkId: link.paymentLinkId,
        reference: expired.reference,
        amount: LINK_AMOUNT / 100,
        currency: 'COP',
        status: 'EXPIRED',
        createdAt: link.createdAt,
        updatedAt,
        expiresAt: link.expiresAt,
        completedAt: null,
        metadata: {},
      }),
    );
    expect(event).toMatchObject({ event: 'paymentlink.expired', createdAt: updatedAt });
    expect(Date.parse(String(updatedAt))).toBeGreaterThanOrEqual(Date.parse(link.expiresAt ?? ''));

    // A late payment to the closed key: suspense and an anomaly, no event, still EXPIRED.
    await driver.simulator.pay({ key, anyway: true });
    await until(
      'the anomaly is recorded',
      async () => (await driver.outcomes.anomalies(payin.id)).length > 0,
    );
    expect(await driver.outcomes.anomalies(payin.id)).toMatchObject([{ kind: 'paid_late', cents: FULL }]);
    expect(await driver.outcomes.transfers(payin.id)).toEqual([
      { debit: 'clearing_bre_b', credit: 'suspense', cents: FULL },
    ]);
    expect(await driver.get(link)).toEqual(expired);
    expect(await readEventNames(link)).toEqual(['paymentlink.expired']);
  });

  it('after a payment in the last minutes whose notification is lost: COMPLETED', async () => {
    const link = await driver.link();
    await stack.shiftTime(55 * MINUTE);
    const { key } = await driver.breb(link);
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    await driver.simulator.pay({ key });
    expect((await driver.get(link)).status).toBe('PENDING');
    await stack.shiftTime(5 * MINUTE + 1000);
    await driver.waitForStatus(link, 'COMPLETED');
    expect(await readEventNames(link)).toEqual(['paymentlink.completed']);
  });

  it('with a payer at the bank: stays open, and COMPLETED when the bank confirms', async () => {
    const link = await driver.link();
    await stack.shiftTime(58 * MINUTE);
    const { reference, payer } = await driver.pse(link);
    await stack.shiftTime(5 * MINUTE);
    // Another link expires in the same hour, so the expiry job has run.
    const otherLink = await driver.link();
    await driver.close(otherLink);
    await driver.waitForStatus(otherLink, 'EXPIRED');
    expect((await driver.get(link)).status).toBe('PENDING');
    expect((await payer.open(link.paymentLinkUrl)).h1).toBe('¿Alcanzó a autorizar el pago en Bancolombia?');
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    await driver.waitForStatus(link, 'COMPLETED');
    expect(await readEventNames(link)).toEqual(['paymentlink.completed']);
    await stack.shiftTime(60 * MINUTE);
    const late = await driver.link();
    await driver.close(late);
    await driver.waitForStatus(late, 'EXPIRED');
    expect(await readEventNames(link)).toEqual(['paymentlink.completed']);
  });

  it('with a payer at the bank who never returns: EXPIRED once the bank cancels', async () => {
    const link = await driver.link();
    await stack.shiftTime(58 * MINUTE);
    const { payin } = await driver.pse(link);
    await stack.shiftTime(11 * MINUTE);
    await driver.outcomes.waitForStatus(payin.id, 'CANCELED');
    await driver.waitForStatus(link, 'EXPIRED');
    expect(await readEventNames(link)).toEqual(['paymentlink.expired']);
  });
});

describe('settlement', () => {
  it('makes exactly the amount of every completed link available', async () => {
    await stack.shiftTime(601 * MINUTE);
    const run = await runOperatorCommand(stack.settings, 'schedules', 'run', 'settlement');
    expect(run).toMatchObject({ code: 0 });
    // Workers run the schedule too.
    const sums = await until('all payins are settled', async () => {
      const [row] = await stack.database.query<{ completed: number; settled: string; open: number }>(
        `select (select count(*)::int from caudal.payment_links where status = 'COMPLETED') as completed,
         (select sum(amount_in_cents)::text from caudal.settlements) as settled,
         (select count(*)::int from caudal.payins where settlement_status = 'PENDING_SETTLEMENT') as open`,
      );
      return row?.open === 0 ? row : null;
    });
    expect(sums.completed).toBeGreaterThan(5);
    expect(sums.settled).toBe(String(sums.completed * LINK_AMOUNT));
    const { body } = await stack.api.get('/balance');
    // The merchant accepted one cent of an expired link.
    expect(body).toMatchObject({ availableInCents: sums.completed * LINK_AMOUNT + 1 });
  });
});
