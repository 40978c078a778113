import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { EVENT_NAMES } from '../../src/events/event.ts';
import { problemOf } from '../harness/payin-answers.ts';
import { withScopes } from '../harness/payout-requests.ts';
import {
  type EndpointBody,
  type EndpointWithSecret,
  expected,
  type Merchant,
  WebhookStage,
} from './webhook-stage.ts';

const URL_OF_A_SHOP = 'https://shop.example.com/webhooks';
const NOT_FOUND = { status: 404, code: 'not_found' };

let stage: WebhookStage;
let merchant: Merchant;
beforeAll(async () => {
  stage = await WebhookStage.open();
  merchant = await stage.merchant();
});
afterAll(() => stage?.close());

async function listed({ api }: Merchant): Promise<EndpointBody[]> {
  return expected(await api.get<{ data: EndpointBody[] }>('/webhook-endpoints'), 200).data;
}

function create(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return merchant.api.post<EndpointWithSecret>('/webhook-endpoints', body, headers);
}

describe('POST /webhook-endpoints', () => {
  it('answers the endpoint as it is from then on, with a secret of its own', async () => {
    const asked = {
      url: URL_OF_A_SHOP,
      events: ['payin.confirmed', 'payout.declined'],
      description: 'Pedidos de la tienda',
      staticHeader: { name: 'X-Gateway', value: 'a secret of the merchant' },
    };
    const answer = await create(asked);
    const { secret, ...endpoint } = expected(answer, 201);
    expect(endpoint).toEqual({
      ...asked,
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
    expect(await listed(merchant)).toContainEqual(endpoint);
  });

  it('left out is all events, and nothing else', async () => {
    const { secret: _, ...endpoint } = expected(await create({ url: URL_OF_A_SHOP }), 201);
    expect(endpoint).toMatchObject({ events: null, description: null, staticHeader: null });
  });

  it('null is left out: what an answer says may be sent back', async () => {
    const body = { url: URL_OF_A_SHOP, events: null, description: null, staticHeader: null };
    expect(expected(await create(body), 201)).toMatchObject(body);
  });

  it('an event named twice is kept once', async () => {
    const twice = ['payin.confirmed', 'payout.declined', 'payin.confirmed'];
    const endpoint = expected(await create({ url: URL_OF_A_SHOP, events: twice }), 201);
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
  ])('of a wrong %s says in %s what is wanted', async (path, language, code, message, value) => {
    const [field = '', member] = path.split('.');
    const header = { name: 'x-a', value: 'x' };
    const body = { url: URL_OF_A_SHOP, [field]: member ? { ...header, [member]: value } : value };
    expect((await create(body, { 'accept-language': language })).body).toMatchObject({
      errors: [{ path, code, message: expect.stringContaining(message) as string }],
    });
  });

  it('an organization has several, also to the same address, listed newest first, each with its own secret', async () => {
    const other = await stage.merchant();
    const made = [
      await other.endpoint(),
      await other.endpoint(),
      await other.endpoint({ url: URL_OF_A_SHOP }),
    ];
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(3);
    expect((await listed(other)).map(({ id }) => id)).toEqual(made.map(({ id }) => id).toReversed());
  });

  it('fifty at most; a deleted one leaves its place', async () => {
    const other = await stage.merchant();
    const made = [];
    for (let count = 0; count < 50; count += 1) made.push(await other.endpoint({ url: URL_OF_A_SHOP }));
    const headers = { 'idempotency-key': randomUUID() };
    const once = () => other.api.post('/webhook-endpoints', { url: URL_OF_A_SHOP }, headers);
    expect(problemOf(await once())).toEqual({ status: 409, code: 'too_many_endpoints' });
    expect(await listed(other)).toHaveLength(50);
    await other.api.request('DELETE', `/webhook-endpoints/${made[7]?.id ?? ''}`);
    // Only what was made is remembered by its key.
    expect((await once()).status).toBe(201);
    expect(problemOf(await other.api.post('/webhook-endpoints', { url: URL_OF_A_SHOP }))).toMatchObject({
      code: 'too_many_endpoints',
    });
  }, 60_000);

  it.each([
    ['http to the internet', 'http://shop.example.com/'],
    ['a name and password in it', 'https://user:pass@shop.example.com/'],
    ['a name alone in it', 'https://user@shop.example.com/'],
    ['another scheme', 'ftp://shop.example.com/'],
    ['a private address', 'https://10.0.0.1/'],
    ['the address of a cloud’s metadata', 'https://169.254.169.254/latest'],
    ['a private address written as one number', 'https://167772161/'],
    ['a name of inside', 'https://payments.internal/'],
    ['a name without a dot', 'https://intranet/'],
    ['a line break', 'https://shop.example.com/\nx'],
    ['no address at all', 'shop.example.com'],
  ])('refuses %s', async (_, url) => {
    const problem = { status: 400, code: 'invalid_request', errors: ['url invalid_webhook_url'] };
    expect(problemOf(await create({ url }))).toEqual(problem);
    const { id } = expected(await create({ url: URL_OF_A_SHOP }), 201);
    const changed = await merchant.api.request('PATCH', `/webhook-endpoints/${id}`, { body: { url } });
    expect(problemOf(changed)).toEqual(problem);
    await merchant.api.request('DELETE', `/webhook-endpoints/${id}`);
  });

  it.each([
    ['en', 'shop.example.com', ['Must be a whole address']],
    ['en', 'http://shop.example.com/', ['Must begin with https://']],
    ['en', 'https://user:pass@shop.example.com/', ['Must not carry a user or a password']],
    ['en', 'http://10.0.0.1/', ['Must begin with https://', 'Must lead to the public internet']],
    ['en', 'https://shop.example.com:0/', ['Must not name port 0']],
    ['es', 'https://payments.internal/', ['Debe llevar a internet público']],
  ])('says in %s what is wrong with %s', async (language, url, messages) => {
    const { body } = await merchant.api.post('/webhook-endpoints', { url }, { 'accept-language': language });
    expect(body['errors']).toEqual(
      messages.map((message) => ({
        path: 'url',
        code: 'invalid_webhook_url',
        message: expect.stringContaining(message) as string,
      })),
    );
  });

  it('names the address with all that is wrong, and only once where it is too long', async () => {
    const wrong = { events: ['a.b'], foo: 1 };
    expect(problemOf(await create({ url: 'https://10.0.0.1/', ...wrong })).errors?.toSorted()).toEqual([
      'events.0 invalid_value',
      'foo unknown_field',
      'url invalid_webhook_url',
    ]);
    const { id } = await merchant.endpoint();
    const body = { url: 'https://10.0.0.1/', status: 'OFF' };
    const changed = await merchant.api.request('PATCH', `/webhook-endpoints/${id}`, { body });
    expect(problemOf(changed).errors).toEqual(['status invalid_value', 'url invalid_webhook_url']);
    const long = `https://shop.example.com/${'x'.repeat(2049)}`;
    expect(problemOf(await create({ url: long })).errors).toEqual(['url too_long']);
  });

  it('this machine over http only where the configuration allows it', async () => {
    const url = 'http://127.0.0.1:9999/hook';
    const { id } = expected(await create({ url }), 201);
    expect((await merchant.get({ id })).url).toBe(url);
    const strict = await startServer('api', {
      ...stage.stack.settings,
      CAUDAL_WEBHOOKS_ALLOW_LOOPBACK: 'no',
      CAUDAL_PORT: '0',
    });
    try {
      const api = merchant.api.at(`http://127.0.0.1:${String(strict.ready['port'])}`);
      for (const refused of [url, 'https://127.0.0.1/', 'https://localhost/', 'https://[::1]/'])
        expect(
          problemOf(await api.post('/webhook-endpoints', { url: refused })),
          `of ${refused}`,
        ).toMatchObject({
          code: 'invalid_request',
          errors: expect.arrayContaining(['url invalid_webhook_url']) as string[],
        });
      expect((await api.post('/webhook-endpoints', { url: URL_OF_A_SHOP })).status).toBe(201);
    } finally {
      await strict.stop();
    }
  });

  it.each([
    ['an event that there is not', { events: ['payin.paid'] }],
    ['the test event, which is not to be had', { events: ['webhook.test'] }],
    ['no event at all', { events: [] }],
    ['events that are no list', { events: 'payin.confirmed' }],
    ['an empty description', { description: '' }],
    ['a description of 201 characters', { description: 'x'.repeat(201) }],
    ['a header whose name is none', { staticHeader: { name: 'a b', value: 'x' } }],
    ['a header that breaks the line', { staticHeader: { name: 'x-a', value: 'x\r\nx-b: y' } }],
    ['a header without a value', { staticHeader: { name: 'x-a' } }],
    ['a field that there is not', { secret: 'whsec_mine' }],
    ['an address of 2,049 characters', { url: `https://shop.example.com/${'x'.repeat(2049 - 25)}` }],
  ])('refuses %s', async (_, changes) => {
    expect(problemOf(await create({ url: URL_OF_A_SHOP, ...changes }))).toMatchObject({ status: 400 });
  });

  it.each([
    'webhook-id',
    'Webhook-Anything',
    'content-length',
    'Host',
    'connection',
    'transfer-encoding',
    'Proxy-Authorization',
  ])('refuses the reserved header %s', async (name) => {
    const answer = await create({ url: URL_OF_A_SHOP, staticHeader: { name, value: 'x' } });
    expect(problemOf(answer)).toMatchObject({ errors: ['staticHeader.name reserved_header'] });
  });

  it('every event there is may be named', async () => {
    const { events } = expected(await create({ url: URL_OF_A_SHOP, events: EVENT_NAMES }), 201);
    expect(events).toEqual([...EVENT_NAMES]);
  });
});

describe('an Idempotency-Key', () => {
  const body = { url: URL_OF_A_SHOP, description: 'once' };

  it('gives the same endpoint and its secret again, and makes no second one', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = await create(body, headers);
    const again = await create(body, headers);
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await listed(merchant)).filter(({ id }) => id === first.body.id)).toHaveLength(1);
  });

  it('gives it as it was created, though it was changed, its secret rotated, and itself deleted', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const first = expected(await create(body, headers), 201);
    const again = async () => expected(await create(body, headers), 201);
    await merchant.change(first, { url: 'https://other.example.com/hook', status: 'DISABLED' });
    expect(await again()).toEqual(first);
    await merchant.api.request('POST', `/webhook-endpoints/${first.id}/rotate-secret`);
    expect(await again()).toEqual(first);
    await merchant.api.request('DELETE', `/webhook-endpoints/${first.id}`);
    expect(await again()).toEqual(first);
  });

  it('with another body is refused', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    expected(await create(body, headers), 201);
    const other = await create({ ...body, description: 'twice' }, headers);
    expect(problemOf(other)).toEqual({ status: 422, code: 'idempotency_mismatch' });
  });

  it('of one organization says nothing to another', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const mine = expected(await create(body, headers), 201);
    const other = await stage.merchant();
    const theirs = await other.api.post<EndpointWithSecret>('/webhook-endpoints', body, headers);
    expect(theirs.status).toBe(201);
    expect(theirs.body.id).not.toBe(mine.id);
    expect(theirs.body.secret).not.toBe(mine.secret);
  });

  it('ten equal requests at the same time make one endpoint', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(body, headers)));
    expect(new Set(answers.map((answer) => expected(answer, 201).secret)).size).toBe(1);
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
      url: URL_OF_A_SHOP,
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

  it('disabled by the merchant it says so, and enabled again nothing is left of it', async () => {
    const endpoint = await merchant.endpoint();
    expect(await merchant.change(endpoint, { status: 'DISABLED' })).toMatchObject({
      status: 'DISABLED',
      disabledReason: 'by_owner',
    });
    const tested = await merchant.api.request('POST', `/webhook-endpoints/${endpoint.id}/test`);
    expect(problemOf(tested)).toEqual({ status: 409, code: 'endpoint_disabled' });
    expect(await merchant.change(endpoint, { status: 'ENABLED' })).toMatchObject({
      status: 'ENABLED',
      disabledReason: null,
    });
  });
});

describe('DELETE /webhook-endpoints/{id}', () => {
  it('nothing is sent to it any more, and it is not found', async () => {
    const deleted = await merchant.endpoint({}, { status: 500 });
    const kept = await merchant.endpoint();
    const pending = await merchant.declined();
    await merchant.reaches(pending, deleted, 'PENDING', 1);
    const answer = await merchant.api.request('DELETE', `/webhook-endpoints/${deleted.id}`);
    expect(expected(answer, 200)).toEqual({ id: deleted.id, deleted: true });
    for (const [method, path] of everyWay(deleted.id))
      expect(
        problemOf(await merchant.api.request(method, path, { body: bodyOf(method) })),
        `of ${path}`,
      ).toEqual(NOT_FOUND);
    expect((await listed(merchant)).map(({ id }) => id)).not.toContain(deleted.id);
    expect(await merchant.delivery(pending, deleted)).toMatchObject({
      status: 'FAILED',
      nextAttemptAt: null,
    });
    const before = stage.sink.at(deleted.path).length;
    await stage.stack.shiftTime(600_000);
    const after = await merchant.declined();
    await stage.sink.receivesEvent(kept.path, after);
    await merchant.dispatched();
    expect(await merchant.delivery(after, deleted)).toBeNull();
    expect(stage.sink.at(deleted.path)).toHaveLength(before);
  });
});

/** Every operation on one endpoint. */
function everyWay(id: string): [string, string][] {
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

function bodyOf(method: string): object | undefined {
  return method === 'PATCH' ? { description: 'mine' } : undefined;
}

describe('an operation without a body', () => {
  it.each(['', '{}', 'null'])('takes %j, sent as JSON, for none', async (raw) => {
    const { id } = await merchant.endpoint();
    for (const [path, status] of [
      [`/webhook-endpoints/${id}/test`, 202],
      [`/webhook-endpoints/${id}/rotate-secret`, 200],
      [`/events/${await merchant.declined()}/replay`, 202],
    ] as const)
      expect((await merchant.api.request('POST', path, { raw })).status, `of ${path}`).toBe(status);
  });

  it('refuses a field, like every operation', async () => {
    const { id } = await merchant.endpoint();
    const eventId = await merchant.declined();
    for (const [method, path] of [
      ['POST', `/webhook-endpoints/${id}/test`],
      ['POST', `/webhook-endpoints/${id}/rotate-secret`],
      ['POST', `/events/${eventId}/replay`],
      ['POST', `/payouts/${randomUUID()}/cancel`],
      ['POST', `/payment-links/${randomUUID()}/expire`],
      ['DELETE', `/webhook-endpoints/${id}`],
    ] as const)
      expect(
        problemOf(await merchant.api.request(method, path, { body: { secret: 'mine' } })),
        `of ${path}`,
      ).toEqual({ status: 400, code: 'unknown_field', errors: ['secret unknown_field'] });
    expect(
      problemOf(await merchant.api.request('POST', `/webhook-endpoints/${id}/test`, { raw: '{' })),
    ).toEqual({
      status: 400,
      code: 'malformed_json',
    });
  });
});

describe('whose it is', () => {
  it("another organization's endpoint is not found, exactly as one that there is not", async () => {
    const stranger = await stage.merchant();
    const { secret: _, path: _path, ...mine } = await merchant.endpoint();
    const unknown = randomUUID();
    for (const [index, [method, path]] of everyWay(mine.id).entries()) {
      const [, nowhere = ''] = everyWay(unknown)[index] ?? [];
      const theirs = await stranger.api.request(method, path, { body: bodyOf(method) });
      const nobodys = await stranger.api.request(method, nowhere, { body: bodyOf(method) });
      expect(problemOf(theirs), `of ${path}`).toEqual(NOT_FOUND);
      const same = ({ body }: typeof theirs) => ({ ...body, instance: null, requestId: null });
      expect(same(theirs), `of ${path}`).toEqual(same(nobodys));
    }
    expect(await listed(stranger)).toEqual([]);
    expect(await merchant.get(mine)).toEqual(mine);
  });

  it('reading needs webhooks:read, everything else webhooks:write', async () => {
    const { id } = await merchant.endpoint();
    const reader = await withScopes(stage.inside, merchant.shop, 'webhooks:read');
    const writer = await withScopes(stage.inside, merchant.shop, 'webhooks:write');
    const ways = [['GET', '/webhook-endpoints'], ['POST', '/webhook-endpoints'], ...everyWay(id)] as const;
    for (const [method, path] of ways) {
      const body =
        path === '/webhook-endpoints' && method === 'POST' ? { url: URL_OF_A_SHOP } : bodyOf(method);
      const lacking = method === 'GET' ? writer : reader;
      expect(problemOf(await lacking.request(method, path, { body })), `${method} ${path}`).toMatchObject({
        status: 403,
      });
      // Last what ends it.
      if (method === 'DELETE') continue;
      const having = method === 'GET' ? reader : writer;
      expect((await having.request(method, path, { body })).status, `${method} ${path}`).toBeLessThan(300);
    }
    expect((await writer.request('DELETE', `/webhook-endpoints/${id}`)).status).toBe(200);
  });
});
