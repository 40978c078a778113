import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkRequest } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { newShop, payoutRequest, type Shop } from '../harness/payout-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let caudal: InProcess;
let shop: Shop;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  caudal = await composeInProcess(stack.settings);
  shop = await newShop(caudal, stack.api);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

type Body = Record<string, unknown>;

const METADATA = { orderId: '1001', 'internal note': 'Ñandú & «tildes» 😀', empty: '' };

interface Resource {
  readonly name: string;
  readonly path: string;
  readonly table: string;
  readonly id: string;
  readonly request: (changes: Body) => Body;
  /** Brings the resource to the end that emits an event. */
  readonly end: (resource: Body) => Promise<unknown>;
}

const RESOURCES: readonly Resource[] = [
  {
    name: 'payin',
    path: '/payins',
    table: 'payins',
    id: 'id',
    request: brebPayin,
    end: async ({ sourceData, amount }) => {
      const simulator = new SimulatorControl(stack.simulatorUrl);
      const { keyString: key } = sourceData as { keyString: string };
      await until('the key is registered', async () => (await simulator.key(key)) !== null);
      await simulator.pay({ key, amount: `${String(amount)}.00` });
    },
  },
  {
    name: 'payout',
    path: '/payouts',
    table: 'payouts',
    id: 'id',
    request: payoutRequest,
    end: () => Promise.resolve(),
  },
  {
    name: 'payment link',
    path: '/payment-links',
    table: 'payment_links',
    id: 'paymentLinkId',
    request: linkRequest,
    end: ({ paymentLinkId }) => shop.api.post(`/payment-links/${String(paymentLinkId)}/expire`, undefined),
  },
];

function post({ path, request }: Resource, changes: Body, headers: Record<string, string> = {}) {
  return shop.api.post<Body>(path, request(changes), headers);
}

describe.each(RESOURCES)('metadata of a $name', (resource) => {
  it('is returned by the creation, its replay, the resource and its list', async () => {
    const body = resource.request({ metadata: METADATA });
    const headers = { 'idempotency-key': randomUUID() };
    const created = await shop.api.post<Body>(resource.path, body, headers);
    expect(created.status).toBe(201);
    expect(created.body['metadata']).toEqual(METADATA);
    const replayed = await shop.api.post<Body>(resource.path, body, headers);
    expect(replayed.headers.get('idempotent-replayed')).toBe('true');
    expect(replayed.body).toEqual(created.body);
    const id = String(created.body[resource.id]);
    expect((await shop.api.get<Body>(`${resource.path}/${id}`)).body['metadata']).toEqual(METADATA);
    const list = await shop.api.get<{ data: Body[] }>(resource.path);
    expect(list.body.data.find((each) => each[resource.id] === id)?.['metadata']).toEqual(METADATA);
  });

  it('is part of the request that an idempotency key is bound to', async () => {
    const body = resource.request({ metadata: METADATA });
    const headers = { 'idempotency-key': randomUUID() };
    expect((await shop.api.post(resource.path, body, headers)).status).toBe(201);
    const other = await shop.api.post(resource.path, { ...body, metadata: { orderId: '1002' } }, headers);
    expect([other.status, toProblem(other).code]).toEqual([422, 'idempotency_mismatch']);
  });

  it('is in the event', async () => {
    const created = await post(resource, { metadata: METADATA });
    await resource.end(created.body);
    const id = String(created.body[resource.id]);
    const event = await until('the event is listed', async () => {
      const { body } = await shop.api.get<{ data: { data: Body }[] }>('/events?pageSize=100');
      return body.data.find(({ data }) => data[resource.id] === id) ?? null;
    });
    expect(event.data['metadata']).toEqual(METADATA);
  });

  it('is stored encrypted, and not at all when there is none', async () => {
    const metadata = { secret: `plaintext-${randomUUID()}` };
    const ids = [];
    for (const changes of [{ metadata }, { metadata: {} }, { metadata: null }, {}]) {
      const created = await post(resource, changes);
      expect(created.body['metadata']).toEqual('secret' in (changes.metadata ?? {}) ? metadata : {});
      ids.push(created.body[resource.id]);
    }
    const rows = await stack.database.query<{ metadata: Buffer | null; row: string }>(
      `select metadata, t::text as row from caudal.${resource.table} t where id = any ($1) order by array_position($1, id)`,
      [ids],
    );
    expect(rows.map((row) => row.metadata === null)).toEqual([false, true, true, true]);
    expect(rows[0]?.metadata?.toString('latin1')).not.toContain('plaintext');
    expect(rows[0]?.row).not.toContain(Buffer.from('plaintext').toString('hex'));
  });

  it('may have 20 pairs with keys of 40 and values of 500 characters', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [String(index).padStart(40, 'k'), 'v'.repeat(500)]),
    );
    const created = await post(resource, { metadata });
    expect(created.status).toBe(201);
    expect(created.body['metadata']).toEqual(metadata);
  });

  it.each([
    {
      what: '21 pairs',
      metadata: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`key${index}`, 'v'])),
      error: { path: 'metadata', code: 'too_many_pairs', message: 'Must have at most 20 pairs.' },
    },
    {
      what: 'a key of 41 characters',
      metadata: { ['k'.repeat(41)]: 'v' },
      error: { path: `metadata.${'k'.repeat(41)}`, code: 'invalid_metadata_key' },
    },
    {
      what: 'an empty key',
      metadata: { '': 'v' },
      error: { path: 'metadata', code: 'invalid_metadata_key' },
    },
    {
      what: 'the key __proto__',
      metadata: JSON.parse('{"__proto__":"v"}') as object,
      error: { path: 'metadata.__proto__', code: 'invalid_metadata_key' },
    },
    {
      what: 'a value of 501 characters',
      metadata: { key: 'v'.repeat(501) },
      error: { path: 'metadata.key', code: 'too_long', message: 'Must have at most 500 characters.' },
    },
    {
      what: 'a control character',
      metadata: { key: 'a\u0000b' },
      error: { path: 'metadata.key', code: 'invalid_characters' },
    },
    {
      what: 'a number',
      metadata: { key: 1001 },
      error: { path: 'metadata.key', code: 'invalid_type', message: 'Must be a string.' },
    },
    {
      what: 'a list',
      metadata: ['v'],
      error: { path: 'metadata', code: 'invalid_type', message: 'Must be an object.' },
    },
  ])('is rejected with $what', async ({ metadata, error }) => {
    const answer = await post(resource, { metadata });
    expect(answer.status).toBe(400);
    expect((answer.body as { errors?: unknown }).errors).toEqual([expect.objectContaining(error)]);
  });

  it('cannot be filtered by', async () => {
    const answer = await shop.api.get(`${resource.path}?metadata=1001`);
    expect([answer.status, toProblem(answer).code]).toEqual([400, 'unknown_field']);
  });
});

it('metadata of a payment link is not on its page', async () => {
  const marker = `marker-${randomUUID()}`;
  const link = await shop.api.post<{ paymentLinkUrl: string }>(
    '/payment-links',
    linkRequest({ metadata: { marker } }),
  );
  const page = await fetch(link.body.paymentLinkUrl);
  expect(page.status).toBe(200);
  expect(await page.text()).not.toContain(marker);
});
