import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base62Digits } from '../../src/kit/ids.ts';
import { makeCredential } from '../../src/organizations/credential.ts';
import { type Answer, ApiClient } from '../harness/api-client.ts';
import {
  type CredentialDriver,
  type IssuedKey,
  type KeyDetails,
  openCredentialDriver,
} from '../harness/credential-driver.ts';
import { createPayin, problemOf, readPayin } from '../harness/payin-answers.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const UNAUTHORIZED = { status: 401, code: 'unauthorized' };
const INVALID_CLIENT = { status: 401, code: 'invalid_client' };
const FORM = 'application/x-www-form-urlencoded';
const SOME_ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';

interface TokenBody {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly scope: string;
}

let stack: Stack;
let driver: CredentialDriver;
/** Every API process of the stack, without any credential. */
let nodes: readonly ApiClient[];
let node: ApiClient;

beforeAll(async () => {
  stack = await startStack({ apis: 2 });
  driver = await openCredentialDriver(stack);
  nodes = stack.apis.map(({ url }) => new ApiClient(url));
  [node = stack.api] = nodes;
});
afterAll(async () => {
  await driver?.close();
  await stack?.stop();
});

function newKey(details: KeyDetails = {}): Promise<IssuedKey> {
  return driver.newKey(stack.organization.organizationId, details);
}

function withKey(key: Pick<IssuedKey, 'apiKey'>): ApiClient {
  return node.as(key.apiKey);
}

function withToken(token: string): ApiClient {
  return node.with({ authorization: `Bearer ${token}` });
}

function basic(id: string, secret: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

function askToken(
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<TokenBody>> {
  return node.request<TokenBody>('POST', '/oauth/token', {
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': FORM, ...headers },
  });
}

async function newToken(key: IssuedKey, scope?: string): Promise<string> {
  const answer = await askToken(
    { grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) },
    basic(key.keyId, key.apiKey),
  );
  expect(answer.status).toBe(200);
  return answer.body.access_token;
}

/** A credential of our format, checksum included, with any id and secret. */
function forged(prefix: string, id: string, secret: string): string {
  const body = `${prefix}${id}_${secret}`;
  return body + base62Digits(crc32(body), 6);
}

const OPERATIONS = [
  { method: 'POST', path: '/payins', scope: 'payins:write' },
  { method: 'GET', path: '/payins', scope: 'payins:read' },
  { method: 'GET', path: `/payins/${SOME_ID}`, scope: 'payins:read' },
  { method: 'GET', path: '/pse/banks', scope: 'payins:read' },
] as const;

describe('401 without a valid credential', () => {
  it.each(OPERATIONS)('is the answer of $method $path to a request without any', async ({ method, path }) => {
    const answer = await node.request(method, path, method === 'POST' ? { body: brebPayin() } : {});
    expect(problemOf(answer)).toEqual(UNAUTHORIZED);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  });

  const { keyId, apiKey } = {
    keyId: () => stack.organization.keyId,
    apiKey: () => stack.organization.apiKey,
  };
  const SECRET = 'A'.repeat(43);
  const BAD_KEYS = [
    { what: 'empty', key: () => '' },
    { what: 'garbage', key: () => 'letmein' },
    { what: 'very long garbage', key: () => 'x'.repeat(4000) },
    { what: 'the id of a key alone', key: keyId },
    {
      what: 'a key with its last letter changed, so with a bad checksum',
      key: () => apiKey().replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
    },
    {
      what: 'a key with a letter of its secret changed',
      key: () => apiKey().replace(/.(?=.{10}$)/, (one) => (one === 'a' ? 'b' : 'a')),
    },
    { what: 'a key cut short', key: () => apiKey().slice(0, -1) },
    { what: 'a key with something behind it', key: () => `${apiKey()}x` },
    { what: 'a key twice', key: () => `${apiKey()}, ${apiKey()}` },
    { what: 'a key in other letters', key: () => apiKey().toLowerCase() },
    {
      what: 'a well-made key that nobody was given',
      key: () => makeCredential('key', 'development', 1).text,
    },
    {
      what: 'a well-made key of another environment',
      key: () => makeCredential('key', 'production', 1).text,
    },
    {
      what: 'our key’s id and secret under the prefix of production',
      key: () => forged('cdl_live_', keyId(), apiKey().slice(26, -6)),
    },
    {
      what: 'our key’s id with another secret and a right checksum',
      key: () => forged('cdl_test_', keyId(), SECRET),
    },
    {
      what: 'a well-made access token that nobody was given',
      key: () => makeCredential('token', 'development', 1).text,
    },
  ];

  it.each(BAD_KEYS)('is the answer to an x-api-key that is $what', async ({ key }) => {
    const answer = await node.get('/payins', { 'x-api-key': key() });
    expect(problemOf(answer)).toEqual(UNAUTHORIZED);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  });

  it('says the same of every bad key: nothing tells an unknown key from a wrong secret', async () => {
    const answers = await Promise.all(BAD_KEYS.map(({ key }) => node.get('/payins', { 'x-api-key': key() })));
    const seen = answers.map(({ text }) => text.replace(/req_\w+/, 'req'));
    expect(new Set(seen).size).toBe(1);
  });

  it.each([
    { what: 'an empty Authorization', value: () => '' },
    { what: 'Bearer with nothing behind', value: () => 'Bearer' },
    { what: 'Bearer with garbage', value: () => 'Bearer abc' },
    { what: 'Bearer with an API key instead of a token', value: () => `Bearer ${stack.organization.apiKey}` },
    {
      what: 'Basic, which only the token endpoint takes',
      value: () => basic(stack.organization.keyId, stack.organization.apiKey).authorization,
    },
    {
      what: 'a token nobody was given',
      value: () => `Bearer ${makeCredential('token', 'development', 1).text}`,
    },
    {
      what: 'a token of another environment',
      value: () => `Bearer ${makeCredential('token', 'production', 1).text}`,
    },
    { what: 'another scheme', value: () => `Token ${stack.organization.apiKey}` },
  ])('is the answer to $what', async ({ value }) => {
    expect(problemOf(await node.get('/payins', { authorization: value() }))).toEqual(UNAUTHORIZED);
  });

  it('is the answer to a key of production even where the database knows it, as in a copy of production', async () => {
    const [live, test] = [await newKey({ environment: 'production' }), await newKey()];
    expect([live.apiKey.slice(0, 9), test.apiKey.slice(0, 9)]).toEqual(['cdl_live_', 'cdl_test_']);
    expect(problemOf(await withKey(live).get('/payins'))).toEqual(UNAUTHORIZED);
    expect((await withKey(test).get('/payins')).status).toBe(200);
  });

  it('is the answer to two credentials at once, even when both are good', async () => {
    const token = await newToken(stack.organization);
    const both = node.with({ 'x-api-key': stack.organization.apiKey, authorization: `Bearer ${token}` });
    expect(problemOf(await both.get('/payins'))).toEqual(UNAUTHORIZED);
    expect(problemOf(await both.post('/payins', brebPayin()))).toEqual(UNAUTHORIZED);
  });

  it('is the answer to an access token sent as x-api-key', async () => {
    const token = await newToken(stack.organization);
    expect(problemOf(await node.get('/payins', { 'x-api-key': token }))).toEqual(UNAUTHORIZED);
  });

  it('comes before anything is said about the request: body, query, content type, size, id', async () => {
    const answers = await Promise.all([
      node.request('POST', '/payins', { raw: '{' }),
      node.request('POST', '/payins', { raw: 'x', headers: { 'content-type': 'text/plain' } }),
      node.request('POST', '/payins', { raw: Buffer.alloc(65_600, ' ') }),
      node.post('/payins', brebPayin({ amountInCents: 0 })),
      node.get('/payins?pageSize=0&foo=1'),
      node.get('/payins/not-an-id'),
    ]);
    for (const answer of answers) expect(problemOf(answer)).toEqual(UNAUTHORIZED);
  });

  it('is told in Spanish when asked', async () => {
    const { body } = await node.get('/payins', { 'accept-language': 'es' });
    expect(body['title']).toBe('No autorizado');
  });

  it('leads to a page about it', async () => {
    const { body } = await node.get('/payins');
    const page = await fetch(String(body['type']));
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(String(body['code']));
  });
});

describe('403 without the scope', () => {
  let key: IssuedKey;
  beforeAll(async () => {
    key = await newKey({ scopes: ['balance:read', 'payouts:write'] });
  });

  it.each(OPERATIONS)(
    'is the answer of $method $path to a key without $scope',
    async ({ method, path, scope }) => {
      const body = method === 'POST' ? { body: brebPayin() } : {};
      const answer = await withKey(key).request(method, path, body);
      expect(problemOf(answer)).toEqual({ status: 403, code: 'insufficient_scope' });
      expect(answer.body['requiredScope']).toBe(scope);
      expect(answer.headers.get('www-authenticate')).toBeNull();
    },
  );

  it('is the answer to a token of that key too', async () => {
    const answer = await withToken(await newToken(key)).get('/payins');
    expect(problemOf(answer)).toEqual({ status: 403, code: 'insufficient_scope' });
  });

  it('lets a key that may only read read, and not write', async () => {
    const reader = withKey(await newKey({ scopes: ['payins:read'] }));
    expect((await reader.get('/payins')).status).toBe(200);
    expect((await reader.get('/pse/banks')).status).toBe(200);
    expect((await reader.post('/payins', brebPayin())).status).toBe(403);
  });

  it('lets a key that may only write write, and not read', async () => {
    const writer = withKey(await newKey({ scopes: ['payins:write'] }));
    const created = await writer.post('/payins', brebPayin());
    expect(created.status).toBe(201);
    expect((await writer.get(`/payins/${String(created.body['id'])}`)).status).toBe(403);
    expect((await writer.get('/payins')).status).toBe(403);
  });

  it('is told before the body is read, and creates nothing', async () => {
    const answer = await withKey(key).request('POST', '/payins', { raw: '{' });
    expect(answer.status).toBe(403);
  });
});

describe('both schemes', () => {
  it('name the same organization: a payin made with one is read with the other', async () => {
    const bearer = withToken(await newToken(stack.organization));
    const byKey = await createPayin(stack.api, brebPayin());
    const byToken = await createPayin(bearer, brebPayin());
    expect(await readPayin(bearer, byKey.id)).toEqual(byKey);
    expect(await readPayin(stack.api, byToken.id)).toEqual(byToken);
    expect(byToken.organizationId).toBe(stack.organization.organizationId);
  });

  it.each(OPERATIONS)('are accepted by $method $path', async ({ method, path }) => {
    const token = await newToken(stack.organization);
    for (const client of [withKey(stack.organization), withToken(token)]) {
      const answer = await client.request(method, path, method === 'POST' ? { body: brebPayin() } : {});
      expect([200, 201, 404]).toContain(answer.status);
    }
  });

  it('take the word Bearer in any case', async () => {
    const token = await newToken(stack.organization);
    for (const scheme of ['bearer', 'BEARER', 'Bearer '])
      expect((await node.get('/payins', { authorization: `${scheme} ${token}` })).status).toBe(200);
  });

  it('work on every node at once, with a key or token none of them has seen', async () => {
    const key = await newKey();
    const token = await newToken(key);
    for (const each of nodes) {
      expect((await each.as(key.apiKey).get('/payins')).status).toBe(200);
      expect((await each.with({ authorization: `Bearer ${token}` }).get('/payins')).status).toBe(200);
    }
  });
});

describe('POST /oauth/token', () => {
  it.each([
    {
      how: 'HTTP Basic',
      ask: ({ keyId, apiKey }: IssuedKey) =>
        askToken({ grant_type: 'client_credentials' }, basic(keyId, apiKey)),
    },
    {
      how: 'the form',
      ask: ({ keyId, apiKey }: IssuedKey) =>
        askToken({ grant_type: 'client_credentials', client_id: keyId, client_secret: apiKey }),
    },
  ])('gives a bearer token of one hour for id and key by $how', async ({ ask }) => {
    const { status, headers, body } = await ask(stack.organization);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    expect(body.access_token).toMatch(/^cdl_test_at_01[0-9A-Z]{14}_[0-9A-Za-z]{49}$/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await withToken(body.access_token).get('/payins')).status).toBe(200);
  });

  it('gives every token only once', async () => {
    const tokens = await Promise.all(Array.from({ length: 5 }, () => newToken(stack.organization)));
    expect(new Set(tokens).size).toBe(5);
  });

  it('gives all scopes of the key when none is asked for', async () => {
    const key = await newKey({ scopes: ['payins:read', 'balance:read'] });
    const { body } = await askToken({ grant_type: 'client_credentials' }, basic(key.keyId, key.apiKey));
    expect(body.scope.split(' ').toSorted()).toEqual(['balance:read', 'payins:read']);
  });

  it('gives the subset of scopes that was asked for, and the token can do that much', async () => {
    const { keyId, apiKey } = stack.organization;
    const answer = await askToken(
      { grant_type: 'client_credentials', scope: 'payins:read' },
      basic(keyId, apiKey),
    );
    expect(answer.body.scope).toBe('payins:read');
    const client = withToken(answer.body.access_token);
    expect((await client.get('/payins')).status).toBe(200);
    const refused = await client.post('/payins', brebPayin());
    expect(problemOf(refused)).toEqual({ status: 403, code: 'insufficient_scope' });
    expect(refused.body['requiredScope']).toBe('payins:write');
  });

  it.each([
    { what: 'a scope the key does not have', scope: 'payins:write' },
    { what: 'one it has and one it has not', scope: 'payins:read payins:write' },
    { what: 'a scope that does not exist', scope: 'everything' },
    { what: 'a scope in capitals', scope: 'PAYINS:READ' },
  ])('answers 400 invalid_scope to $what', async ({ scope }) => {
    const key = await newKey({ scopes: ['payins:read'] });
    const answer = await askToken({ grant_type: 'client_credentials', scope }, basic(key.keyId, key.apiKey));
    expect(problemOf(answer)).toEqual({ status: 400, code: 'invalid_scope' });
    expect(answer.body).toMatchObject({ error: 'invalid_scope' });
  });

  it.each([
    { what: 'a wrong secret', form: () => ({ client_id: stack.organization.keyId, client_secret: 'wrong' }) },
    {
      what: 'a well-made secret that is not the key’s',
      form: () => ({
        client_id: stack.organization.keyId,
        client_secret: forged('cdl_test_', stack.organization.keyId, 'B'.repeat(43)),
      }),
    },
    {
      what: 'another key’s id',
      form: () => ({ client_id: '01AAAAAAAAAAAAAA', client_secret: stack.organization.apiKey }),
    },
    {
      what: 'the organization’s id',
      form: () => ({
        client_id: stack.organization.organizationId,
        client_secret: stack.organization.apiKey,
      }),
    },
    { what: 'no id', form: () => ({ client_secret: stack.organization.apiKey }) },
    { what: 'no secret', form: () => ({ client_id: stack.organization.keyId }) },
    { what: 'nothing', form: () => ({}) },
  ])('answers 401 invalid_client to $what in the form', async ({ form }) => {
    const answer = await askToken({ grant_type: 'client_credentials', ...form() });
    expect(problemOf(answer)).toEqual(INVALID_CLIENT);
    expect(answer.body).toMatchObject({ error: 'invalid_client' });
    expect(answer.headers.get('www-authenticate')).not.toBeNull();
  });

  it.each([
    { what: 'a wrong secret', header: () => basic(stack.organization.keyId, 'wrong') },
    { what: 'a wrong id', header: () => basic('wrong', stack.organization.apiKey) },
    { what: 'nothing in it', header: () => ({ authorization: 'Basic ' }) },
    {
      what: 'no colon in it',
      header: () => ({ authorization: `Basic ${Buffer.from('abc').toString('base64')}` }),
    },
  ])('answers 401 invalid_client to Basic with $what', async ({ header }) => {
    const answer = await askToken({ grant_type: 'client_credentials' }, header());
    expect(problemOf(answer)).toEqual(INVALID_CLIENT);
  });

  it('answers a client that tried Basic with a challenge for Basic (RFC 6749, section 5.2)', async () => {
    const answer = await askToken(
      { grant_type: 'client_credentials' },
      basic(stack.organization.keyId, 'wrong'),
    );
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic\b/);
  });

  it('does not make a token out of a token', async () => {
    const token = await newToken(stack.organization);
    const answer = await askToken({
      grant_type: 'client_credentials',
      client_id: stack.organization.keyId,
      client_secret: token,
    });
    expect(problemOf(answer)).toEqual(INVALID_CLIENT);
  });

  it.each(['password', 'authorization_code', 'refresh_token', 'CLIENT_CREDENTIALS', ''])(
    'answers 400 unsupported_grant_type to the grant type %j',
    async (grantType) => {
      const { keyId, apiKey } = stack.organization;
      const answer = await askToken({ grant_type: grantType }, basic(keyId, apiKey));
      expect(problemOf(answer)).toEqual({ status: 400, code: 'unsupported_grant_type' });
      expect(answer.body).toMatchObject({ error: 'unsupported_grant_type' });
    },
  );

  it('answers 400 to a form without a grant type', async () => {
    const { keyId, apiKey } = stack.organization;
    expect(problemOf(await askToken({}, basic(keyId, apiKey)))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: ['grant_type required'],
    });
  });

  it('answers 400 unknown_field to a form field it does not have', async () => {
    const { keyId, apiKey } = stack.organization;
    const form = { grant_type: 'client_credentials', audience: 'x' };
    expect(problemOf(await askToken(form, basic(keyId, apiKey)))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: ['audience unknown_field'],
    });
  });

  it('answers 415 to JSON', async () => {
    const { keyId, apiKey } = stack.organization;
    const answer = await node.post(
      '/oauth/token',
      { grant_type: 'client_credentials' },
      basic(keyId, apiKey),
    );
    expect(problemOf(answer)).toEqual({ status: 415, code: 'unsupported_media_type' });
  });
});

describe('a key that is revoked', () => {
  it('stops within a second on every node, and every token made from it', async () => {
    const key = await newKey();
    const token = await newToken(key);
    const clients = nodes.flatMap((each) => [
      each.as(key.apiKey),
      each.with({ authorization: `Bearer ${token}` }),
    ]);
    for (const client of clients) expect((await client.get('/payins')).status).toBe(200);
    await driver.revoke(key.keyId);
    await until(
      'no node honours the key',
      async () => {
        const answers = await Promise.all(clients.map((client) => client.get('/payins')));
        return answers.every(({ status }) => status !== 200);
      },
      1000,
    );
    for (const client of clients)
      await until('a 401', async () => (await client.get('/payins')).status === 401);
    expect(
      problemOf(await askToken({ grant_type: 'client_credentials' }, basic(key.keyId, key.apiKey))),
    ).toEqual(INVALID_CLIENT);
  });

  it('leaves the organization’s other keys alone', async () => {
    const [first, second] = [await newKey(), await newKey()];
    await driver.revoke(first.keyId);
    await until(
      'the revoked key is refused',
      async () => (await withKey(first).get('/payins')).status === 401,
    );
    expect((await withKey(second).get('/payins')).status).toBe(200);
    expect((await stack.api.get('/payins')).status).toBe(200);
  });
});

/** Last in this file: time only moves forward. */
describe('as time passes', () => {
  /** Resolves when the API lives in the new time: the ids it makes carry its clock. */
  async function shift(by: string): Promise<void> {
    const [row] = await stack.database.query<{ at: Date }>('select caudal.shift_time($1) as at', [by]);
    const from = row?.at.getTime() ?? Number.NaN;
    await until('the API in the new time', async () => {
      const { id } = await createPayin(stack.api, brebPayin());
      return Number.parseInt(id.slice(0, 13).replace('-', ''), 16) >= from;
    });
  }

  async function refused(client: ApiClient): Promise<void> {
    await until('a 401', async () => (await client.get('/payins')).status === 401);
  }

  it('ends a token after an hour and not before', async () => {
    const client = withToken(await newToken(stack.organization));
    await shift('59 minutes');
    const later = withToken(await newToken(stack.organization));
    expect((await client.get('/payins')).status).toBe(200);
    await shift('61 seconds');
    await refused(client);
    expect(problemOf(await client.get('/payins'))).toEqual(UNAUTHORIZED);
    expect((await later.get('/payins')).status).toBe(200);
    expect((await stack.api.get('/payins')).status).toBe(200);
  });

  it('ends a key on its day, and with it a token that had time left', async () => {
    const key = await newKey({ days: 1 });
    expect((await withKey(key).get('/payins')).status).toBe(200);
    await shift('23 hours 45 minutes');
    const token = await newToken(key);
    expect((await withKey(key).get('/payins')).status).toBe(200);
    expect((await withToken(token).get('/payins')).status).toBe(200);
    await shift('15 minutes 1 second');
    await refused(withKey(key));
    await refused(withToken(token));
    expect(
      problemOf(await askToken({ grant_type: 'client_credentials' }, basic(key.keyId, key.apiKey))),
    ).toEqual(INVALID_CLIENT);
    expect((await stack.api.get('/payins')).status).toBe(200);
  });
});
