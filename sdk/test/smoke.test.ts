import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child } from '../../scripts/stack/child.ts';
import { startServer } from '../../scripts/stack/processes.ts';
import { EVENT_DATA } from '../../server/src/http/api/event-data.schema.ts';
import { PAYER_DETAILS } from '../../server/test/harness/checkout-driver.ts';
import { PayerBrowser } from '../../server/test/harness/payer-browser.ts';
import { type Stack, startStack } from '../../server/test/harness/stack.ts';
import { until } from '../../server/test/harness/until.ts';
import { WebhookSink } from '../../server/test/harness/webhook-sink.ts';
import { OPERATIONS } from '../src/generated/operations.ts';
import { ApiError, Caudal, type CaudalEvent, type Fetch, webhooks } from '../src/index.ts';
import { thrownBy } from './faulty-server.ts';

const CUSTOMER = {
  name: 'Ana María Rojas',
  idType: 'CO_CC',
  idNumber: '1000000001',
  phone: '+573001234567',
  email: 'ana@example.com',
} as const;

let stack: Stack;
let sink: WebhookSink;
let caudal: Caudal;
let counter = 0;
const reached = new Set<string>();
const restarted: Child[] = [];

/** Records the operation of each request: the last test requires that every operation was used. */
const counting: Fetch = async (url, request) => {
  const path = new URL(url).pathname;
  for (const [id, operation] of Object.entries(OPERATIONS)) {
    const template = new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
    const literal = operation.path === path || !Object.values(OPERATIONS).some((each) => each.path === path);
    if (operation.method === request.method && template.test(path) && literal) reached.add(id);
  }
  return fetch(url, request);
};

function clientOf(index: number, apiKey = stack.organization.apiKey): Caudal {
  return new Caudal({ apiKey, baseUrl: stack.apis[index]?.url, fetch: counting });
}

const reference = () => `sdk-${process.pid}-${(counter += 1)}`;

function brebPayin(idNumber: string) {
  return {
    amountInCents: 4_980_000,
    currency: 'COP',
    rail: 'BRE_B',
    reference: reference(),
    inlineCustomer: { ...CUSTOMER, idNumber },
    breb: { keyType: 'QR_CODE' },
  } as const;
}

function payout(keyString: string, amountInCents = 12_500_000) {
  return {
    amountInCents,
    currency: 'COP',
    rail: 'BRE_B',
    reference: reference(),
    inlineCustomer: CUSTOMER,
    breb: { keyString },
  } as const;
}

function expectDocumentedFields({ event, data }: CaudalEvent): void {
  expect(Object.keys(data)).toEqual(Object.keys(EVENT_DATA[event].shape));
}

beforeAll(async () => {
  [stack, sink] = await Promise.all([startStack({ apis: 2, workers: 1 }), WebhookSink.start()]);
  await stack.command(
    'ledger',
    'deposit',
    '--org',
    stack.organization.organizationId,
    '--amount',
    '1000000000',
    '--reference',
    'seed',
  );
  caudal = clientOf(0);
});
afterAll(async () => {
  await sink?.close();
  for (const child of restarted) await child.stop();
  await stack?.stop();
});

describe('the SDK against a running server', () => {
  it('payins on both rails are confirmed, declined and canceled, each with its webhook', async () => {
    const endpoint = await caudal.webhookEndpoints.create({ url: sink.url('/payins') });
    const [paid, declined, canceled, pse] = await Promise.all([
      caudal.payins.create(brebPayin('1000000001')),
      caudal.payins.create(brebPayin('1000000003')),
      clientOf(1).payins.create(brebPayin('1000000005')),
      caudal.payins.create({
        amountInCents: 1_000_000,
        currency: 'COP',
        rail: 'PSE',
        reference: reference(),
        inlineCustomer: CUSTOMER,
        pse: { bank: 'CO_NEQUI', personType: 'INDIVIDUAL' },
      }),
    ]);
    expect(paid.sourceData.qrString).toMatch(/^data:image\/png;base64,/);
    expect(pse.sourceData.bank).toBe('CO_NEQUI');
    const final = await Promise.all(
      [paid, declined, canceled, pse].map(({ id }) => caudal.payins.waitFor(id)),
    );
    expect(final.map(({ status }) => status)).toEqual(['CONFIRMED', 'DECLINED', 'CANCELED', 'CONFIRMED']);

    const events = await unwrapped('/payins', 4, endpoint.secret);
    const confirmed = events.find(
      (event) => event.resource === 'payin' && event.data.reference === paid.reference,
    );
    if (confirmed?.event !== 'payin.confirmed') throw new Error('expected a payin.confirmed event');
    expect(confirmed.data.confirmedAmountInCents).toBe(4_980_000);
    expect(events.map(({ event }) => event).sort()).toEqual([
      'payin.canceled',
      'payin.confirmed',
      'payin.confirmed',
      'payin.declined',
    ]);
    for (const event of events) expectDocumentedFields(event);
  });

  it('an underpaid payin is declined and the merchant accepts its money', async () => {
    const { id } = await caudal.payins.create(brebPayin('1000000011'));
    expect(await caudal.payins.waitFor(id)).toMatchObject({ status: 'DECLINED', errorCode: 'UNDERPAID' });
    const [anomaly] = (await caudal.payins.get(id)).anomalies;
    expect(anomaly).toMatchObject({ kind: 'UNDERPAID', status: 'OPEN' });
    expect(await caudal.payins.acceptAnomaly(id, anomaly?.id ?? '')).toMatchObject({ status: 'ACCEPTED' });
  });

  it('payouts are looked up, confirmed and declined, cannot be canceled once sent, and appear in the ledger', async () => {
    const lookup = await caudal.breb.lookUp('@TESTOK', { name: 'Janeth Smith Prueba' });
    expect(lookup.match?.name).toBe('FULL');
    const order = payout('@TESTOK');
    const sent = await caudal.payouts.create({
      ...order,
      breb: { keyString: '@TESTOK', lookupId: lookup.lookupId },
    });
    const declined = await caudal.payouts.create(payout('@TESTDECLINED'));
    expect((await caudal.payouts.waitFor(sent.id)).status).toBe('CONFIRMED');
    expect(await caudal.payouts.waitFor(declined.id)).toMatchObject({
      status: 'DECLINED',
      errorCode: expect.any(String) as string,
    });
    expect(await thrownBy(caudal.payouts.cancel(sent.id))).toMatchObject({ code: 'payout_already_sent' });
    const [listed] = (await caudal.payouts.list({ reference: order.reference })).data;
    const [byKey] = (await caudal.payouts.list({ keyString: '@TESTOK', reference: order.reference })).data;
    expect(byKey?.id).toBe(listed?.id);
    expect(listed?.id).toBe(sent.id);
    const balance = await caudal.balance.get();
    expect(balance.heldInCents).toBe(0);
    const entries = await caudal.ledger.listEntries({ pageSize: 100 });
    expect(entries.data.filter(({ resourceId }) => resourceId === sent.id).length).toBeGreaterThan(0);
    const { data } = await caudal.events.list({ resourceId: sent.id });
    expect(data[0]?.event).toBe('payout.confirmed');
    for (const event of data) expectDocumentedFields(event);
  });

  it('payment links are paid or expired early, each with one event', async () => {
    const create = () =>
      caudal.paymentLinks.create({
        amountType: 'FIXED',
        amountInCents: 4_980_000,
        reference: reference(),
        callbackUrl: 'https://shop.example.com/thanks',
      });
    const [paid, closed] = [await create(), await create()];
    const { status } = await new PayerBrowser().post(`${paid.paymentLinkUrl}/begin`, {
      ...PAYER_DETAILS,
      idNumber: '1000000001',
      method: 'PSE',
      bank: 'CO_BANCOLOMBIA',
      personType: 'INDIVIDUAL',
    });
    expect(status).toBe(200);
    await caudal.paymentLinks.expire(closed.paymentLinkId);
    const completed = await caudal.paymentLinks.waitFor(paid.paymentLinkId);
    expect(completed.status).toBe('COMPLETED');
    expect((await caudal.paymentLinks.waitFor(closed.paymentLinkId)).status).toBe('EXPIRED');
    expect((await caudal.paymentLinks.list({ status: 'COMPLETED' })).data).toHaveLength(1);
    for (const { paymentLinkId } of [paid, closed]) {
      const events = (await caudal.events.list({ resourceId: paymentLinkId })).data;
      expect(events.map(({ event }) => event)).toEqual([
        paymentLinkId === paid.paymentLinkId ? 'paymentlink.completed' : 'paymentlink.expired',
      ]);
      for (const event of events) expectDocumentedFields(event);
    }
    const attempt = await caudal.payins.get(completed.payinId ?? '');
    expect(attempt.paymentLinkId).toBe(paid.paymentLinkId);
  });

  it('a success has its request id, its rate limits and whether it is a replay', async () => {
    const body = brebPayin('1020304050');
    const create = () => caudal.payins.create(body, { idempotencyKey: body.reference }).withResponse();
    const [first, second] = [await create(), await create()];
    expect(second.data).toEqual(first.data);
    expect([first, second].map(({ response }) => response.replayed)).toEqual([false, true]);
    for (const { response } of [first, second]) {
      expect(response).toMatchObject({ status: 201, attempts: 1, idempotencyKey: body.reference });
      expect(response.requestId).toMatch(/^req_/);
      const [writes] = response.rateLimits;
      expect(writes?.name).toBe('writes');
      expect(writes?.remaining).toBeLessThan(writes?.quota ?? 0);
    }
    const { response } = await caudal.payins.list({ pageSize: 1 });
    expect(response.rateLimits.map(({ name }) => name)).toEqual(['reads']);
  });

  it('the same idempotency key returns the same payin on every API process', async () => {
    const body = brebPayin('1020304050');
    // As many retries as a slow first request needs: until it ends, the others are rejected as in flight.
    const options = { idempotencyKey: body.reference, maxRetries: 100 };
    const payins = await Promise.all(
      Array.from({ length: 6 }, (_, index) => clientOf(index % 2).payins.create(body, options)),
    );
    expect(new Set(payins.map(({ id }) => id)).size).toBe(1);
  });

  it('errors narrow by code and have their specific members', async () => {
    const body = brebPayin('1020304050');
    const first = await caudal.payins.create(body);
    const taken = await thrownBy(caudal.payins.create(body));
    if (!(taken instanceof ApiError) || taken.code !== 'reference_taken') throw taken;
    expect(taken.existingId).toBe(first.id);
    expect(taken.requestId).toMatch(/^req_/);
    expect(taken.outcomeUnknown).toBe(false);

    const { access_token: accessToken, scope } = await caudal.accessTokens.create({ scope: 'payins:read' });
    expect(scope).toBe('payins:read');
    const reader = new Caudal({ accessToken, baseUrl: stack.apis[1]?.url });
    expect((await reader.payins.get(first.id)).id).toBe(first.id);
    const lacking = await thrownBy(reader.balance.get());
    if (!(lacking instanceof ApiError) || lacking.code !== 'insufficient_scope') throw lacking;
    expect(lacking.requiredScope).toBe('balance:read');

    const spanish = new Caudal({
      apiKey: stack.organization.apiKey,
      baseUrl: stack.apis[0]?.url,
      language: 'es',
    });
    expect(await thrownBy(spanish.payins.create({ ...body, amountInCents: 0 }))).toMatchObject({
      code: 'invalid_request',
      title: 'Solicitud inválida',
      errors: [{ path: 'amountInCents' }],
    });
    expect(await thrownBy(caudal.breb.lookUp('@TESTNOTFOUND'))).toMatchObject({ code: 'breb_key_not_found' });
    expect(await thrownBy(clientOf(0, 'cdl_test_nothing').balance.get())).toMatchObject({ status: 401 });
  });

  it('lists return every payin once across pages, and the banks', async () => {
    const ids: string[] = [];
    for await (const { id } of caudal.payins.list({ pageSize: 2, rail: 'BRE_B' })) ids.push(id);
    expect(ids.length).toBeGreaterThan(4);
    expect(new Set(ids).size).toBe(ids.length);
    const banks = await caudal.pse.listBanks();
    expect(banks.data.map(({ code }) => code)).toContain('CO_NEQUI');
  });

  it('endpoints are updated, tested, rotated with both secrets valid, replayed to and deleted', async () => {
    const { id, secret } = await caudal.webhookEndpoints.create({
      url: sink.url('/managed'),
      events: ['payin.confirmed'],
      staticHeader: { name: 'x-shop', value: 'aurora' },
    });
    await caudal.webhookEndpoints.update(id, { description: 'orders' });
    expect((await caudal.webhookEndpoints.get(id)).description).toBe('orders');
    const { secret: next } = await caudal.webhookEndpoints.rotateSecret(id);
    expect(next).not.toBe(secret);
    const { eventId } = await caudal.webhookEndpoints.test(id);
    const request = await sink.waitForEvent('/managed', eventId);
    for (const good of [secret, next, [secret, next]])
      expect((await webhooks.unwrap(request.body, request.headers, good)).event).toBe('webhook.test');
    expect(request.headers['x-shop']).toBe('aurora');

    const [confirmed] = (await caudal.events.list({ event: 'payin.confirmed', pageSize: 1 })).data;
    expect((await caudal.events.replay(confirmed?.id ?? '')).events).toBe(1);
    await sink.waitForEvent('/managed', confirmed?.id ?? '');
    const hourAgo = new Date(Date.now() - 3_600_000);
    const replayed = await caudal.events.replayMany({ createdFrom: hourAgo, createdTo: new Date() });
    expect(replayed.events).toBeGreaterThan(4);
    const whole = await caudal.events.get(confirmed?.id ?? '');
    expect(whole.deliveries.map(({ webhookEndpointId }) => webhookEndpointId)).toContain(id);
    expect((await caudal.webhookEndpoints.listDeliveries(id)).data.length).toBeGreaterThan(1);
    expect(await caudal.webhookEndpoints.delete(id)).toEqual({ id, deleted: true });
    const left: string[] = [];
    for await (const endpoint of caudal.webhookEndpoints.list()) left.push(endpoint.id);
    expect(left).not.toContain(id);
  });

  it('a stream survives a killed and restarted API process without lost or repeated events', async () => {
    const ending = new AbortController();
    const got: string[] = [];
    const connectionEvents: string[] = [];
    const following = (async () => {
      const options = {
        signal: ending.signal,
        onConnect: () => connectionEvents.push('connected'),
        onBreak: () => connectionEvents.push('disconnected'),
      };
      for await (const event of caudal.events.stream(options))
        got.push('reference' in event.data ? (event.data.reference ?? event.event) : event.event);
    })();
    await until('the stream is connected', () => Promise.resolve(connectionEvents.includes('connected')));
    const before = await caudal.payouts.create(payout('@TESTOK', 10_000));
    await until('the first event came', () => Promise.resolve(got.includes(before.reference)));

    const [api] = stack.apis;
    api?.kill('SIGKILL');
    await api?.exited;
    const meanwhile = await clientOf(1).payouts.create(payout('@TESTOK', 10_000));
    expect((await clientOf(1).payouts.waitFor(meanwhile.id)).status).toBe('CONFIRMED');
    await until('the stream is disconnected', () =>
      Promise.resolve(connectionEvents.includes('disconnected')),
    );
    const port = new URL(api?.url ?? '').port;
    restarted.push(await startServer('api', { ...stack.settings, CAUDAL_PORT: port }));
    const after = await caudal.payouts.create(payout('@TESTOK', 10_000));
    await until('all came', () => Promise.resolve(got.includes(after.reference)));
    ending.abort();
    await following;
    expect(got).toEqual([before.reference, meanwhile.reference, after.reference]);
    expect(connectionEvents.filter((each) => each === 'connected').length).toBeGreaterThan(1);
  });

  it('every API operation was used', () => {
    expect([...reached].sort()).toEqual(Object.keys(OPERATIONS).sort());
  });
});

/** The first verified events received at a path. */
async function unwrapped(path: string, count: number, secret: string): Promise<CaudalEvent[]> {
  await until(`${count} events came`, () => Promise.resolve(sink.ids(path).length >= count));
  const requests = new Map(sink.requestsTo(path).map((request) => [request.id, request]));
  return Promise.all(
    [...requests.values()].map(({ body, headers }) => webhooks.unwrap(body, headers, secret)),
  );
}
