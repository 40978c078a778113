import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Child } from '../../scripts/stack/child.ts';
import { freePort } from '../../scripts/stack/postgres.ts';
import { startServer } from '../../scripts/stack/processes.ts';
import { ApiClient } from '../../server/test/harness/api-client.ts';
import { type Stack, startStack } from '../../server/test/harness/stack.ts';
import { until } from '../../server/test/harness/until.ts';
import { addressOf, CommandLine } from './command-line.ts';
import { startReceiver } from './local-receiver.ts';

let stack: Stack;
let shop: CommandLine;
let other: ApiClient;
let restarted: Child | null = null;

beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 1 });
  const { apiKey } = stack.organization;
  shop = new CommandLine({ CAUDAL_API_KEY: apiKey, CAUDAL_BASE_URL: addressOf(stack) });
  other = new ApiClient(stack.apis[1]?.url ?? '', { 'x-api-key': apiKey });
});
afterAll(async () => {
  await restarted?.stop();
  await stack.stop();
});

/** Ends in `paymentlink.expired` within a second, by the API that is never killed. */
async function happens(reference: string): Promise<void> {
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

test('listen --trigger makes an event happen and shows it: the whole loop in one command', async () => {
  const { code, stdout } = await shop.run(
    'listen',
    '--trigger',
    'payin.confirmed',
    '--exit-after',
    '1',
    '--timeout',
    '25s',
  );
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}payin\.confirmed {8}trigger-\w{10} +COP 49,800 {2}CONFIRMED\n$/);
});

test('events come once each and in order over a killed and restarted API, and so does what is forwarded', async () => {
  const port = await freePort();
  const running = shop.start([
    'listen',
    '--forward-to',
    `http://127.0.0.1:${port}/hook`,
    '--exit-after',
    '3',
  ]);
  await running.says('Listening at');
  const secret = /whsec_[\w+/=]+/.exec(running.stderr())?.[0] ?? '';
  await happens('before');
  await running.says(/paymentlink\.expired +before/);
  // Nobody listened there yet: a connection that is refused is tried again.
  const receiver = await startReceiver(port, secret);
  await until('the first is forwarded', async () => receiver.received.length === 1);
  stack.apis[0]?.kill('SIGKILL');
  await running.says('Connection lost');
  await happens('meanwhile');
  restarted = await startServer('api', { ...stack.settings, CAUDAL_PORT: new URL(addressOf(stack)).port });
  await running.says(/paymentlink\.expired +meanwhile/);
  await happens('after');
  const { code, stdout } = await running.ended;
  await receiver.stop();
  expect(code).toBe(0);
  expect(referencesIn(stdout)).toEqual(['before', 'meanwhile', 'after']);
  expect(receiver.refused).toEqual([]);
  const told = receiver.received.map(
    ({ body }) => (JSON.parse(body) as { data: { reference: string } }).data.reference,
  );
  expect(told).toEqual(['before', 'meanwhile', 'after']);
  expect(stdout.match(/-> 204 in \d+ ms {2}POST/g)).toHaveLength(3);
});

test('what is forwarded is to the byte what the service would deliver', async () => {
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
  await running.says('Listening at');
  await happens('exactly');
  const { code, stdout, stderr } = await running.ended;
  await until('the service delivered it too', async () => endpoint.received.length === 1);
  await Promise.all([endpoint.stop(), local.stop(), shop.run('endpoints', 'delete', created.body.id)]);
  expect(code).toBe(0);
  expect(local.received).toEqual(endpoint.received);
  // One document a line on stdout, and what the local program answered beside it.
  expect(`${endpoint.received[0]?.body}\n`).toBe(stdout);
  expect(stderr).toContain('-> 204');
  expect(stderr).not.toContain(secret);
});

test('--since begins earlier, --events leaves others out, and an answer that is no yes is shown', async () => {
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
  const stranger = await startReceiver(port, `whsec_${Buffer.alloc(32, 1).toString('base64')}`);
  const refused = await shop.run(
    'listen',
    '--since',
    id,
    '--exit-after',
    '1',
    '--forward-to',
    `http://127.0.0.1:${port}/`,
  );
  await stranger.stop();
  expect(referencesIn(refused.stdout)).toEqual(['meanwhile']);
  expect(refused.stdout).toContain('-> 401');
});

test('Ctrl-C ends it cleanly with 130, and --timeout with 1 when nothing came', async () => {
  const running = shop.start(['listen']);
  await running.says('Listening at');
  running.child.kill('SIGINT');
  const [ended, late] = await Promise.all([
    running.ended,
    shop.run('listen', '--exit-after', '1', '--timeout', '1s'),
  ]);
  expect([ended.code, ended.stdout]).toEqual([130, '']);
  expect(ended.stderr).not.toMatch(/ at .*\.ts:\d+/);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('only 0 of 1 events')]);
});
