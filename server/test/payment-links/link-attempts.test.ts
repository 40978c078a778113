import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutDriver, LINK_AMOUNT, PAYER_DETAILS } from '../harness/checkout-driver.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { CUSTOMER } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: CheckoutDriver;
beforeAll(async () => {
  stack = await startStack({
    apis: 2,
    workers: 2,
    settings: { CAUDAL_WORKER_POLL_MS: '20', CAUDAL_SETTLEMENT_DELAY_MINUTES: '600' },
  });
  driver = new CheckoutDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});
afterEach(() => driver.checkInvariants());

describe('attempts of a payment link', () => {
  it('started fifty times concurrently over two processes are one, and everyone sees the same key', async () => {
    const link = await driver.link();
    const before = await driver.simulator.stats();
    const urls = stack.apis.map(({ url }) => url + new URL(link.paymentLinkUrl).pathname);
    const pages = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        new PayerBrowser().post(`${urls[index % 2]}/begin`, { ...PAYER_DETAILS, method: 'BRE_B' }),
      ),
    );
    const busy = pages.filter(({ status }) => status === 429);
    const others = pages.filter(({ status }) => status === 200);
    // Each process allows twenty attempts per link.
    expect([busy.length, others.length]).toEqual([10, 40]);
    expect(new Set(others.map(({ brebKey: key }) => key)).size).toBe(1);
    expect(await driver.attempts(link)).toHaveLength(1);
    const [key = ''] = others.map((page) => page.brebKey);
    await until('the key is registered', async () => (await driver.simulator.key(key)) !== null);
    const { keys } = await driver.simulator.stats();
    expect(keys.registered - before.keys.registered).toBe(1);
    await driver.simulator.pay({ key });
    await driver.waitForStatus(link, 'COMPLETED');
  });

  it('are not started by fetching the page a hundred times, as chat apps do', async () => {
    const link = await driver.link();
    const prefilled = await driver.link({ rail: 'BRE_B', inlineCustomer: CUSTOMER });
    const counts = () =>
      stack.database.query(
        `select (select count(*)::int from caudal.payins) as payins, (select count(*)::int from caudal.payin_history) as history,
           (select count(*)::int from caudal.breb_keys) as keys, (select count(*)::int from caudal.events) as events,
           (select count(*)::int from caudal.payer_authorizations) as authorizations,
           (select count(*)::int from caudal.payment_links where num_nonnulls(open_breb_payin_id, open_pse_payin_id) > 0) as open`,
      );
    const [before, rails] = [await counts(), await driver.simulator.stats()];
    const payer = new PayerBrowser();
    const bank = 'm=PSE&bank=CO_NEQUI&personType=INDIVIDUAL';
    for (const url of [link.paymentLinkUrl, prefilled.paymentLinkUrl])
      for (const search of ['', '?m=BRE_B', `?${bank}`, '?go=1', '?again=1'])
        await Promise.all(Array.from({ length: 10 }, () => payer.open(url + search)));
    expect((await fetch(link.paymentLinkUrl, { method: 'HEAD' })).status).toBe(200);
    expect((await payer.open(`${link.paymentLinkUrl}/live?once`)).status).toBe(404);
    // A form target that a browser opens again leads to the page.
    expect((await payer.open(`${link.paymentLinkUrl}/begin?method=BRE_B`)).h1).toBe('¿Cómo quiere pagar?');
    expect(await counts()).toEqual(before);
    const after = await driver.simulator.stats();
    expect(after.keys).toEqual(rails.keys);
    expect(after.transactions).toBe(rails.transactions);
  });

  it('close the payer’s key at the rail when they choose another method', async () => {
    const link = await driver.link();
    const { key, payin, payer, page } = await driver.breb(link);
    expect(page.form.action).toBe(`${link.paymentLinkUrl}/change`);
    const fault = await driver.simulator.addFault({ rail: 'BRE_B', operation: 'close', fault: 'down' });
    // PSE can be used at once; Bre-B only after the rail has closed the key.
    expect((await payer.submit(page)).h1).toBe('Elija su banco');
    await until('the close was attempted', async () => (await driver.simulator.timesApplied(fault)) > 0);
    const forced = await payer.post(`${link.paymentLinkUrl}/begin`, { method: 'BRE_B' });
    expect([forced.h1, forced.autoRefreshes]).toEqual(['Un momento…', true]);
    expect(await driver.attempts(link)).toHaveLength(1);
    await driver.simulator.removeFault(fault);
    await driver.outcomes.waitForStatus(payin.id, 'CANCELED');
    expect((await payer.open(`${link.paymentLinkUrl}?again=1`)).h1).toBe('¿Cómo quiere pagar?');
    expect(await driver.simulator.key(key)).toMatchObject({ status: 'CLOSED' });
    expect(await driver.outcomes.get(payin.id)).toMatchObject({ status: 'CANCELED' });
    const { reference, payin: second } = await driver.pse(link, new PayerBrowser());
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    expect(await driver.waitForStatus(link, 'COMPLETED')).toMatchObject({ payinId: second.id });
    // A payment to the old key goes to suspense, without an event.
    await driver.simulator.pay({ key, anyway: true });
    await driver.outcomes.waitUntilIdle();
    expect(await driver.outcomes.anomalies(payin.id)).toMatchObject([
      { kind: 'paid_late', cents: String(LINK_AMOUNT) },
    ]);
    expect(await driver.events(link.paymentLinkId)).toMatchObject([{ event: 'paymentlink.completed' }]);
  });

  it('on Bre-B may run beside one at the bank; the first payment completes the link, the second is an anomaly', async () => {
    const link = await driver.link();
    const { payer, payin: pse, reference } = await driver.pse(link);
    const page = await payer.open(link.paymentLinkUrl);
    expect(page.h1).toBe('¿Alcanzó a autorizar el pago en Bancolombia?');
    const { brebKey: key } = await payer.post(`${link.paymentLinkUrl}/begin`, {
      ...PAYER_DETAILS,
      method: 'BRE_B',
    });
    const [breb] = await driver.attempts(link);
    expect(breb).toMatchObject({ rail: 'BRE_B', amountInCents: LINK_AMOUNT });
    // At most one attempt per rail.
    await payer.post(`${link.paymentLinkUrl}/begin`, {
      ...PAYER_DETAILS,
      method: 'PSE',
      bank: 'CO_NEQUI',
      personType: 'INDIVIDUAL',
    });
    expect(await driver.attempts(link)).toHaveLength(2);
    await until('the key is registered', async () => (await driver.simulator.key(key)) !== null);
    await driver.simulator.pay({ key });
    expect(await driver.waitForStatus(link, 'COMPLETED')).toMatchObject({ payinId: breb?.id });
    expect((await payer.open(link.paymentLinkUrl)).h1).toBe('Pago recibido');
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    await until(
      'the second payment is an anomaly',
      async () => (await driver.outcomes.anomalies(pse.id)).length > 0,
    );
    expect(await driver.outcomes.anomalies(pse.id)).toMatchObject([
      { kind: 'paid_again', cents: String(LINK_AMOUNT) },
    ]);
    expect(await driver.get(link)).toMatchObject({ payinId: breb?.id, paidAmountInCents: LINK_AMOUNT });
    const after = await payer.open(link.paymentLinkUrl);
    expect(after.h1).toBe('Pago recibido');
    expect(after.text).toContain('Recibimos otro pago de $ 49.800.');
    expect(await driver.events(link.paymentLinkId)).toMatchObject([{ event: 'paymentlink.completed' }]);
  });

  it('on Bre-B are closed at the rail when the attempt at the bank is paid first', async () => {
    const link = await driver.link();
    const { payer, payin: pse, reference } = await driver.pse(link);
    const { brebKey: key } = await payer.post(`${link.paymentLinkUrl}/begin`, {
      ...PAYER_DETAILS,
      method: 'BRE_B',
    });
    await until('the key is registered', async () => (await driver.simulator.key(key)) !== null);
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    expect(await driver.waitForStatus(link, 'COMPLETED')).toMatchObject({ payinId: pse.id });
    await until('the key is closed', async () => (await driver.simulator.key(key))?.status === 'CLOSED');
  });

  it('do not get the bank page of another browser', async () => {
    const link = await driver.link();
    const { payin } = await driver.pse(link);
    const stranger = await new PayerBrowser().open(link.paymentLinkUrl);
    expect(stranger.h1).toBe('Hay un pago en curso');
    expect(stranger.html).not.toContain(stack.simulatorUrl);
    expect(payin.sourceData.pseUrl).toContain(stack.simulatorUrl);
  });

  it('show a payment that arrived after its key expired, and do not invite to pay again', async () => {
    const link = await driver.link();
    const { key, payin, payer } = await driver.breb(link);
    await stack.shiftTime(15 * 60_000 + 1000);
    await driver.outcomes.waitForStatus(payin.id, 'CANCELED');
    expect((await payer.open(link.paymentLinkUrl)).h1).toBe('La llave venció');
    await driver.simulator.pay({ key, anyway: true });
    await until(
      'the late payment is an anomaly',
      async () => (await driver.outcomes.anomalies(payin.id)).length > 0,
    );
    for (const browser of [payer, new PayerBrowser()]) {
      const page = await browser.open(link.paymentLinkUrl);
      expect(page.h1).toBe('Su pago de $ 49.800 llegó tarde');
      expect(page.text).not.toContain('No se hizo ningún cobro');
    }
  });
});
