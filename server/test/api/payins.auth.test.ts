import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import { keyFromSecret } from '../../src/kit/crypto.ts';
import type { Environment } from '../../src/kit/environment.ts';
import { base62Digits } from '../../src/kit/ids.ts';
import { type CredentialKind, makeCredential } from '../../src/organizations/credential.ts';
import { ApiClient, type ApiResponse } from '../harness/api-client.ts';
import {
  type ApiKeyDetails,
  type CredentialDriver,
  type IssuedKey,
  openCredentialDriver,
} from '../harness/credential-driver.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { createPayin, readPayin, toProblem } from '../harness/payin-responses.ts';
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
/** Clients of every API process, without a credential. */
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

function newKey(details: ApiKeyDetails = {}): Promise<IssuedKey> {
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

function requestToken(
  form: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiResponse<TokenBody>> {
  return node.request<TokenBody>('POST', '/oauth/token', {
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': FORM, ...headers },
  });
}

async function newToken(key: IssuedKey, scope?: string): Promise<string> {
  const answer = await requestToken(
    { grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) },
    basic(key.keyId, key.apiKey),
  );
  expect(answer.status).toBe(200);
  return answer.body.access_token;
}

/** A credential of this deployment, including its tag, that no organization has. */
function neverIssued(kind: CredentialKind, environment: Environment): string {
  return makeCredential(kind, environment, 1, keyFromSecret(stack.settings['CAUDAL_KEY_PEPPER'] ?? '')).text;
}

/** A credential as versions before 0.2 made it, with any ID and secret: it ends with a checksum that anybody can compute. */
function buildCredential(prefix: string, id: string, secret: string): string {
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
  it.each(OPERATIONS)('is returned by $method $path without a credential', async ({ method, path }) => {
    const answer = await node.request(method, path, method === 'POST' ? { body: brebPayin() } : {});
    expect(toProblem(answer)).toEqual(UNAUTHORIZED);
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
    { what: 'the ID of a key', key: keyId },
    {
      what: 'a key with its last letter changed, so with a wrong checksum',
      key: () => apiKey().replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')),
    },
    {
      what: 'a key with a letter of its secret changed',
      key: () => apiKey().replace(/.(?=.{10}$)/, (one) => (one === 'a' ? 'b' : 'a')),
    },
    { what: 'a truncated key', key: () => apiKey().slice(0, -1) },
    { what: 'a key with an appended character', key: () => `${apiKey()}x` },
    { what: 'two keys', key: () => `${apiKey()}, ${apiKey()}` },
    { what: 'a lower-cased key', key: () => apiKey().toLowerCase() },
    {
      what: 'a well-formed key that was never issued',
      key: () => neverIssued('key', 'development'),
    },
    {
      what: 'a well-formed key of another environment',
      key: () => neverIssued('key', 'production'),
    },
    {
      what: "our key's ID and secret with the production prefix",
      key: () => buildCredential('cdl_live_', keyId(), apiKey().slice(26, -6)),
    },
    {
      what: "our key's ID with another secret and a valid checksum",
      key: () => buildCredential('cdl_test_', keyId(), SECRET),
    },
    {
      what: 'a well-formed access token that was never issued',
      key: () => neverIssued('token', 'development'),
    },
  ];

  it.each(BAD_KEYS)('is returned for an x-api-key that is $what', async ({ key }) => {
    const answer = await node.get('/payins', { 'x-api-key': key() });
    expect(toProblem(answer)).toEqual(UNAUTHORIZED);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  });

  it('is identical for every invalid key: it does not distinguish an unknown key from a wrong secret', async () => {
    const answers = await Promise.all(BAD_KEYS.map(({ key }) => node.get('/payins', { 'x-api-key': key() })));
    const bodies = answers.map(({ text }) => text.replace(/req_\w+/, 'req'));
    expect(new Set(bodies).size).toBe(1);
  });

  it.each([
    { what: 'an empty Authorization', value: () => '' },
    { what: 'Bearer without a token', value: () => 'Bearer' },
    { what: 'Bearer with garbage', value: () => 'Bearer abc' },
    { what: 'Bearer with an API key instead of a token', value: () => `Bearer ${stack.organization.apiKey}` },
    {
      what: 'Basic, which only the token endpoint takes',
      value: () => basic(stack.organization.keyId, stack.organization.apiKey).authorization,
    },
    {
      what: 'a token that was never issued',
      value: () => `Bearer ${neverIssued('token', 'development')}`,
    },
    {
      what: 'a token of another environment',
      value: () => `Bearer ${neverIssued('token', 'production')}`,
    },
    { what: 'another scheme', value: () => `Token ${stack.organization.apiKey}` },
  ])('is returned for $what', async ({ value }) => {
    expect(toProblem(await node.get('/payins', { authorization: value() }))).toEqual(UNAUTHORIZED);
  });

  it('is returned for a production key even when the database contains it, as in a copy of production', async () => {
    const [live, test] = [await newKey({ environment: 'production' }), await newKey()];
    expect([live.apiKey.slice(0, 9), test.apiKey.slice(0, 9)]).toEqual(['cdl_live_', 'cdl_test_']);
    expect(toProblem(await withKey(live).get('/payins'))).toEqual(UNAUTHORIZED);
    expect((await withKey(test).get('/payins')).status).toBe(200);
  });

  it('is returned for two credentials, even when both are valid', async () => {
    const token = await newToken(stack.organization);
    const both = node.with({ 'x-api-key': stack.organization.apiKey, authorization: `Bearer ${token}` });
    expect(toProblem(await both.get('/payins'))).toEqual(UNAUTHORIZED);
    expect(toProblem(await both.post('/payins', brebPayin()))).toEqual(UNAUTHORIZED);
  });

  it('is returned for an access token sent as x-api-key', async () => {
    const token = await newToken(stack.organization);
    expect(toProblem(await node.get('/payins', { 'x-api-key': token }))).toEqual(UNAUTHORIZED);
  });

  it('is returned before any validation of body, query, content type, size or ID', async () => {
    const answers = await Promise.all([
      node.request('POST', '/payins', { raw: '{' }),
      node.request('POST', '/payins', { raw: 'x', headers: { 'content-type': 'text/plain' } }),
      node.request('POST', '/payins', { raw: Buffer.alloc(65_600, ' ') }),
      node.post('/payins', brebPayin({ amountInCents: 0 })),
      node.get('/payins?pageSize=0&foo=1'),
      node.get('/payins/not-an-id'),
    ]);
    for (const answer of answers) expect(toProblem(answer)).toEqual(UNAUTHORIZED);
  });

  it('is localized in Spanish', async () => {
    const { body } = await node.get('/payins', { 'accept-language': 'es' });
    expect(body['title']).toBe('No autorizado');
  });

  it('links to a page about it', async () => {
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
    'is returned by $method $path to a key without $scope',
    async ({ method, path, scope }) => {
      const body = method === 'POST' ? { body: brebPayin() } : {};
      const answer = await withKey(key).request(method, path, body);
      expect(toProblem(answer)).toEqual({ status: 403, code: 'insufficient_scope' });
      expect(answer.body['requiredScope']).toBe(scope);
      expect(answer.headers.get('www-authenticate')).toBeNull();
    },
  );

  it('is returned to a token of that key too', async () => {
    const answer = await withToken(await newToken(key)).get('/payins');
    expect(toProblem(answer)).toEqual({ status: 403, code: 'insufficient_scope' });
  });

  it('a key with only payins:read can read and not write', async () => {
    const reader = withKey(await newKey({ scopes: ['payins:read'] }));
    expect((await reader.get('/payins')).status).toBe(200);
    expect((await reader.get('/pse/banks')).status).toBe(200);
    expect((await reader.post('/payins', brebPayin())).status).toBe(403);
  });

  it('a key with only payins:write can write and not read', async () => {
    const writer = withKey(await newKey({ scopes: ['payins:write'] }));
    const created = await writer.post('/payins', brebPayin());
    expect(created.status).toBe(201);
    expect((await writer.get(`/payins/${String(created.body['id'])}`)).status).toBe(403);
    expect((await writer.get('/payins')).status).toBe(403);
  });

  it('is returned before the body is read, and nothing is created', async () => {
    const answer = await withKey(key).request('POST', '/payins', { raw: '{' });
    expect(answer.status).toBe(403);
  });
});

describe('both authentication schemes', () => {
  it('identify the same organization: a payin created with one is readable with the other', async () => {
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

  it('accept Bearer in any case', async () => {
    const token = await newToken(stack.organization);
    for (const scheme of ['bearer', 'BEARER', 'Bearer '])
      expect((await node.get('/payins', { authorization: `${scheme} ${token}` })).status).toBe(200);
  });

  it('work on every process immediately, with a key or token that none of them has cached', async () => {
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
        requestToken({ grant_type: 'client_credentials' }, basic(keyId, apiKey)),
    },
    {
      how: 'the form',
      ask: ({ keyId, apiKey }: IssuedKey) =>
        requestToken({ grant_type: 'client_credentials', client_id: keyId, client_secret: apiKey }),
    },
  ])('issues a bearer token for one hour for ID and key in $how', async ({ ask }) => {
    const { status, headers, body } = await ask(stack.organization);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600 });
    expect(body.access_token).toMatch(/^cdl_test_at_01[0-9A-Z]{14}_[0-9A-Za-z]{49}$/);
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await withToken(body.access_token).get('/payins')).status).toBe(200);
  });

  it('issues a different token each time', async () => {
    const tokens = await Promise.all(Array.from({ length: 5 }, () => newToken(stack.organization)));
    expect(new Set(tokens).size).toBe(5);
  });

  it('grants all scopes of the key by default', async () => {
    const key = await newKey({ scopes: ['payins:read', 'balance:read'] });
    const { body } = await requestToken({ grant_type: 'client_credentials' }, basic(key.keyId, key.apiKey));
    expect(body.scope.split(' ').toSorted()).toEqual(['balance:read', 'payins:read']);
  });

  it('grants the requested subset of scopes, which limits the token', async () => {
    const { keyId, apiKey } = stack.organization;
    const answer = await requestToken(
      { grant_type: 'client_credentials', scope: 'payins:read' },
      basic(keyId, apiKey),
    );
    expect(answer.body.scope).toBe('payins:read');
    const client = withToken(answer.body.access_token);
    expect((await client.get('/payins')).status).toBe(200);
    const rejected = await client.post('/payins', brebPayin());
    expect(toProblem(rejected)).toEqual({ status: 403, code: 'insufficient_scope' });
    expect(rejected.body['requiredScope']).toBe('payins:write');
  });

  it.each([
    { what: 'a scope the key does not have', scope: 'payins:write' },
    { what: 'one scope it has and one it does not have', scope: 'payins:read payins:write' },
    { what: 'a nonexistent scope', scope: 'everything' },
    { what: 'an upper-case scope', scope: 'PAYINS:READ' },
  ])('returns 400 invalid_scope for $what', async ({ scope }) => {
    const key = await newKey({ scopes: ['payins:read'] });
    const answer = await requestToken(
      { grant_type: 'client_credentials', scope },
      basic(key.keyId, key.apiKey),
    );
    expect(toProblem(answer)).toEqual({ status: 400, code: 'invalid_scope' });
    expect(answer.body).toMatchObject({ error: 'invalid_scope' });
  });

  it.each([
    { what: 'a wrong secret', form: () => ({ client_id: stack.organization.keyId, client_secret: 'wrong' }) },
    {
      what: 'a well-formed secret of another key',
      form: () => ({
        client_id: stack.organization.keyId,
        client_secret: buildCredential('cdl_test_', stack.organization.keyId, 'B'.repeat(43)),
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
  ])('returns 401 invalid_client for $what in the form', async ({ form }) => {
    const answer = await requestToken({ grant_type: 'client_credentials', ...form() });
    expect(toProblem(answer)).toEqual(INVALID_CLIENT);
    expect(answer.body).toMatchObject({ error: 'invalid_client' });
    expect(answer.headers.get('www-authenticate')).not.toBeNull();
  });

  it.each<[string, string, () => Record<string, string>]>([
    ['a repeated client_secret', 'client_secret=x&client_secret=y&grant_type=client_credentials', () => ({})],
    [
      'a repeated grant_type',
      'grant_type=client_credentials&grant_type=client_credentials',
      () => basic(stack.organization.keyId, stack.organization.apiKey),
    ],
    [
      'a secret in the form beside Basic',
      'grant_type=client_credentials&client_secret=x',
      () => basic(stack.organization.keyId, stack.organization.apiKey),
    ],
    [
      'another client id in the form beside Basic',
      'grant_type=client_credentials&client_id=x',
      () => basic(stack.organization.keyId, stack.organization.apiKey),
    ],
  ])('returns 400 invalid_request for %s', async (_what, raw, headers) => {
    const answer = await node.request('POST', '/oauth/token', {
      raw,
      headers: { 'content-type': FORM, ...headers() },
    });
    expect(toProblem(answer)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('accepts the same client id in the form beside Basic', async () => {
    const { keyId, apiKey } = stack.organization;
    const form = { grant_type: 'client_credentials', client_id: keyId };
    expect((await requestToken(form, basic(keyId, apiKey))).status).toBe(200);
  });

  it.each([
    { what: 'a wrong secret', header: () => basic(stack.organization.keyId, 'wrong') },
    { what: 'a wrong id', header: () => basic('wrong', stack.organization.apiKey) },
    { what: 'no value', header: () => ({ authorization: 'Basic ' }) },
    {
      what: 'no colon',
      header: () => ({ authorization: `Basic ${Buffer.from('abc').toString('base64')}` }),
    },
  ])('returns 401 invalid_client for Basic with $what', async ({ header }) => {
    const answer = await requestToken({ grant_type: 'client_credentials' }, header());
    expect(toProblem(answer)).toEqual(INVALID_CLIENT);
  });

  it('returns a Basic challenge to a client that used Basic (RFC 6749, section 5.2)', async () => {
    const answer = await requestToken(
      { grant_type: 'client_credentials' },
      basic(stack.organization.keyId, 'wrong'),
    );
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic\b/);
  });

  it('does not issue a token for a token', async () => {
    const token = await newToken(stack.organization);
    const answer = await requestToken({
      grant_type: 'client_credentials',
      client_id: stack.organization.keyId,
      client_secret: token,
    });
    expect(toProblem(answer)).toEqual(INVALID_CLIENT);
  });

  it.each(['password', 'authorization_code', 'refresh_token', 'CLIENT_CREDENTIALS', ''])(
    'returns 400 unsupported_grant_type for the grant type %j',
    async (grantType) => {
      const { keyId, apiKey } = stack.organization;
      const answer = await requestToken({ grant_type: grantType }, basic(keyId, apiKey));
      expect(toProblem(answer)).toEqual({ status: 400, code: 'unsupported_grant_type' });
      expect(answer.body).toMatchObject({ error: 'unsupported_grant_type' });
    },
  );

  it('returns 400 for a form without a grant type', async () => {
    const { keyId, apiKey } = stack.organization;
    expect(toProblem(await requestToken({}, basic(keyId, apiKey)))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: ['grant_type required'],
    });
  });

  it('returns 400 unknown_field for an unknown form field', async () => {
    const { keyId, apiKey } = stack.organization;
    const form = { grant_type: 'client_credentials', audience: 'x' };
    expect(toProblem(await requestToken(form, basic(keyId, apiKey)))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: ['audience unknown_field'],
    });
  });

  it('returns 415 for JSON', async () => {
    const { keyId, apiKey } = stack.organization;
    const answer = await node.post(
      '/oauth/token',
      { grant_type: 'client_credentials' },
      basic(keyId, apiKey),
    );
    expect(toProblem(answer)).toEqual({ status: 415, code: 'unsupported_media_type' });
  });
});

describe('a revoked key', () => {
  it('stops within a second on every process, together with its tokens', async () => {
    const key = await newKey();
    const token = await newToken(key);
    const clients = nodes.flatMap((each) => [
      each.as(key.apiKey),
      each.with({ authorization: `Bearer ${token}` }),
    ]);
    for (const client of clients) expect((await client.get('/payins')).status).toBe(200);
    await driver.revoke(key.keyId);
    await within('revocation on every process', 1000, () =>
      until('every process rejects the key', async () => {
        const answers = await Promise.all(clients.map((client) => client.get('/payins')));
        return answers.every(({ status }) => status !== 200);
      }),
    );
    for (const client of clients)
      await until('a 401', async () => (await client.get('/payins')).status === 401);
    expect(
      toProblem(await requestToken({ grant_type: 'client_credentials' }, basic(key.keyId, key.apiKey))),
    ).toEqual(INVALID_CLIENT);
  });

  it('does not affect other keys of the organization', async () => {
    const [first, second] = [await newKey(), await newKey()];
    await driver.revoke(first.keyId);
    await until(
      'the revoked key is rejected',
      async () => (await withKey(first).get('/payins')).status === 401,
    );
    expect((await withKey(second).get('/payins')).status).toBe(200);
    expect((await stack.api.get('/payins')).status).toBe(200);
  });
});

/** Last in this file: time only moves forward. */
describe('expiry', () => {
  /** Resolves when the API uses the new time: its IDs contain its clock. */
  async function shift(by: string): Promise<void> {
    const [row] = await stack.database.query<{ at: Date }>('select caudal.shift_time($1) as at', [by]);
    const from = row?.at.getTime() ?? Number.NaN;
    await until('the API uses the new time', async () => {
      const { id } = await createPayin(stack.api, brebPayin());
      return Number.parseInt(id.slice(0, 13).replace('-', ''), 16) >= from;
    });
  }

  async function waitUntilRejected(client: ApiClient): Promise<void> {
    await until('a 401', async () => (await client.get('/payins')).status === 401);
  }

  it('ends a token after an hour and not before', async () => {
    const client = withToken(await newToken(stack.organization));
    await shift('59 minutes');
    const later = withToken(await newToken(stack.organization));
    expect((await client.get('/payins')).status).toBe(200);
    await shift('61 seconds');
    await waitUntilRejected(client);
    expect(toProblem(await client.get('/payins'))).toEqual(UNAUTHORIZED);
    expect((await later.get('/payins')).status).toBe(200);
    expect((await stack.api.get('/payins')).status).toBe(200);
  });

  it('ends a key on its day, together with a token that had time left', async () => {
    const key = await newKey({ days: 1 });
    expect((await withKey(key).get('/payins')).status).toBe(200);
    await shift('23 hours 45 minutes');
    const token = await newToken(key);
    expect((await withKey(key).get('/payins')).status).toBe(200);
    expect((await withToken(token).get('/payins')).status).toBe(200);
    await shift('15 minutes 1 second');
    await waitUntilRejected(withKey(key));
    await waitUntilRejected(withToken(token));
    expect(
      toProblem(await requestToken({ grant_type: 'client_credentials' }, basic(key.keyId, key.apiKey))),
    ).toEqual(INVALID_CLIENT);
    expect((await stack.api.get('/payins')).status).toBe(200);
  });
});
