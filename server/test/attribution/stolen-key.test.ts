import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectWithin, stopwatch } from '../../../scripts/testing/expect-within.ts';
import { readKeyReport } from '../../src/flows/operations/read-key-activity.system.ts';
import { ApiClient } from '../harness/api-client.ts';
import { type LinkBody, linkRequest } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import {
  cancelPayout,
  createPayout,
  newShop,
  type Shop,
  waitForPayoutStatus,
} from '../harness/payout-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';

const OFFICE = '203.0.113.10';
const THIEF = '198.51.100.66';

interface Row {
  readonly id: string;
  readonly status: string;
  readonly amountInCents: number;
  readonly unsent?: boolean;
  readonly action?: string;
  readonly resourceId?: string;
  readonly cause?: string;
}

interface Activity {
  readonly key: { readonly id: string; readonly state: string };
  readonly networks: readonly { readonly network: string }[];
  readonly payins: readonly Row[];
  readonly payouts: readonly Row[];
  readonly paymentLinks: readonly Row[];
  readonly webhookEndpoints: readonly Row[];
  readonly actions: readonly Row[];
  readonly transfers: readonly Row[];
}

let stack: Stack;
let caudal: InProcess;
let sink: WebhookSink;
let shop: Shop;
let stolen: { readonly keyId: string; readonly apiKey: string };
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2, settings: { CAUDAL_TRUSTED_PROXIES: '127.0.0.1' } });
  caudal = await composeInProcess(stack.settings);
  sink = await WebhookSink.start();
  shop = await newShop(caudal, stack.api);
  stolen = await operator('keys', 'create', '--org', shop.id, '--name', 'payouts');
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
  await sink?.close();
});

async function operator<Json>(...args: readonly string[]): Promise<Json> {
  const settings = { ...stack.settings, DATABASE_URL: stack.database.ownerUrl, CAUDAL_BY: 'ana' };
  const { code, stdout, stderr } = await runOperatorCommand(settings, ...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Json;
}

/** The stolen key, used from an address on one of the two API processes. */
function use(address: string, api = 0): ApiClient {
  return new ApiClient(stack.apis[api]?.url ?? '', {
    'x-api-key': stolen.apiKey,
    'x-forwarded-for': address,
  });
}

const readActivity = () => operator<Activity>('keys', 'activity', stolen.keyId);
const ids = (rows: readonly Row[]) => rows.map(({ id }) => id).toSorted();

function newNetworkEvents(): Record<string, unknown>[] {
  return sink.requests
    .filter(({ path }) => path === '/hook')
    .map(({ body }) => JSON.parse(body.toString()) as { event: string; data: Record<string, unknown> })
    .filter(({ event }) => event === 'api_key.used_from_new_network')
    .map(({ data }) => data);
}

/** Waits until both workers know the pause. */
async function pausePayouts(): Promise<void> {
  await operator('rails', 'pause', '--rail', 'BRE_B', '--org', shop.id, '--reason', 'stolen key');
  for (const worker of stack.workers)
    await until(
      'the worker sends no payouts',
      async () => (await readMetric(worker, 'caudal_rail_pauses')) === 1,
    );
}

/** How long each API process still accepts the key. */
function measureRevocation(): Promise<number[]> {
  const elapsedMs = stopwatch();
  return Promise.all(
    stack.apis.map(async (_, api) => {
      await until('the key is rejected', async () => (await use(THIEF, api).get('/balance')).status === 401);
      return elapsedMs();
    }),
  );
}

it('is reported by one event, stopped within a second, and its traces are listed by one command', async () => {
  await shop.api.post('/webhook-endpoints', { url: sink.url('/hook') });
  // The owner uses the key from the office: the first network of a key has no event.
  for (const api of [0, 1]) expect((await use(OFFICE, api).get('/balance')).status).toBe(200);
  await until('the first network is recorded', async () => (await readActivity()).networks.length === 1);

  // The thief uses both processes at once.
  const [payin, link, sent] = await Promise.all([
    use(THIEF, 0).post('/payins', brebPayin()),
    use(THIEF, 1).post<LinkBody>('/payment-links', linkRequest()),
    createPayout(use(THIEF, 0)),
  ]);
  const { paymentLinkId } = link.body;
  const endpoint = await use(THIEF, 1).post('/webhook-endpoints', { url: sink.url('/thief') });
  await use(THIEF, 0).post(`/payment-links/${paymentLinkId}/expire`, {});
  await waitForPayoutStatus(shop.api, sent.id, 'CONFIRMED');
  // The owner works with another key of the same organization meanwhile.
  await createPayout(shop.api);
  await shop.api.post('/payins', brebPayin());

  const [event] = await until('the event is delivered', () => {
    const events = newNetworkEvents();
    return Promise.resolve(events.length > 0 ? events : null);
  });
  expect(event).toMatchObject({
    apiKeyId: stolen.keyId,
    network: '198.51.100.0/24',
    allowed: true,
    organizationId: shop.id,
  });

  await pausePayouts();
  const unsent = await createPayout(use(THIEF, 1));
  await operator('keys', 'revoke', stolen.keyId);
  expectWithin('the revocation', Math.max(...(await measureRevocation())), 1000);

  const activity = await readActivity();
  expect(activity.key).toMatchObject({ id: stolen.keyId, state: 'revoked' });
  expect(activity.networks.map(({ network }) => network)).toEqual(['203.0.113.0/24', '198.51.100.0/24']);
  expect(ids(activity.payins)).toEqual([payin.body['id']]);
  expect(ids(activity.paymentLinks)).toEqual([paymentLinkId]);
  expect(ids(activity.webhookEndpoints)).toEqual([endpoint.body['id']]);
  expect(activity.payouts).toMatchObject([
    { id: sent.id, status: 'CONFIRMED', amountInCents: 12_500, unsent: false },
    { id: unsent.id, status: 'PROCESSING', amountInCents: 12_500, unsent: true },
  ]);
  expect(activity.actions).toMatchObject([{ action: 'payment_link.expire', resourceId: paymentLinkId }]);
  expect(activity.transfers).toMatchObject([
    { cause: 'payout_hold', resourceId: sent.id },
    { cause: 'payout_hold', resourceId: unsent.id },
  ]);

  // Another key of the organization cancels what was not sent.
  expect((await cancelPayout(shop.api, unsent.id)).body.status).toBe('CANCELED');
  expect((await readActivity()).payouts[1]).toMatchObject({ status: 'CANCELED', unsent: false });
  // Two processes saw the network and recorded one event.
  const events = await stack.database.query(
    "select from caudal.events where event = 'api_key.used_from_new_network' and organization_id = $1",
    [shop.id],
  );
  expect(events).toHaveLength(1);
});

it('cannot act after its revocation with a request that it opened before', async () => {
  const key = await operator<typeof stolen>('keys', 'create', '--org', shop.id, '--name', 'slow');
  const body = JSON.stringify(brebPayin());
  const open = request(`${stack.apis[0]?.url}/payins`, {
    method: 'POST',
    headers: {
      'x-api-key': key.apiKey,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  open.flushHeaders();
  const answered = once(open, 'response') as Promise<[IncomingMessage]>;
  await once(open, 'continue');
  const elapsedMs = stopwatch();
  await operator('keys', 'revoke', key.keyId);
  const client = new ApiClient(stack.apis[0]?.url ?? '', { 'x-api-key': key.apiKey });
  await until('the key is rejected', async () => (await client.get('/balance')).status === 401);
  // A revocation reaches everything within a second.
  await until('a second has passed', () => Promise.resolve(elapsedMs() > 1000));
  open.end(body);
  expect((await answered)[0].statusCode).toBe(401);
});

it('lists the newest rows in the order of time, and older ones before a time', async () => {
  const { id } = await newShop(caudal, stack.api);
  const key = await operator<typeof stolen>('keys', 'create', '--org', id, '--name', 'busy');
  const client = use(OFFICE).with({ 'x-api-key': key.apiKey });
  const payins: unknown[] = [];
  for (let n = 0; n < 4; n += 1) payins.push((await client.post('/payins', brebPayin())).body['id']);
  const read = async (until: Date | null, maxRows: number) => {
    const report = await readKeyReport(caudal.deps, key.keyId, { since: null, until }, maxRows);
    if (!report) throw new Error('the key is missing');
    return { rows: report.activity.payins, truncated: report.truncated };
  };
  const all = await read(null, 4);
  expect(all.rows.map(({ id }) => id)).toEqual(payins);
  expect(all.truncated).toBe(false);
  const newest = await read(null, 2);
  expect(newest.rows.map(({ id }) => id)).toEqual(payins.slice(2));
  expect(newest.truncated).toBe(true);
  const older = await read(newest.rows[0]?.createdAt ?? null, 2);
  expect(older.rows.map(({ id }) => id)).toEqual(payins.slice(0, 2));
  expect(older.truncated).toBe(false);
});

it('reports a key that is used from an address outside its allow-list as not allowed', async () => {
  const key = await operator<typeof stolen>(
    'keys',
    'create',
    '--org',
    shop.id,
    '--name',
    'fixed',
    '--allow-from',
    '203.0.113.0/24',
  );
  const client = (address: string) => use(address).with({ 'x-api-key': key.apiKey });
  expect((await client(OFFICE).get('/balance')).status).toBe(200);
  const networks = async () => (await operator<Activity>('keys', 'activity', key.keyId)).networks;
  await until('the first network is recorded', async () => (await networks()).length === 1);
  expect((await client('2001:db8:7::1').get('/balance')).status).toBe(403);
  await until('the event is delivered', () =>
    Promise.resolve(
      newNetworkEvents().some(({ network, allowed }) => network === '2001:db8:7::/48' && allowed === false),
    ),
  );
});
