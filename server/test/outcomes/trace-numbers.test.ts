import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgeBrebPayment } from '../harness/forged-notice.ts';
import { PayinDriver, type PayinView } from '../harness/payin-driver.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let payins: PayinDriver;
let payouts: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  payins = new PayinDriver(stack);
  payouts = new PayoutDriver(stack);
  await payouts.fund();
});
afterAll(() => stack?.stop());

/** `sourceData` of the newest event about a resource. */
async function eventSource(id: string): Promise<unknown> {
  const { body } = await stack.api.get<{ data: { data: { id: string; sourceData: unknown } }[] }>(
    '/events?pageSize=100',
  );
  return body.data.find(({ data }) => data.id === id)?.data.sourceData;
}

describe("the rail's trace numbers in sourceData", () => {
  it('a Bre-B payin has the end-to-end ID of its payment once a notification reports it', async () => {
    const { payin, key } = await payins.breb();
    expect(payin.sourceData.endToEndId).toBeNull();
    const [paid] = await payins.simulator.pay({ key });
    const confirmed = await payins.waitForStatus(payin.id, 'CONFIRMED');
    expect(paid?.endToEndId).toMatch(/^\w{30,35}$/);
    expect(confirmed.sourceData.endToEndId).toBe(paid?.endToEndId);
    expect(await eventSource(payin.id)).toMatchObject({ endToEndId: paid?.endToEndId });
  });

  it('a Bre-B payin has the end-to-end ID when the notification is lost and a status poll finds the payment', async () => {
    await payins.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    const { payin, key } = await payins.breb();
    const [paid] = await payins.simulator.pay({ key });
    await stack.shiftTime(31_000);
    expect((await payins.waitForStatus(payin.id, 'CONFIRMED')).sourceData.endToEndId).toBe(paid?.endToEndId);
  });

  it('a Bre-B payin has the end-to-end ID of the verifying status when the notification had another', async () => {
    const { payin, key } = await payins.breb();
    await payins.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
    const [paid] = await payins.simulator.pay({ key });
    await forgeBrebPayment(stack, key, payin.amountInCents, paid?.executionId);
    await payins.waitForStatus(payin.id, 'CONFIRMED');
    const verified = await until('the payment is verified', async () => {
      const [row] = await payins.query<{ end_to_end_id: string }>(
        'select end_to_end_id from caudal.payins where id = $1 and payment_verified_at is not null',
        [payin.id],
      );
      return row;
    });
    expect(verified.end_to_end_id).toBe(paid?.endToEndId);
  });

  it('an idempotent retry returns the payin as created, without the later end-to-end ID', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = brebPayin();
    const { body: payin } = await stack.api.post<PayinView>('/payins', body, headers);
    await payins.simulator.pay({ key: payin.sourceData.keyString ?? '', anyway: true, amount: '49800.00' });
    await payins.waitForStatus(payin.id, 'CONFIRMED');
    const retry = await stack.api.post<PayinView>('/payins', body, headers);
    expect(retry.body.sourceData.endToEndId).toBeNull();
  });

  it('a PSE payin has its CUS as soon as the bank page is known, and in its event', async () => {
    const { payin, reference } = await payins.pse();
    const cus = (await payins.simulator.transaction(reference))?.trazabilityCode;
    expect(cus).toMatch(/^\d+$/);
    expect((await payins.get(payin.id)).sourceData.cus).toBe(cus);
    await payins.simulator.endTransaction({ reference, state: 'OK' });
    await payins.waitForStatus(payin.id, 'CONFIRMED');
    expect(await eventSource(payin.id)).toMatchObject({ cus });
  });

  it('a payout has the end-to-end ID under which the network executed it', async () => {
    const { id } = await payouts.create();
    const { sourceData } = await payouts.waitForStatus(id, 'CONFIRMED');
    const order = await payouts.simulator.order(sourceData.endToEndId ?? '');
    expect(order).toMatchObject({ internalId: id, status: 'SETTLED' });
    expect(await eventSource(id)).toMatchObject({ endToEndId: sourceData.endToEndId });
  });
});
