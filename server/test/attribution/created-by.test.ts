import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiKey } from '../../src/flows/operations/manage-organizations.system.ts';
import { SCOPES } from '../../src/organizations/organization.ts';
import { ApiClient } from '../harness/api-client.ts';
import { type LinkBody, linkRequest, PAYER_DETAILS } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { cancelPayout, createPayout, newShop, resolveKey, type Shop } from '../harness/payout-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { WebhookSink } from '../harness/webhook-sink.ts';

let stack: Stack;
let caudal: InProcess;
let sink: WebhookSink;
let shop: Shop;
/** `key:<id>` of the shop's API key. */
let key: string;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  caudal = await composeInProcess(stack.settings);
  sink = await WebhookSink.start();
  shop = await newShop(caudal, stack.api);
  key = `key:${shop.principal.keyId}`;
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
  await sink?.close();
});

async function createdBy(table: string, id: unknown): Promise<string | null | undefined> {
  const [row] = await stack.database.query<{ created_by: string | null }>(
    `select created_by from caudal.${table} where id = $1`,
    [id],
  );
  return row?.created_by;
}

async function transfersOf(resourceId: unknown): Promise<string[]> {
  const rows = await stack.database.query<{ transfer: string }>(
    `select cause_kind || ' ' || coalesce(created_by, 'null') as transfer from caudal.ledger_transfers
     where resource_id = $1 order by at, id`,
    [resourceId],
  );
  return rows.map(({ transfer }) => transfer);
}

async function actionsOn(resourceId: unknown): Promise<string[]> {
  const rows = await stack.database.query<{ action: string }>(
    `select action || ' ' || created_by as action from caudal.merchant_actions
     where resource_id is not distinct from $1 and organization_id = $2 order by id`,
    [resourceId, shop.id],
  );
  return rows.map(({ action }) => action);
}

async function newLink(api: ApiClient): Promise<LinkBody> {
  return (await api.post<LinkBody>('/payment-links', linkRequest())).body;
}

/** Runs an operator command as "ana maría". @returns its output */
async function operator(...args: readonly string[]): Promise<string> {
  const settings = { ...stack.settings, DATABASE_URL: stack.database.ownerUrl, CAUDAL_BY: 'ana maría' };
  const { code, stdout, stderr } = await runOperatorCommand(settings, ...args);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

it('stores the API key that created a payin, a payment link, a webhook endpoint and a key lookup', async () => {
  const payin = await shop.api.post('/payins', brebPayin());
  expect(await createdBy('payins', payin.body['id'])).toBe(key);
  const link = await newLink(shop.api);
  expect(await createdBy('payment_links', link.paymentLinkId)).toBe(key);
  const endpoint = await shop.api.post('/webhook-endpoints', { url: sink.url('/created') });
  expect(await createdBy('webhook_endpoints', endpoint.body['id'])).toBe(key);
  const lookup = await resolveKey(shop.api, '@TESTOK');
  expect(await createdBy('breb_lookups', lookup.lookupId)).toBe(key);
});

it('attributes a payout and its hold to the API key, and its posting to the system', async () => {
  const payout = await createPayout(shop.api);
  expect(await createdBy('payouts', payout.id)).toBe(key);
  const transfers = await until('the payout is posted', async () => {
    const found = await transfersOf(payout.id);
    return found.length === 2 ? found : null;
  });
  expect(transfers).toEqual([`payout_hold ${key}`, 'payout system']);
});

it('attributes what an access token creates to the API key that issued it', async () => {
  const { keyId, apiKey } = stack.organization;
  const response = await fetch(`${stack.apis[0]?.url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${keyId}:${apiKey}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  const bearer = new ApiClient(stack.apis[0]?.url ?? '', { authorization: `Bearer ${access_token}` });
  const payin = await bearer.post('/payins', brebPayin());
  expect(await createdBy('payins', payin.body['id'])).toBe(`key:${keyId}`);
});

it('attributes the attempt of a payer to the payer, and the payment to the system', async () => {
  const link = await newLink(shop.api);
  await new PayerBrowser().post(`${link.paymentLinkUrl}/begin`, { ...PAYER_DETAILS, method: 'BRE_B' });
  const [attempt] = await stack.database.query<{ id: string; breb_key: string; created_by: string }>(
    'select id, breb_key, created_by from caudal.payins where payment_link_id = $1',
    [link.paymentLinkId],
  );
  expect(attempt?.created_by).toBe('payer');
  const simulator = new SimulatorControl(stack.simulatorUrl);
  const brebKey = attempt?.breb_key ?? '';
  await until('the key is registered', async () => (await simulator.key(brebKey)) !== null);
  await simulator.pay({ key: brebKey });
  const transfers = await until('the payment is posted', async () => {
    const found = await transfersOf(attempt?.id);
    return found.length > 0 ? found : null;
  });
  expect(transfers).toEqual(['payment system']);
});

it('attributes a cancellation and its release to the API key that canceled', async () => {
  await operator('rails', 'pause', '--rail', 'BRE_B', '--org', shop.id, '--reason', 'test');
  const [worker = { opsUrl: '' }] = stack.workers;
  await until(
    'the worker sends no orders',
    async () => (await readMetric(worker, 'caudal_rail_pauses')) === 1,
  );
  const credential = await createApiKey(caudal.deps, 'test', shop.id, {
    name: 'second',
    scopes: SCOPES,
    lifetimeSeconds: null,
  });
  const canceler = shop.api.as(credential?.text ?? '');
  const payout = await createPayout(shop.api);
  await cancelPayout(canceler, payout.id);
  await cancelPayout(canceler, payout.id);
  await operator('rails', 'resume', '--rail', 'BRE_B', '--org', shop.id);
  expect(await createdBy('payouts', payout.id)).toBe(key);
  expect(await actionsOn(payout.id)).toEqual([`payout.cancel key:${credential?.id}`]);
  expect(await transfersOf(payout.id)).toEqual([
    `payout_hold ${key}`,
    `payout_release key:${credential?.id}`,
  ]);
});

it('records the expiry of a link, changes of an endpoint and replays as actions of the API key', async () => {
  const link = await newLink(shop.api);
  await shop.api.post(`/payment-links/${link.paymentLinkId}/expire`, {});
  expect(await actionsOn(link.paymentLinkId)).toEqual([`payment_link.expire ${key}`]);

  const { body } = await shop.api.post('/webhook-endpoints', { url: sink.url('/changed') });
  const path = `/webhook-endpoints/${String(body['id'])}`;
  await shop.api.request('PATCH', path, { body: { description: 'orders' } });
  await shop.api.request('POST', `${path}/rotate-secret`);
  const tested = await shop.api.request('POST', `${path}/test`);
  await shop.api.request('DELETE', path);
  expect(await actionsOn(body['id'])).toEqual([
    `webhook_endpoint.update ${key}`,
    `webhook_endpoint.rotate_secret ${key}`,
    `webhook_endpoint.test ${key}`,
    `webhook_endpoint.delete ${key}`,
  ]);

  const eventId = String(tested.body['eventId']);
  expect((await shop.api.request('POST', `/events/${eventId}/replay`)).status).toBeLessThan(300);
  expect(await actionsOn(eventId)).toEqual([`event.replay ${key}`]);
  const [clock] = await stack.database.query<{ now: Date }>('select caudal.now() as now');
  const range = await shop.api.post('/events/replay', {
    createdFrom: link.createdAt,
    createdTo: clock?.now.toISOString(),
  });
  expect(range.status).toBeLessThan(300);
  expect(await actionsOn(null)).toEqual([`events.replay ${key}`]);
});

it('records no action for a request that changed nothing', async () => {
  const unknown = randomUUID();
  await shop.api.request('DELETE', `/webhook-endpoints/${unknown}`);
  await shop.api.post(`/payment-links/${unknown}/expire`, {});
  await cancelPayout(shop.api, unknown);
  expect(await actionsOn(unknown)).toEqual([]);
});

it('attributes a deposit and its reversal to the operator by name', async () => {
  const deposit = await operator(
    'ledger',
    'deposit',
    '--org',
    shop.id,
    '--amount',
    '5000',
    '--reference',
    'nota 7',
    '--json',
  );
  const { transferId } = JSON.parse(deposit) as { transferId: string };
  expect(await createdBy('ledger_transfers', transferId)).toBe('operator:ana maría');
  await operator('ledger', 'reverse', '--transfer', transferId, '--org', shop.id, '--reason', 'test');
  expect(await transfersOf(transferId)).toEqual(['reversal operator:ana maría']);
});

it('rejects a creator that has none of the forms', async () => {
  const payin = await shop.api.post('/payins', brebPayin());
  for (const invalid of ['key:x', 'ana', 'operator:', shop.principal.keyId])
    await expect(
      stack.database.query('update caudal.payins set created_by = $2 where id = $1', [
        payin.body['id'],
        invalid,
      ]),
    ).rejects.toThrow('payin_created_by');
});
