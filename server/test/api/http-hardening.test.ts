import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stopwatch } from '../../../scripts/testing/expect-within.ts';
import { base62Digits, randomBase32, randomBase62 } from '../../src/kit/ids.ts';
import { ApiClient } from '../harness/api-client.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    settings: { CAUDAL_BASE_URL: 'https://payments.example.com', CAUDAL_LOG_LEVEL: 'info' },
  });
});
afterAll(async () => {
  await stack?.stop();
});

const port = () => Number(new URL(stack.apis[0]?.url ?? '').port);

/** Sends bytes as they are and returns the complete response. */
function exchange(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port(), '127.0.0.1', () => socket.write(request));
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.once('close', () => resolve(text)).once('error', reject);
  });
}

function get(target: string): Promise<string> {
  return exchange(
    `GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nx-api-key: ${stack.organization.apiKey}\r\n\r\n`,
  );
}

describe('every response', () => {
  it.each<[string, () => Promise<string>, number]>([
    ['a list', () => get('/payins'), 200],
    ['the balance', () => get('/balance'), 200],
    ['an unknown route', () => get('/nothing'), 404],
    ['an unusual path', () => get('//payins'), 404],
    ['a URL that cannot be decoded', () => get('/payins/%zz'), 404],
    ['invalid HTTP', () => exchange('NOT HTTP\r\n\r\n'), 400],
    [
      'too large headers',
      () => exchange(`GET / HTTP/1.1\r\nhost: x\r\nx-filler: ${'x'.repeat(40_000)}\r\n\r\n`),
      431,
    ],
    ['no credential', () => exchange('GET /payins HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'), 401],
  ])('is not cached, not sniffed, and demands https: %s', async (_what, send, status) => {
    const answer = await send();
    expect(answer.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
    const [head = ''] = answer.toLowerCase().split('\r\n\r\n');
    const lines = head.split('\r\n');
    expect(lines).toContain('cache-control: no-store');
    expect(lines).toContain('x-content-type-options: nosniff');
    expect(lines).toContain('strict-transport-security: max-age=31536000');
  });

  it('of the rate limit has the same headers', async () => {
    const { apiKey, organizationId } = await stack.newOrganization();
    await stack.command('org', 'limits', organizationId, '--reads', '1');
    const client = stack.api.as(apiKey);
    // At once: five are allowed, and then one per second. Few: the log lines of rejections are limited, and the flood below needs some.
    const limited = await until('a rejection', async () => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => client.get('/balance')));
      return answers.find(({ status }) => status === 429);
    });
    expect(limited.headers.get('cache-control')).toBe('no-store');
    expect(limited.headers.get('x-content-type-options')).toBe('nosniff');
    expect(limited.headers.get('strict-transport-security')).toBe('max-age=31536000');
  });
});

describe('another spelling of a path', () => {
  it.each(['/%70ayins', '//payins', '/./payins', '/x/../payins', '/payins/%2e', 'http://127.0.0.1/payins'])(
    '%s does not reach the route',
    async (target) => {
      expect(await get(target)).toMatch(/^HTTP\/1\.1 404 /);
    },
  );

  it.each(['GET', 'POST', 'DELETE'])('%s with a slash at the end is 404 and says why', async (method) => {
    const headers = { 'x-api-key': stack.organization.apiKey };
    const response = await fetch(`${stack.apis[0]?.url}/payins/`, { method, headers });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: 'not_found',
      detail: 'No path of the API ends with a slash: remove it.',
    });
  });

  it('in a path parameter works where the parameter needs it', async () => {
    for (const key of ['@TESTOK', '%40TESTOK']) {
      expect((await stack.api.get(`/breb/keys/${key}`)).status).toBe(200);
    }
    expect(toProblem(await stack.api.get('/breb/keys/%2B573009999999'))).toEqual({
      status: 404,
      code: 'breb_key_not_found',
    });
  });
});

describe('a body', () => {
  const post = (raw: string, language = 'en') =>
    stack.api.request('POST', '/payins', { raw, headers: { 'accept-language': language } });

  it('with a repeated member is rejected and names it', async () => {
    const raw = JSON.stringify(brebPayin()).replace('{', '{"amountInCents":5,');
    const answer = await post(raw);
    expect(toProblem(answer)).toMatchObject({ status: 400, code: 'malformed_json' });
    expect(answer.body['errors']).toEqual([
      { path: 'amountInCents', code: 'duplicate_field', message: 'Must be sent only once.' },
    ]);
  });

  it('with thousands of unknown members gets a short answer', async () => {
    const members = Array.from({ length: 6000 }, (_, index) => [`f${index}`, 1]);
    const answer = await post(JSON.stringify(Object.fromEntries(members)), 'es');
    expect(toProblem(answer)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(answer.text.length).toBeLessThan(2000);
    expect(answer.body['errors']).toMatchObject([{ path: 'body', code: 'too_many_fields' }]);
  });

  it('with a hundred unknown members gets twenty errors', async () => {
    const members = Array.from({ length: 100 }, (_, index) => [`f${index}`, 1]);
    const answer = await post(JSON.stringify({ ...brebPayin(), ...Object.fromEntries(members) }));
    expect(toProblem(answer)).toMatchObject({ status: 400, code: 'unknown_field' });
    expect(answer.body['errors']).toHaveLength(20);
  });

  it('with thousands of levels is rejected', async () => {
    const answer = await post(`{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`);
    expect(toProblem(answer)).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(answer.body['errors']).toMatchObject([{ path: 'body', code: 'too_deep' }]);
  });

  it.each(['\u200B', 'order\u202E1', 'order\u00AD1'])(
    'with the reference %j is rejected',
    async (reference) => {
      const answer = await stack.api.post('/payins', { ...brebPayin(), reference });
      expect(toProblem(answer)).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(answer.body['errors']).toMatchObject([{ path: 'reference', code: 'invalid_characters' }]);
    },
  );
});

it('rejects a query string with thousands of parameters in a short answer', async () => {
  const query = Array.from({ length: 2000 }, (_, index) => `f${index}=1`).join('&');
  const answer = await stack.api.get(`/payins?${query}`);
  expect(toProblem(answer)).toMatchObject({ status: 400, code: 'invalid_request' });
  expect(answer.text.length).toBeLessThan(2000);
});

describe('a connection', () => {
  const SOCKETS = 1000;

  it('that is rejected is closed, although a thousand clients keep their side open', async () => {
    const pid = stack.apis[0]?.pid ?? 0;
    const descriptors = () => readdirSync(`/proc/${pid}/fd`).length;
    const before = descriptors();
    const sockets: Socket[] = [];
    try {
      await Promise.all(Array.from({ length: SOCKETS }, () => openHalf(sockets)));
      // The kernel accepts connections before the server does.
      await until('the server has accepted them', async () => descriptors() > before + SOCKETS / 2);
      for (const socket of sockets) socket.write('NOT HTTP\r\n\r\n');
      await until('the descriptors are free', async () => descriptors() < before + 20);
      const answer = await new ApiClient(stack.apis[0]?.url ?? '').get('/payins');
      expect(answer.status).toBe(401);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  /** A client that neither reads the answer nor closes its side. */
  function openHalf(sockets: Socket[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port: port(), host: '127.0.0.1', allowHalfOpen: true });
      sockets.push(socket);
      socket.once('connect', () => resolve()).on('error', reject);
    });
  }
});

describe('a proxy that is not configured', () => {
  it('is reported once in the log and counted', async () => {
    const api = stack.apis[0];
    const send = () => fetch(`${api?.url}/nothing`, { headers: { 'x-forwarded-for': '203.0.113.7' } });
    const requestIds: string[] = [];
    for (let request = 0; request < 3; request += 1)
      requestIds.push((await send()).headers.get('x-request-id') ?? '');
    await until('all three are logged', async () =>
      requestIds.every((id) => id !== '' && api?.output().includes(id)),
    );
    expect(api?.output().split('forwarded_header_untrusted')).toHaveLength(2);
    const metrics = await (await fetch(`${api?.opsUrl}/metrics`)).text();
    expect(metrics).toContain('caudal_http_untrusted_forwarded_total 3');
  });
});

describe('a flood of made-up keys', () => {
  /** More than the invalid credentials that an address has in a minute, so that one round uses them up. */
  const AT_ONCE = 400;
  const LINES_PER_WINDOW = 20;
  const WINDOW_MS = 10_000;

  it('gets 401, then 429, and few log lines; a new token of a merchant works at the same address', async () => {
    const api = stack.apis[0];
    const linesBefore = api?.output().split('"code":"unauthorized"').length ?? 0;
    const seen = new Set<number>();
    const elapsed = stopwatch();
    // Requests that are already in progress still get 401 when the limit of their address is reached.
    await until('the address is limited', async () => {
      for (const status of await Promise.all(Array.from({ length: AT_ONCE }, sendMadeUpKey)))
        seen.add(status);
      return seen.has(429);
    });
    // The flood may begin and end within a window.
    const windows = Math.floor(elapsed() / WINDOW_MS) + 2;
    expect(seen).toEqual(new Set([401, 429]));
    const { status, headers } = await new ApiClient(api?.url ?? '', await newToken()).get('/balance');
    expect(status).toBe(200);
    const countLines = () => (api?.output().split('"code":"unauthorized"').length ?? 0) - linesBefore;
    // The process buffers its log for up to a second.
    const last = headers.get('x-request-id') ?? '';
    await until('the log has the last request', async () => api?.output().includes(last));
    expect(countLines()).toBeGreaterThan(0);
    expect(countLines()).toBeLessThanOrEqual(windows * LINES_PER_WINDOW);
  });

  /** The header of a token that no process has looked up. */
  async function newToken(): Promise<{ authorization: string }> {
    const { keyId, apiKey } = stack.organization;
    const { body } = await stack.api.request('POST', '/oauth/token', {
      raw: `grant_type=client_credentials&client_id=${keyId}&client_secret=${apiKey}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    return { authorization: `Bearer ${String(body['access_token'])}` };
  }

  async function sendMadeUpKey(): Promise<number> {
    const body = `cdl_test_01${randomBase32(14)}_${randomBase62(43)}`;
    return (await stack.api.as(body + base62Digits(crc32(body), 6)).get('/balance')).status;
  }
});
