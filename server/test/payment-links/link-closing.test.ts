import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';

let stack: Stack;
let driver: CheckoutDriver;
beforeAll(async () => {
  stack = await startStack({
    workers: 1,
    settings: { CAUDAL_WORKER_POLL_MS: '20', CAUDAL_SETTLEMENT_DELAY_MINUTES: '600' },
  });
  driver = new CheckoutDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});
afterEach(() => driver.checkInvariants());

async function eventNames(resourceId: string): Promise<string[]> {
  return (await driver.events(resourceId)).map(({ event }) => event);
}

describe('POST /payment-links/{paymentLinkId}/expire', () => {
  it('without an attempt: EXPIRED within two seconds, with one event and the expired page', async () => {
    const link = await driver.link();
    const { status, body } = await driver.close(link);
    expect(status).toBe(200);
    expect(body).toMatchObject({ paymentLinkId: link.paymentLinkId, completedAt: null, payinId: null });
    expect(['PENDING', 'EXPIRED']).toContain(body.status);
    await within('the expiry', 2000, () => driver.waitForStatus(link, 'EXPIRED'));
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.expired']);
    const page = await new PayerBrowser().open(link.paymentLinkUrl);
    expect(page.h1).toBe('Este link de pago venció');
    expect(page.linkTo('Volver a Tienda Aurora')).toBe('https://shop.example.com/thanks?order=7');
  });

  it('with an open key: the key is closed at the rail, then EXPIRED', async () => {
    const link = await driver.link();
    const { key, payin } = await driver.breb(link);
    const { status, body } = await driver.close(link);
    expect([status, body.status]).toEqual([200, 'PENDING']);
    await driver.waitForStatus(link, 'EXPIRED');
    expect(await driver.simulator.key(key)).toMatchObject({ status: 'CLOSED' });
    expect(await driver.outcomes.get(payin.id)).toMatchObject({ status: 'CANCELED', errorCode: 'EXPIRED' });
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.expired']);
    expect(await eventNames(payin.id)).toEqual([]);
  });

  it('with a key that was just paid and whose notification is lost: COMPLETED', async () => {
    const link = await driver.link();
    const { key } = await driver.breb(link);
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    await driver.simulator.pay({ key });
    expect((await driver.close(link)).status).toBe(200);
    await driver.waitForStatus(link, 'COMPLETED');
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.completed']);
  });

  it('with a payer at the bank: stays open, and COMPLETED when paid', async () => {
    const link = await driver.link();
    const { reference, payin, payer } = await driver.pse(link);
    expect((await driver.close(link)).body.status).toBe('PENDING');
    // For as long as the bank takes, which is ten minutes.
    await stack.shiftTime(8 * 60_000);
    expect((await driver.get(link)).status).toBe('PENDING');
    // A link that waits for its payer does not delay other links.
    const other = await driver.link();
    await driver.close(other);
    await driver.waitForStatus(other, 'EXPIRED');
    expect((await payer.open(link.paymentLinkUrl)).h1).toBe('¿Alcanzó a autorizar el pago en Bancolombia?');
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    expect(await driver.waitForStatus(link, 'COMPLETED')).toMatchObject({ payinId: payin.id });
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.completed']);
  });

  it('with a payer at the bank who does not pay: EXPIRED, and no new attempt starts', async () => {
    const link = await driver.link();
    const { reference, payer } = await driver.pse(link);
    await driver.close(link);
    await driver.simulator.endTransaction({ reference, state: 'NOT_AUTHORIZED', reason: '8' });
    await driver.waitForStatus(link, 'EXPIRED');
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.expired']);
    expect((await payer.open(`${link.paymentLinkUrl}?again=1`)).h1).toBe('Este link de pago venció');
  });

  it('repeated and concurrent: one closing with one event', async () => {
    const link = await driver.link();
    const answers = await Promise.all(Array.from({ length: 10 }, () => driver.close(link)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const expired = await driver.waitForStatus(link, 'EXPIRED');
    const again = await driver.close(link);
    expect([again.status, again.body]).toEqual([200, expired]);
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.expired']);
  });

  it('after completion: 409, and it stays COMPLETED', async () => {
    const link = await driver.link();
    const { key } = await driver.breb(link);
    await driver.simulator.pay({ key });
    const completed = await driver.waitForStatus(link, 'COMPLETED');
    expect(toProblem(await driver.close(link))).toEqual({ status: 409, code: 'payment_link_completed' });
    expect(await driver.get(link)).toEqual(completed);
    expect(await eventNames(link.paymentLinkId)).toEqual(['paymentlink.completed']);
  });
});
