import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { EVENT_NAMES } from '../../src/events/event.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { withScopes } from '../harness/payout-requests.ts';
import {
  type EndpointBody,
  type EndpointWithSecret,
  expectStatus,
  type Merchant,
  WebhookStage,
} from './webhook-stage.ts';

const SHOP_URL = 'https://shop.example.com/webhooks';
const NOT_FOUND = { status: 404, code: 'not_found' };

let stage: WebhookStage;
let merchant: Merchant;
beforeAll(async () => {
  stage = await WebhookStage.open();
  merchant = await stage.merchant();
});
afterAll(() => stage?.close());

async function listEndpoints({ api }: Merchant): Promise<EndpointBody[]> {
  return expectStatus(await api.get<{ data: EndpointBody[] }>('/webhook-endpoints'), 200).data;
}

function create(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return merchant.api.post<EndpointWithSecret>('/webhook-endpoints', body, headers);
}

describe('POST /webhook-endpoints', () => {
  it('returns the created endpoint with its own secret', async () => {
    const request = {
      url: SHOP_URL,
      events: ['payin.confirmed', 'payout.declined'],
      description: 'Pedidos de la tienda',
      staticHeader: { name: 'X-Gateway', value: 'a secret of the merchant' },
    };
    const answer = await create(request);
    const { secret, ...endpoint } = expectStatus(answer, 201);
    expect(endpoint).toEqual({
      ...request,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      staticHeader: { name: 'X-Gateway' },
      status: 'ENABLED',
      disabledReason: null,
      createdAt: expect.stringMatching(/Z$/) as string,
      updatedAt: endpoint.createdAt,
    });
    expect(Buffer.from(secret.replace('whsec_', ''), 'base64')).toHaveLength(32);
    expect(secret.startsWith('whsec_')).toBe(true);
    expect(answer.text).not.toContain('a secret of the merchant');
    const read = await merchant.api.get(`/webhook-endpoints/${endpoint.id}`);
    expect(read.body).toEqual(endpoint);
    expect(read.text).not.toContain(secret);
    expect(await listEndpoints(merchant)).toContainEqual(endpoint);
  });

  it('subscribes to all events when events is omitted', async () => {
    const { secret: _, ...endpoint } = expectStatus(await create({ url: SHOP_URL }), 201);
    expect(endpoint).toMatchObject({ events: null, description: null, staticHeader: null });
  });

  it('treats null as omitted, so that a response can be sent back', async () => {
    const body = { url: SHOP_URL, events: null, description: null, staticHeader: null };
    expect(expectStatus(await create(body), 201)).toMatchObject(body);
  });

  it('stores an event that is named twice once', async () => {
    const twice = ['payin.confirmed', 'payout.declined', 'payin.confirmed'];
    const endpoint = expectStatus(await create({ url: SHOP_URL, events: twice }), 201);
    expect(endpoint.events).toEqual(['payin.confirmed', 'payout.declined']);
    const changed = await merchant.change(endpoint, { events: ['payin.declined', 'payin.declined'] });
    expect(changed.events).toEqual(['payin.declined']);
  });

  it.each([
    ['events', 'en', 'too_small', 'Must have at least one entry.', []],
    ['events', 'es', 'too_small', 'Debe tener al menos un elemento.', []],
    ['staticHeader.value', 'en', 'invalid_format', 'Must have 1 to 500 characters', 'x'.repeat(5000)],
    ['staticHeader.value', 'en', 'invalid_format', 'Must have 1 to 500 characters', ''],
    ['staticHeader.value', 'es', 'invalid_format', 'de 1 a 500 caracteres: letras sin tildes', 'ñ'],
    ['staticHeader.name', 'en', 'invalid_format', 'Must have 1 to 100 characters: letters', 'a b'],
  ])('explains a wrong %s in %s', async (path, language, code, message, value) => {
    const [field = '', member] = path.split('.');
    const header = { name: 'x-a', value: 'x' };
    const body = { url: SHOP_URL, [field]: member ? { ...header, [member]: value } : value };
    expect((await create(body, { 'accept-language': language })).body).toMatchObject({
      errors: [{ path, code, message: expect.stringContaining(message) as string }],
    });
  });

  it('creates several endpoints, also with the same URL, each with its own secret, listed newest first', async () => {
    const other = await stage.merchant();
    const created = [await other.endpoint(), await other.endpoint(), await other.endpoint({ url: SHOP_URL })];
    expect(new Set(created.map(({ secret }) => secret)).size).toBe(3);
    expect((await listEndpoints(other)).map(({ id }) => id)).toEqual(
      created.map(({ id }) => id).toReversed(),
    );
  });

  it('allows fifty endpoints; deleting one frees its slot', async () => {
    const other = await stage.merchant();
    const created = [];
    for (let count = 0; count < 50; count += 1) created.push(await other.endpoint({ url: SHOP_URL }));
    const headers = { 'idempotency-key': randomUUID() };
    const once = () => other.api.post('/webhook-endpoints', { url: SHOP_URL }, headers);
    expect(toProblem(await once())).toEqual({ status: 409, code: 'too_many_endpoints' });
    expect(await listEndpoints(other)).toHaveLength(50);
    await other.api.request('DELETE', `/webhook-endpoints/${created[7]?.id ?? ''}`);
    // The idempotency key is stored only with a created endpoint.
    expect((await once()).status).toBe(201);
    expect(toProblem(await other.api.post('/webhook-endpoints', { url: SHOP_URL }))).toMatchObject({
      code: 'too_many_endpoints',
    });
  });

  it.each([
    ['http to a public host', 'http://shop.example.com/'],
    ['a user and a password', 'https://user:pass@shop.example.com/'],
    ['a user', 'https://user@shop.example.com/'],
    ['another scheme', 'ftp://shop.example.com/'],
    ['a private address', 'https://10.0.0.1/'],
    ['the cloud metadata address', 'https://169.254.169.254/latest'],
    ['a private address as one number', 'https://167772161/'],
    ['an internal name', 'https://payments.internal/'],
    ['a name without a dot', 'https://intranet/'],
    ['a line break', 'https://shop.example.com/\nx'],
    ['a URL without a scheme', 'shop.example.com'],
  ])('rejects %s', async (_, url) => {
    const problem = { status: 400, code: 'invalid_request', errors: ['url invalid_webhook_url'] };
    expect(toProblem(await create({ url }))).toEqual(problem);
    const { id } = expectStatus(await create({ url: SHOP_URL }), 201);
    const changed = await merchant.api.request('PATCH', `/webhook-endpoints/${id}`, { body: { url } });
    expect(toProblem(changed)).toEqual(problem);
    await merchant.api.request('DELETE', `/webhook-endpoints/${id}`);
  });

  it.each([
    ['en', 'shop.example.com', ['Must be an absolute URL']],
    ['en', 'http://shop.example.com/', ['Must begin with https://']],
    ['en', 'https://user:pass@shop.example.com/', ['Must not contain a user name or a password']],
    ['en', 'http://10.0.0.1/', ['Must begin with https://', 'Must point to the public internet']],
    ['en', 'https://shop.example.com:0/', ['Must not use port 0']],
    ['es', 'https://payments.internal/', ['Debe llevar a internet público']],
  ])('explains in %s what is wrong with %s', async (language, url, messages) => {
    const { body } = await merchant.api.post('/webhook-endpoints', { url }, { 'accept-language': language });
    expect(body['errors']).toEqual(
      messages.map((message) => ({
        path: 'url',
        code: 'invalid_webhook_url',
        message: expect.stringContaining(message) as string,
      })),
    );
  });

  it('reports the URL together with the other errors, and once when it is too long', async () => {
    const wrong = { events: ['a.b'], foo: 1 };
    expect(toProblem(await create({ url: 'https://10.0.0.1/', ...wrong })).errors?.toSorted()).toEqual([
      'events.0 invalid_value',
      'foo unknown_field',
      'url invalid_webhook_url',
    ]);
    const { id } = await merchant.endpoint();
    const body = { url: 'https://10.0.0.1/', status: 'OFF' };
    const changed = await merchant.api.request('PATCH', `/webhook-endpoints/${id}`, { body });
    expect(toProblem(changed).errors).toEqual(['status invalid_value', 'url invalid_webhook_url']);
    const long = `https://shop.example.com/${'x'.repeat(2049)}`;
    expect(toProblem(await create({ url: long })).errors).toEqual(['url too_long']);
  });

  it('accepts a loopback URL only where the configuration allows it', async () => {
    const url = 'http://127.0.0.1:9999/hook';
    const { id } = expectStatus(await create({ url }), 201);
    expect((await merchant.get({ id })).url).toBe(url);
    const strict = await startServer('api', {
      ...stage.stack.settings,
      CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: 'no',
      CAUDAL_PORT: '0',
    });
    try {
      const api = merchant.api.at(`http://127.0.0.1:${String(strict.ready['port'])}`);
      for (const rejectedUrl of [url, 'https://127.0.0.1/', 'https://localhost/', 'https://[::1]/'])
        expect(
          toProblem(await api.post('/webhook-endpoints', { url: rejectedUrl })),
          `of ${rejectedUrl}`,
        ).toMatchObject({
          code: 'invalid_request',
          errors: expect.arrayContaining(['url invalid_webhook_url']) as string[],
        });
      expect((await api.post('/webhook-endpoints', { url: SHOP_URL })).status).toBe(201);
    } finally {
      await strict.stop();
    }
  });

  it.each([
    ['an unknown event', { events: ['payin.paid'] }],
    ['the test event, which cannot be subscribed', { events: ['webhook.test'] }],
    ['an empty list of events', { events: [] }],
    ['events that are not a list', { events: 'payin.confirmed' }],
    ['an empty description', { description: '' }],
    ['a description of 201 characters', { description: 'x'.repeat(201) }],
    ['an invalid header name', { staticHeader: { name: 'a b', value: 'x' } }],
    ['a header value with a line break', { staticHeader: { name: 'x-a', value: 'x\r\nx-b: y' } }],
    ['a header without a value', { staticHeader: { name: 'x-a' } }],
    ['an unknown field', { secret: 'whsec_mine' }],
    ['a URL of 2,049 characters', { url: `https://shop.example.com/${'x'.repeat(2049 - 25)}` }],
  ])('rejects %s', async (_, changes) => {
    expect(toProblem(await create({ url: SHOP_URL, ...changes }))).toMatchObject({ status: 400 });
  });

  it.each([
    'webhook-id',
    'Webhook-Anything',
    'content-length',
    'Host',
    'connection',
    'transfer-encoding',
    'Proxy-Authorization',
  ])('rejects the reserved header %s', async (name) => {
    const answer = await create({ url: SHOP_URL, staticHeader: { name, value: 'x' } });
    expect(toProblem(answer)).toMatchObject({ errors: ['staticHeader.name reserved_header'] });
  });

  it('accepts every event name', async () => {
    const { events } = expectStatus(await create({ url: SHOP_URL, events: EVENT_NAMES }), 201);
    expect(events).toEqual([...EVENT_NAMES]);
  });
});

describe('an Idempotency-Key', () => {
  const body = { url: SHOP_URL, description: 'once' };

  it('returns the same endpoint with its secret, without creating a second one', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await create(body, headers);
    const again = await create(body, headers);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await listEndpoints(merchant)).filter(({ id }) => id === first.body.id)).toHaveLength(1);
  });

  it('returns the endpoint as created, even after changes, a rotation and its deletion', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = expectStatus(await create(body, headers), 201);
    const again = async () => expectStatus(await create(body, headers), 201);
    await merchant.change(first, { url: 'https://other.example.com/hook', status: 'DISABLED' });
    expect(await again()).toEqual(first);
    await merchant.api.request('POST', `/webhook-endpoints/${first.id}/rotate-secret`);
    expect(await again()).toEqual(first);
    await merchant.api.request('DELETE', `/webhook-endpoints/${first.id}`);
    expect(await again()).toEqual(first);
  });

  it('is rejected with another body', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    expectStatus(await create(body, headers), 201);
    const other = await create({ ...body, description: 'twice' }, headers);
    expect(toProblem(other)).toEqual({ status: 422, code: 'idempotency_mismatch' });
  });

  it('is scoped to its organization', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const mine = expectStatus(await create(body, headers), 201);
    const other = await stage.merchant();
    const theirs = await other.api.post<EndpointWithSecret>('/webhook-endpoints', body, headers);
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(mine.id);
    expect(theirs.body.secret).not.toBe(mine.secret);
  });

  it('creates one endpoint for ten concurrent requests', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(body, headers)));
    expect(new Set(answers.map((answer) => expectStatus(answer, 201).secret)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  });
});

describe('PATCH /webhook-endpoints/{id}', () => {
  it.each([
    ['url', { url: 'https://other.example.com/hook' }, {}],
    ['events', { events: ['payin.declined'] }, {}],
    ['description', { description: 'another' }, {}],
    ['staticHeader', { staticHeader: { name: 'x-b', value: 'y' } }, { staticHeader: { name: 'x-b' } }],
    ['events to all', { events: null }, {}],
    ['no description', { description: null }, {}],
    ['no staticHeader', { staticHeader: null }, {}],
    ['nothing', {}, {}],
  ])('changes %s and leaves the rest', async (_, change, shown) => {
    const full = {
      url: SHOP_URL,
      events: ['payout.confirmed'],
      description: 'before',
      staticHeader: { name: 'x-a', value: 'x' },
    };
    const { secret: _secret, path: _path, ...before } = await merchant.endpoint(full);
    const { updatedAt, ...after } = await merchant.change(before, change);
    const { updatedAt: updatedBefore, ...rest } = before;
    expect(after).toEqual({ ...rest, ...change, ...shown });
    expect(Date.parse(updatedAt)).toBeGreaterThanOrEqual(Date.parse(updatedBefore));
    expect(await merchant.get(before)).toEqual({ ...after, updatedAt });
    await merchant.api.request('DELETE', `/webhook-endpoints/${before.id}`);
  });

  it('disables with the reason by_owner, and enabling clears the reason', async () => {
    const endpoint = await merchant.endpoint();
    expect(await merchant.change(endpoint, { status: 'DISABLED' })).toMatchObject({
      status: 'DISABLED',
      disabledReason: 'by_owner',
    });
    const tested = await merchant.api.request('POST', `/webhook-endpoints/${endpoint.id}/test`);
    expect(toProblem(tested)).toEqual({ status: 409, code: 'endpoint_disabled' });
    expect(await merchant.change(endpoint, { status: 'ENABLED' })).toMatchObject({
      status: 'ENABLED',
      disabledReason: null,
    });
  });
});

describe('DELETE /webhook-endpoints/{id}', () => {
  it('stops deliveries, and the endpoint is not found afterwards', async () => {
    const deleted = await merchant.endpoint({}, { status: 500 });
    const kept = await merchant.endpoint();
    const pending = await merchant.declinePayout();
    await merchant.waitForDelivery(pending, deleted, 'PENDING', 1);
    const answer = await merchant.api.request('DELETE', `/webhook-endpoints/${deleted.id}`);
    expect(expectStatus(answer, 200)).toEqual({ id: deleted.id, deleted: true });
    for (const [method, path] of allOperations(deleted.id))
      expect(
        toProblem(await merchant.api.request(method, path, { body: bodyFor(method) })),
        `of ${path}`,
      ).toEqual(NOT_FOUND);
    expect((await listEndpoints(merchant)).map(({ id }) => id)).not.toContain(deleted.id);
    expect(await merchant.delivery(pending, deleted)).toMatchObject({
      status: 'FAILED',
      nextAttemptAt: null,
    });
    // A retry may have been in flight.
    await merchant.waitUntilQueueIdle(deleted);
    const before = stage.sink.requestsTo(deleted.path).length;
    await stage.stack.shiftTime(600_000);
    const after = await merchant.declinePayout();
    await stage.sink.waitForEvent(kept.path, after);
    await merchant.waitUntilDispatched();
    expect(await merchant.delivery(after, deleted)).toBeNull();
    expect(stage.sink.requestsTo(deleted.path)).toHaveLength(before);
  });
});

/** Every operation on one endpoint. */
function allOperations(id: string): [string, string][] {
  const path = `/webhook-endpoints/${id}`;
  return [
    ['GET', path],
    ['PATCH', path],
    ['DELETE', path],
    ['POST', `${path}/rotate-secret`],
    ['POST', `${path}/test`],
    ['GET', `${path}/deliveries`],
  ];
}

function bodyFor(method: string): object | undefined {
  return method === 'PATCH' ? { description: 'mine' } : undefined;
}

describe('an operation without a body', () => {
  it.each(['', '{}', 'null'])('accepts %j sent as JSON', async (raw) => {
    const { id } = await merchant.endpoint();
    for (const [path, status] of [
      [`/webhook-endpoints/${id}/test`, 202],
      [`/webhook-endpoints/${id}/rotate-secret`, 200],
      [`/events/${await merchant.declinePayout()}/replay`, 202],
    ] as const)
      expect((await merchant.api.request('POST', path, { raw })).status, `of ${path}`).toBe(status);
  });

  it('rejects any field, like every operation', async () => {
    const { id } = await merchant.endpoint();
    const eventId = await merchant.declinePayout();
    for (const [method, path] of [
      ['POST', `/webhook-endpoints/${id}/test`],
      ['POST', `/webhook-endpoints/${id}/rotate-secret`],
      ['POST', `/events/${eventId}/replay`],
      ['POST', `/payouts/${randomUUID()}/cancel`],
      ['POST', `/payment-links/${randomUUID()}/expire`],
      ['DELETE', `/webhook-endpoints/${id}`],
    ] as const)
      expect(
        toProblem(await merchant.api.request(method, path, { body: { secret: 'mine' } })),
        `of ${path}`,
      ).toEqual({ status: 400, code: 'unknown_field', errors: ['secret unknown_field'] });
    expect(
      toProblem(await merchant.api.request('POST', `/webhook-endpoints/${id}/test`, { raw: '{' })),
    ).toEqual({
      status: 400,
      code: 'malformed_json',
    });
  });
});

describe('access to an endpoint', () => {
  it('of another organization returns the same 404 as an unknown one', async () => {
    const otherMerchant = await stage.merchant();
    const { secret: _, path: _path, ...mine } = await merchant.endpoint();
    const unknown = randomUUID();
    for (const [index, [method, path]] of allOperations(mine.id).entries()) {
      const [, nowhere = ''] = allOperations(unknown)[index] ?? [];
      const theirs = await otherMerchant.api.request(method, path, { body: bodyFor(method) });
      const unknownResponse = await otherMerchant.api.request(method, nowhere, { body: bodyFor(method) });
      expect(toProblem(theirs), `of ${path}`).toEqual(NOT_FOUND);
      const same = ({ body }: typeof theirs) => ({ ...body, instance: null, requestId: null });
      expect(same(theirs), `of ${path}`).toEqual(same(unknownResponse));
    }
    expect(await listEndpoints(otherMerchant)).toEqual([]);
    expect(await merchant.get(mine)).toEqual(mine);
  });

  it('requires webhooks:read for reads and webhooks:write for everything else', async () => {
    const { id } = await merchant.endpoint();
    const reader = await withScopes(stage.inProcess, merchant.shop, 'webhooks:read');
    const writer = await withScopes(stage.inProcess, merchant.shop, 'webhooks:write');
    const operations = [
      ['GET', '/webhook-endpoints'],
      ['POST', '/webhook-endpoints'],
      ...allOperations(id),
    ] as const;
    for (const [method, path] of operations) {
      const body = path === '/webhook-endpoints' && method === 'POST' ? { url: SHOP_URL } : bodyFor(method);
      const lacking = method === 'GET' ? writer : reader;
      expect(toProblem(await lacking.request(method, path, { body })), `${method} ${path}`).toMatchObject({
        status: 403,
      });
      // DELETE comes last, below.
      if (method === 'DELETE') continue;
      const having = method === 'GET' ? reader : writer;
      expect((await having.request(method, path, { body })).status, `${method} ${path}`).toBeLessThan(300);
    }
    expect((await writer.request('DELETE', `/webhook-endpoints/${id}`)).status).toBe(200);
  });
});
