import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Child } from '../../scripts/stack/child.ts';
import { freePort } from '../../scripts/stack/free-port.ts';
import { startServer } from '../../scripts/stack/processes.ts';
import { within } from '../../scripts/testing/expect-within.ts';
import { ApiClient } from '../../server/test/harness/api-client.ts';
import { type Stack, startStack } from '../../server/test/harness/stack.ts';
import { until } from '../../server/test/harness/until.ts';
import { CommandLine, stackUrl } from './command-line.ts';
import { startReceiver } from './local-receiver.ts';

let stack: Stack;
let shop: CommandLine;
let other: ApiClient;
let restarted: Child | null = null;

beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 1 });
  const { apiKey } = stack.organization;
  shop = new CommandLine({ CAUDAL_API_KEY: apiKey, CAUDAL_BASE_URL: stackUrl(stack) });
  other = new ApiClient(stack.apis[1]?.url ?? '', { 'x-api-key': apiKey });
});
afterAll(async () => {
  await restarted?.stop();
  await stack.stop();
});

/** Creates a `paymentlink.expired` event within a second, through the API process that is never killed. */
async function createEvent(reference: string): Promise<void> {
  const { body } = await other.post<{ paymentLinkId: string }>('/payment-links', {
    amountType: 'FIXED',
    amountInCents: 100,
    reference,
    callbackUrl: 'https://shop.example.com/thanks',
  });
  await other.post(`/payment-links/${body.paymentLinkId}/expire`, {});
}

const referencesIn = (text: string) =>
  [...text.matchAll(/paymentlink\.expired +(\S+)/g)].map(([, found]) => found);

test('listen --trigger triggers an event and shows it', async () => {
  const { code, stdout } = await within('listen --trigger', 25_000, () =>
    shop.run('listen', '--trigger', 'payin.confirmed', '--exit-after', '1'),
  );
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}payin\.confirmed {8}trigger-\w{10} +COP 49,800 {2}CONFIRMED\n$/);
});

test('events are shown and forwarded once and in order across a killed and restarted API', async () => {
  const [port, unused] = [await freePort(), await freePort()];
  const running = shop.start(
    ['listen', '--forward-to', `http://127.0.0.1:${port}/hook`, '--exit-after', '3'],
    // Listen retries a refused connection.
    {
      NODE_OPTIONS: `--import=${new URL('refuse-first-request.ts', import.meta.url).href}`,
      REFUSED_URL: `http://127.0.0.1:${unused}/hook`,
    },
  );
  await running.waitForOutput('Listening at');
  const secret = /whsec_[\w+/=]+/.exec(running.stderr())?.[0] ?? '';
  const receiver = await startReceiver(port, secret);
  await createEvent('before');
  await running.waitForOutput(/paymentlink\.expired +before/);
  await until('the first event is forwarded', async () => receiver.received.length === 1);
  stack.apis[0]?.kill('SIGKILL');
  await running.waitForOutput('Connection lost');
  await createEvent('meanwhile');
  restarted = await startServer('api', { ...stack.settings, CAUDAL_PORT: new URL(stackUrl(stack)).port });
  await running.waitForOutput(/paymentlink\.expired +meanwhile/);
  await createEvent('after');
  const { code, stdout } = await running.ended;
  await receiver.stop();
  expect(code).toBe(0);
  expect(referencesIn(stdout)).toEqual(['before', 'meanwhile', 'after']);
  expect(receiver.rejected).toEqual([]);
  const references = receiver.received.map(
    ({ body }) => (JSON.parse(body) as { data: { reference: string } }).data.reference,
  );
  expect(references).toEqual(['before', 'meanwhile', 'after']);
  expect(stdout.match(/-> 204 in \d+ ms {2}POST/g)).toHaveLength(3);
});

test('a forwarded event has the same body bytes as a webhook delivery', async () => {
  const sink = await freePort();
  const created = await stack.api.post<{ id: string; secret: string }>('/webhook-endpoints', {
    url: `http://127.0.0.1:${sink}/`,
  });
  const [endpoint, own] = [await startReceiver(sink, created.body.secret), await freePort()];
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const local = await startReceiver(own, secret);
  const args = [
    '--forward-to',
    `http://127.0.0.1:${own}/`,
    '--secret',
    secret,
    '--exit-after',
    '1',
    '--json',
  ];
  const running = shop.start(['listen', ...args]);
  await running.waitForOutput('Listening at');
  await createEvent('exactly');
  const { code, stdout, stderr } = await running.ended;
  await until('the service delivered it too', async () => endpoint.received.length === 1);
  await Promise.all([endpoint.stop(), local.stop(), shop.run('endpoints', 'delete', created.body.id)]);
  expect(code).toBe(0);
  expect(local.received).toEqual(endpoint.received);
  // stdout has one JSON document per line; the receiver's response is on stderr.
  expect(`${endpoint.received[0]?.body}\n`).toBe(stdout);
  expect(stderr).toContain('-> 204');
  expect(stderr).not.toContain(secret);
});

test('--since starts earlier, --events filters by name, and an error response is shown', async () => {
  const earlier = await shop.run(
    'listen',
    '--since',
    '10m',
    '--events',
    'paymentlink.expired',
    '--exit-after',
    '4',
  );
  expect([earlier.code, referencesIn(earlier.stdout)]).toEqual([
    0,
    ['before', 'meanwhile', 'after', 'exactly'],
  ]);
  const first = await shop.json<{ data: { id: string }[] }>(
    'events',
    'list',
    '--event',
    'paymentlink.expired',
    '--all',
  );
  const id = first.data.at(-2)?.id ?? '';
  const port = await freePort();
  const otherReceiver = await startReceiver(port, `whsec_${Buffer.alloc(32, 1).toString('base64')}`);
  const rejected = await shop.run(
    'listen',
    '--since',
    id,
    '--exit-after',
    '1',
    '--forward-to',
    `http://127.0.0.1:${port}/`,
  );
  await otherReceiver.stop();
  expect(referencesIn(rejected.stdout)).toEqual(['meanwhile']);
  expect(rejected.stdout).toContain('-> 401');
});

test('listen exits 130 on Ctrl-C, and 1 when --timeout passes without events', async () => {
  const running = shop.start(['listen']);
  await running.waitForOutput('Listening at');
  running.child.kill('SIGINT');
  const [ended, late] = await Promise.all([
    running.ended,
    shop.run('listen', '--exit-after', '1', '--timeout', '1s'),
  ]);
  expect([ended.code, ended.stdout]).toEqual([130, '']);
  expect(ended.stderr).not.toMatch(/ at .*\.ts:\d+/);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('only 0 of 1 events')]);
});

/** A server that accepts requests and never answers. */
async function startSilentServer() {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    env: { CAUDAL_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    requested: once(server, 'request'),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('listen exits 1 when --timeout passes, and 130 on Ctrl-C, while a server does not answer', async () => {
  // One for each: a request of the first must not count as one of the second.
  const [first, second] = [await startSilentServer(), await startSilentServer()];
  try {
    const late = await shop.start(['listen', '--exit-after', '1', '--timeout', '1s'], first.env).ended;
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('only 0 of 1 events')]);
    const running = shop.start(['listen'], second.env);
    await second.requested;
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
  } finally {
    first.stop();
    second.stop();
  }
});
