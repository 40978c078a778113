import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutDesk } from '../harness/checkout-desk.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { problemOf } from '../harness/payin-answers.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
let desk: CheckoutDesk;
beforeAll(async () => {
  stack = await startStack({
    workers: 1,
    settings: { CAUDAL_DUE_EVERY_MS: '20', CAUDAL_SETTLEMENT_DELAY_MINUTES: '600' },
  });
  desk = new CheckoutDesk(stack);
});
afterAll(async () => {
  await stack?.stop();
});
afterEach(() => desk.allIsWell());

async function eventNames(resourceId: string): Promise<string[]> {
  return (await desk.events(resourceId)).map(({ event }) => event);
}

describe('POST /payment-links/{paymentLinkId}/expire', () => {
  it('with nothing under way: EXPIRED within two seconds, with one event, and the page says so', async () => {
    const link = await desk.link();
    const { status, body } = await desk.close(link);
    expect(status).toBe(200);
    expect(body).toMatchObject({ paymentLinkId: link.paymentLinkId, completedAt: null, payinId: null });
    expect(['PENDING', 'EXPIRED']).toContain(body.status);
    await desk.reaches(link, 'EXPIRED', 2000);
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.expired']);
    const page = await new PayerBrowser().open(link.paymentLinkUrl);
    expect(page.h1).toBe('Este enlace de pago venció');
    expect(page.linkTo('Volver a Tienda Aurora')).toBe('https://shop.example.com/thanks?order=7');
  });

  it('with a key that waits: the key is closed at the network, then EXPIRED', async () => {
    const link = await desk.link();
    const { key, payin } = await desk.breb(link);
    const { status, body } = await desk.close(link);
    expect([status, body.status]).toEqual([200, 'PENDING']);
    await desk.reaches(link, 'EXPIRED');
    expect(await desk.simulator.key(key)).toMatchObject({ status: 'CLOSED' });
    expect(await desk.outcomes.get(payin.id)).toMatchObject({ status: 'CANCELED', errorCode: 'EXPIRED' });
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.expired']);
    expect(await eventNames(payin.id)).toEqual([]);
  });

  it('with a key that was paid a moment before, unheard of: COMPLETED', async () => {
    const link = await desk.link();
    const { key } = await desk.breb(link);
    await desk.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    await desk.simulator.pay({ key });
    expect((await desk.close(link)).status).toBe(200);
    await desk.reaches(link, 'COMPLETED');
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.completed']);
  });

  it('with a payer at the bank: awaited, and paid it is COMPLETED', async () => {
    const link = await desk.link();
    const { reference, payin, payer } = await desk.pse(link);
    expect((await desk.close(link)).body.status).toBe('PENDING');
    // For as long as the bank takes.
    await stack.shiftTime(9 * 60_000);
    expect((await desk.get(link)).status).toBe('PENDING');
    // Whoever is awaited holds up no other link.
    const other = await desk.link();
    await desk.close(other);
    await desk.reaches(other, 'EXPIRED');
    expect((await payer.open(link.paymentLinkUrl)).h1).toBe('Su banco está confirmando el pago');
    await desk.simulator.endTransaction({ reference, state: 'OK' });
    expect(await desk.reaches(link, 'COMPLETED')).toMatchObject({ payinId: payin.id });
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.completed']);
  });

  it('with a payer at the bank who does not pay: EXPIRED, and nothing else is begun', async () => {
    const link = await desk.link();
    const { reference, payer } = await desk.pse(link);
    await desk.close(link);
    await desk.simulator.endTransaction({ reference, state: 'NOT_AUTHORIZED', reason: '8' });
    await desk.reaches(link, 'EXPIRED');
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.expired']);
    expect((await payer.open(`${link.paymentLinkUrl}?again=1`)).h1).toBe('Este enlace de pago venció');
  });

  it('twice, and at once, is one closing with one event', async () => {
    const link = await desk.link();
    const answers = await Promise.all(Array.from({ length: 10 }, () => desk.close(link)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const expired = await desk.reaches(link, 'EXPIRED');
    const again = await desk.close(link);
    expect([again.status, again.body]).toEqual([200, expired]);
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.expired']);
  });

  it('after completion: 409, and it stays COMPLETED', async () => {
    const link = await desk.link();
    const { key } = await desk.breb(link);
    await desk.simulator.pay({ key });
    const completed = await desk.reaches(link, 'COMPLETED');
    expect(problemOf(await desk.close(link))).toEqual({ status: 409, code: 'payment_link_completed' });
    expect(await desk.get(link)).toEqual(completed);
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.completed']);
  });
});
