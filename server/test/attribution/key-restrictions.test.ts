import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopwatch, within } from '../../../scripts/testing/expect-within.ts';
import { ApiClient } from '../harness/api-client.ts';
import { type CredentialDriver, type IssuedKey, openCredentialDriver } from '../harness/credential-driver.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const INSIDE = '203.0.113.9';
const OUTSIDE = '198.51.100.77';
const NOT_ALLOWED = { status: 403, code: 'address_not_allowed' };

let stack: Stack;
let driver: CredentialDriver;
let organizationId: string;
let owner: IssuedKey;
beforeAll(async () => {
  stack = await startStack({
    settings: { CAUDAL_LOG_LEVEL: 'info', CAUDAL_TRUSTED_PROXIES: '127.0.0.1' },
  });
  driver = await openCredentialDriver(stack);
  const { organizationId: id, ...key } = await driver.newOrganization();
  organizationId = id;
  owner = key;
});
afterAll(async () => {
  await driver?.close();
  await stack?.stop();
});

async function operator<Json>(...args: readonly string[]): Promise<Json> {
  const settings = { ...stack.settings, DATABASE_URL: stack.database.ownerUrl, CAUDAL_BY: 'ana' };
  const { code, stdout, stderr } = await runOperatorCommand(settings, ...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Json;
}

/** An API key made with `keys create` and these options. */
function newKey(...args: readonly string[]): Promise<IssuedKey> {
  return operator<IssuedKey>('keys', 'create', '--org', organizationId, '--name', 'test', ...args);
}

/** A client behind the trusted proxy. */
function from(address: string, headers: Readonly<Record<string, string>>): ApiClient {
  return new ApiClient(stack.apis[0]?.url ?? '', { ...headers, 'x-forwarded-for': address });
}

const withKey = (address: string, { apiKey }: IssuedKey) => from(address, { 'x-api-key': apiKey });

function requestToken(address: string, { keyId, apiKey }: IssuedKey) {
  const basic = Buffer.from(`${keyId}:${apiKey}`).toString('base64');
  return from(address, {
    authorization: `Basic ${basic}`,
    'content-type': 'application/x-www-form-urlencoded',
  }).request('POST', '/oauth/token', { raw: 'grant_type=client_credentials' });
}

/** The log line of the response's request. */
function logLine(requestId: string | null): Promise<Record<string, unknown>> {
  return until('the request is logged', async () => {
    const lines = (stack.apis[0]?.output() ?? '').split('\n');
    const line = lines.find((each) => each.includes(`"requestId":"${requestId}"`));
    return line === undefined ? null : (JSON.parse(line) as Record<string, unknown>);
  });
}

// First: after the floods of other tests, rejected requests are counted instead of logged.
describe('the log line of a request', () => {
  it('has the network of the client and the API key', async () => {
    const { headers } = await withKey(OUTSIDE, owner).get('/balance');
    expect(await logLine(headers.get('x-request-id'))).toMatchObject({
      status: 200,
      clientAddress: '198.51.100.0/24',
      keyId: owner.keyId,
      organizationId,
    });
  });

  it('has the API key of a request that its allow-list or its scopes reject', async () => {
    const key = await newKey('--allow-from', '203.0.113.0/24', '--scopes', 'payins:read');
    const fields = { keyId: key.keyId, organizationId, clientAddress: '198.51.100.0/24' };
    const outside = await withKey(OUTSIDE, key).get('/payins');
    expect(await logLine(outside.headers.get('x-request-id'))).toMatchObject({
      ...fields,
      status: 403,
      code: 'address_not_allowed',
    });
    const unscoped = await withKey(INSIDE, key).get('/balance');
    expect(await logLine(unscoped.headers.get('x-request-id'))).toMatchObject({
      ...fields,
      clientAddress: '203.0.113.0/24',
      code: 'insufficient_scope',
    });
    const token = await requestToken(OUTSIDE, key);
    expect(await logLine(token.headers.get('x-request-id'))).toMatchObject({
      keyId: key.keyId,
      code: 'address_not_allowed',
    });
  });

  it('has the API key of a token request that is answered or rejected', async () => {
    const issued = await requestToken(OUTSIDE, owner);
    expect(await logLine(issued.headers.get('x-request-id'))).toMatchObject({
      status: 200,
      keyId: owner.keyId,
    });
    const { keyId: client_id, apiKey: client_secret } = owner;
    const form = new URLSearchParams({ grant_type: 'password', client_id, client_secret });
    const rejected = await from(OUTSIDE, { 'content-type': 'application/x-www-form-urlencoded' }).request(
      'POST',
      '/oauth/token',
      { raw: form.toString() },
    );
    expect(await logLine(rejected.headers.get('x-request-id'))).toMatchObject({
      status: 400,
      keyId: owner.keyId,
    });
  });

  it('has the id, and never the secret, of a credential that gets 401', async () => {
    const { keyId, apiKey } = await newKey();
    const secret = apiKey.split('_').at(-1) ?? '';
    await driver.revoke(keyId);
    const rejected = await until('the key is rejected', async () => {
      const answer = await withKey(OUTSIDE, { keyId, apiKey }).get('/balance');
      return answer.status === 401 ? answer : null;
    });
    const token = apiKey.replace('cdl_test_', 'cdl_test_at_');
    const bearer = await from(OUTSIDE, { authorization: `Bearer ${token}` }).get('/balance');
    const client = await requestToken(OUTSIDE, { keyId, apiKey });
    const garbage = await from(OUTSIDE, { 'x-api-key': `garbage ${secret}` }).get('/balance');
    const line = ({ headers }: { headers: Headers }) => logLine(headers.get('x-request-id'));
    expect(await line(rejected)).toMatchObject({ status: 401, keyId, clientAddress: '198.51.100.0/24' });
    expect(await line(bearer)).toMatchObject({ status: 401, tokenId: keyId });
    expect(await line(client)).toMatchObject({ status: 401, keyId, code: 'invalid_client' });
    expect(await line(garbage)).toMatchObject({ status: 401 });
    expect(await line(garbage)).not.toHaveProperty('keyId');
    expect(stack.apis[0]?.output()).not.toContain(secret);
  });
});

describe('an API key with an address allow-list', () => {
  it('is accepted from an allowed address and gets 403 address_not_allowed from another, also when cached', async () => {
    const key = await newKey('--allow-from', '203.0.113.0/24, 2001:db8:1::/48');
    for (let times = 0; times < 3; times += 1) {
      expect((await withKey(INSIDE, key).get('/balance')).status).toBe(200);
      expect((await withKey('2001:db8:1:2::3', key).get('/balance')).status).toBe(200);
      expect((await withKey('::ffff:203.0.113.5', key).get('/balance')).status).toBe(200);
      for (const address of [OUTSIDE, '2001:db8:2::1', '::ffff:198.51.100.7'])
        expect(toProblem(await withKey(address, key).get('/balance'))).toEqual(NOT_ALLOWED);
    }
    const created = await withKey(OUTSIDE, key).post('/payins', brebPayin());
    expect(toProblem(created)).toEqual(NOT_ALLOWED);
  });

  it('issues no token to another address, and its tokens are rejected there', async () => {
    const key = await newKey('--allow-from', '203.0.113.0/24');
    expect(toProblem(await requestToken(OUTSIDE, key))).toEqual(NOT_ALLOWED);
    const { body } = await requestToken(INSIDE, key);
    const authorization = `Bearer ${String(body['access_token'])}`;
    expect((await from(INSIDE, { authorization }).get('/balance')).status).toBe(200);
    expect(toProblem(await from(OUTSIDE, { authorization }).get('/balance'))).toEqual(NOT_ALLOWED);
  });

  it('ignores X-Forwarded-For of a client that is no trusted proxy', async () => {
    const key = await newKey('--allow-from', '203.0.113.0/24');
    const { hostname, port } = new URL(stack.apis[0]?.url ?? '');
    const status = await new Promise((resolve, reject) => {
      const headers = { 'x-api-key': key.apiKey, 'x-forwarded-for': INSIDE };
      const sent = request(
        { hostname, port, path: '/balance', headers, localAddress: '127.0.0.3' },
        (response) => resolve(response.resume().statusCode),
      );
      sent.on('error', reject).end();
    });
    expect(status).toBe(403);
  });

  it('is restricted and released by keys update within two seconds, without another credential', async () => {
    const key = await newKey();
    expect((await withKey(OUTSIDE, key).get('/balance')).status).toBe(200);
    const changed = await operator('keys', 'update', key.keyId, '--allow-from', '203.0.113.9');
    expect(changed).toMatchObject({ allowFrom: ['203.0.113.9/32'], writesPerSecond: null });
    const statusOutside = async (status: number) =>
      (await withKey(OUTSIDE, key).get('/balance')).status === status;
    await within('the restriction', 2000, () => until('it is rejected', () => statusOutside(403)));
    expect((await withKey(INSIDE, key).get('/balance')).status).toBe(200);
    await operator('keys', 'update', key.keyId, '--allow-from', 'any');
    await within('the release', 2000, () => until('it is accepted', () => statusOutside(200)));
  });

  it.each(['10.0.0.1/8', '300.1.1.1', 'example.com', '', '::ffff:cb00:7105', '::ffff:0:0/96'])(
    'is not created from "%s"',
    async (network) => {
      await expect(newKey('--allow-from', network)).rejects.toThrow('--allow-from');
    },
  );
});

describe('an API key with its own rate limit', () => {
  it('gets 429 beyond it, while another API key of the organization is accepted', async () => {
    const key = await newKey('--writes-per-second', '1');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => withKey(INSIDE, key).post('/payins', brebPayin())),
    );
    const accepted = answers.find(({ status }) => status === 201);
    expect(accepted?.headers.get('ratelimit-policy')).toMatch(/^"writes";q=\d+;w=5, "key-writes";q=5;w=5$/);
    const rejected = answers.find(({ status }) => status === 429);
    expect(rejected?.headers.get('ratelimit')).toBe('"key-writes";r=0;t=1');
    const tokens = await Promise.all(Array.from({ length: 20 }, () => requestToken(INSIDE, key)));
    expect(tokens.map(({ status }) => status)).toContain(429);
    expect((await withKey(INSIDE, key).get('/balance')).status).toBe(200);
    expect((await withKey(INSIDE, owner).post('/payins', brebPayin())).status).toBe(201);
  });

  it('is not used up by requests from addresses that are not allowed', async () => {
    const key = await newKey('--writes-per-second', '1', '--allow-from', '203.0.113.0/24');
    for (let times = 0; times < 12; times += 1) await withKey(OUTSIDE, key).post('/payins', brebPayin());
    expect((await withKey(INSIDE, key).post('/payins', brebPayin())).status).toBe(201);
  });
});

// Last: it uses up the log lines of rejected requests.
describe('a flood of rejected requests', () => {
  it('from an address that is not allowed, or beyond a limit, is counted instead of logged', async () => {
    const key = await newKey('--reads-per-second', '1', '--allow-from', '203.0.113.0/24');
    const flood = (address: string) =>
      Promise.all(Array.from({ length: 60 }, () => withKey(address, key).get('/balance')));
    const elapsedMs = stopwatch();
    const statuses = [...(await flood(OUTSIDE)), ...(await flood(INSIDE))].map(({ status }) => status);
    expect(statuses.filter((status) => status === 403)).toHaveLength(60);
    // One more is accepted each second.
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(45 - elapsedMs() / 1000);
    const { headers } = await withKey(INSIDE, owner).get('/balance');
    await logLine(headers.get('x-request-id'));
    const lines = (stack.apis[0]?.output() ?? '').split('\n').filter((line) => line.includes(key.keyId));
    // Twenty per window of ten seconds. The flood may fall into two, on a slow machine into more.
    const windows = 2 + Math.floor(elapsedMs() / 10_000);
    expect(lines.filter((line) => /"status":(403|429)/.test(line)).length).toBeLessThanOrEqual(20 * windows);
  });
});
