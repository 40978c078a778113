import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { brebPayin, CUSTOMER, newReference } from '../harness/payin-requests.ts';
import { createPayin, toProblem } from '../harness/payin-responses.ts';
import {
  cancelPayout,
  createPayout,
  newShop,
  type PayoutBody,
  payoutRequest,
  readPayout,
  type Shop,
  withScopes,
} from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

interface PayoutPage {
  readonly data: readonly PayoutBody[];
  readonly pageInfo: {
    readonly hasNext: boolean;
    readonly hasPrevious: boolean;
    readonly nextCursor: string | null;
    readonly previousCursor: string | null;
  };
}

const NOT_FOUND = { status: 404, code: 'not_found' };
const CURSOR_INVALID = { status: 400, code: 'cursor_invalid' };
/** Alternating, so that each filter by key has other payouts in between. */
const KEYS = ['@TESTOK', '3001234567', 'ana@example.com'];
const COUNT = 25;

let stack: Stack;
let caudal: InProcess;
/** An organization with 25 payouts, newest first; no test adds to it. */
let shop: Shop & { readonly payouts: readonly PayoutBody[] };
let other: Shop;

// No worker: the payouts stay as created.
beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
  other = await newShop(caudal, stack.api);
  const own = await newShop(caudal, stack.api);
  const payouts: PayoutBody[] = [];
  for (let count = 0; count < COUNT; count += 1) {
    const breb = { keyString: KEYS[count % KEYS.length] };
    payouts.unshift(await createPayout(own.api, payoutRequest({ amountInCents: 1000 + count, breb })));
  }
  shop = { ...own, payouts };
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

function toIds(payouts: readonly { readonly id: string }[]): string[] {
  return payouts.map(({ id }) => id);
}

type Query = Readonly<Record<string, string | number>>;

function list(api: ApiClient, query: Query = {}): Promise<ApiResponse<PayoutPage>> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  return api.get<PayoutPage>(`/payouts?${search.toString()}`);
}

async function page(api: ApiClient, query: Query = {}): Promise<PayoutPage> {
  const answer = await list(api, query);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
}

/** Follows a cursor to the end. */
async function fetchPages(
  api: ApiClient,
  query: Query,
  by: 'nextCursor' | 'previousCursor' = 'nextCursor',
): Promise<PayoutPage[]> {
  const pages = [await page(api, query)];
  for (let cursor = pages[0]?.pageInfo[by]; cursor; cursor = pages.at(-1)?.pageInfo[by])
    pages.push(await page(api, { ...query, cursor }));
  return pages;
}

/** Everything visible in a response except what differs per request. */
function comparable({ status, headers, body }: ApiResponse<unknown>): unknown {
  const stableHeaders = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
  return { status, headers: stableHeaders, body: { ...(body as object), requestId: null, instance: null } };
}

describe('GET /payouts/{id}', () => {
  it('returns 200 with the payout as in the creation response, and its anomalies', async () => {
    const created = await createPayout(other.api);
    const answer = await other.api.get(`/payouts/${created.id}`);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ ...created, anomalies: [] });
    expect(Object.keys(answer.body)).toEqual([...Object.keys(created), 'anomalies']);
    expect(await readPayout(other.api, created.id.toUpperCase())).toEqual(created);
  });

  it.each([
    { status: 'CONFIRMED', set: "status = 'CONFIRMED', execution_id = 'x'", errorCode: null },
    {
      status: 'DECLINED',
      set: "status = 'DECLINED', error_code = 'KEY_SUSPENDED'",
      errorCode: 'KEY_SUSPENDED',
    },
    { status: 'CANCELED', set: "status = 'CANCELED'", errorCode: null },
  ])('returns the outcome: $status', async ({ status, set, errorCode }) => {
    const created = await createPayout(other.api);
    await stack.database.query(
      `update caudal.payouts set ${set}, rail_task = null, rail_due_at = null, result_at = '2026-11-14T15:04:05.006Z',
         updated_at = '2026-11-14T15:04:05.006Z' where id = $1`,
      [created.id],
    );
    expect(await readPayout(other.api, created.id)).toEqual({
      ...created,
      status,
      errorCode,
      updatedAt: '2026-11-14T15:04:05.006Z',
      resultAt: '2026-11-14T15:04:05.006Z',
    });
  });

  it('returns anomalies, and only to the owner', async () => {
    const [{ id }, { id: sibling }] = [await createPayout(other.api), await createPayout(other.api)];
    const anomalyId = randomUUID();
    await stack.database.query(
      `insert into caudal.anomalies (organization_id, id, payout_id, rail, kind, reference, execution_id, amount_in_cents, once, noticed_at)
       values ($1, $2, $3, 'BRE_B', 'sent_late', 'r', 'e', -12500, 'e', '2026-11-14T15:04:05.006Z')`,
      [other.id, anomalyId, id],
    );
    const { body } = await other.api.get(`/payouts/${id}`);
    expect(body['anomalies']).toEqual([
      {
        id: anomalyId,
        kind: 'SENT_LATE',
        status: 'OPEN',
        amount: -125,
        amountInCents: -12_500,
        noticedAt: '2026-11-14T15:04:05.006Z',
        resolvedAt: null,
        resolution: null,
      },
    ]);
    expect((await other.api.get(`/payouts/${sibling}`)).body['anomalies']).toEqual([]);
    expect(toProblem(await shop.api.get(`/payouts/${id}`))).toEqual(NOT_FOUND);
  });

  it('returns the same 404 for a payout of another organization and for an unknown ID', async () => {
    const [first] = shop.payouts;
    const [foreign, unknownResponse] = await Promise.all([
      other.api.get(`/payouts/${first?.id}`),
      other.api.get(`/payouts/${randomUUID()}`),
    ]);
    expect(toProblem(foreign)).toEqual(NOT_FOUND);
    expect(comparable(foreign)).toEqual(comparable(unknownResponse));
  });

  it('returns 404 for a payin and for an invalid ID', async () => {
    const payin = await createPayin(other.api, brebPayin());
    expect(toProblem(await other.api.get(`/payouts/${payin.id}`))).toEqual(NOT_FOUND);
    expect(toProblem(await other.api.get('/payouts/x'))).toEqual(NOT_FOUND);
  });

  it.each(['/payouts', `/payouts/${randomUUID()}`])('requires payouts:read: %s', async (path) => {
    const writer = await withScopes(caudal, other, 'payouts:write', 'payins:read');
    expect(toProblem(await writer.get(path))).toEqual({ status: 403, code: 'insufficient_scope' });
    const reader = await withScopes(caudal, other, 'payouts:read');
    expect((await reader.get(path)).status).not.toBe(403);
    expect(toProblem(await stack.api.as('none').get(path))).toEqual({ status: 401, code: 'unauthorized' });
  });
});

describe('GET /payouts', () => {
  it('lists the payouts of the organization, newest first, ten per page, as created', async () => {
    const { data, pageInfo } = await page(shop.api);
    expect(data).toEqual(shop.payouts.slice(0, 10));
    expect(data[0]?.inlineCustomer).toEqual(CUSTOMER);
    expect(pageInfo).toEqual({
      hasNext: true,
      hasPrevious: false,
      nextCursor: expect.any(String) as string,
      previousCursor: null,
    });
  });

  it('returns an empty page without cursors for an organization without payouts, even with payins', async () => {
    const { api } = await newShop(caudal, stack.api, 0);
    await createPayin(api, brebPayin());
    expect(await page(api)).toEqual({
      data: [],
      pageInfo: { hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null },
    });
  });

  it.each([1, 7, 24, 25, 26, 100])(
    'pages forward and back by %i without gaps or duplicates',
    async (pageSize) => {
      const forward = await fetchPages(shop.api, { pageSize });
      expect(forward.flatMap(({ data }) => toIds(data))).toEqual(toIds(shop.payouts));
      expect(forward.every(({ data }) => data.length <= pageSize)).toBe(true);
      const end = forward.at(-1)?.pageInfo;
      expect([end?.hasNext, end?.nextCursor]).toEqual([false, null]);
      const from = end?.previousCursor;
      const backward = from ? await fetchPages(shop.api, { pageSize, cursor: from }, 'previousCursor') : [];
      expect(backward.toReversed().flatMap(({ data }) => toIds(data))).toEqual(
        toIds(shop.payouts.slice(0, COUNT - (forward.at(-1)?.data.length ?? 0))),
      );
    },
  );

  it('does not shift a page when payouts are created meanwhile', async () => {
    const own = await newShop(caudal, stack.api);
    const old = [];
    for (let count = 0; count < 4; count += 1) old.unshift(await createPayout(own.api));
    const first = await page(own.api, { pageSize: 2 });
    await createPayout(own.api);
    const second = await page(own.api, { pageSize: 2, cursor: first.pageInfo.nextCursor ?? '' });
    expect(toIds(second.data)).toEqual(toIds(old.slice(2)));
  });

  it.each([
    { parameter: 'pageSize', value: '0', error: 'too_small' },
    { parameter: 'pageSize', value: '101', error: 'too_big' },
    { parameter: 'pageSize', value: 'ten', error: 'invalid_format' },
    { parameter: 'status', value: 'PENDING', error: 'invalid_value' },
    { parameter: 'rail', value: 'PSE', error: 'invalid_value' },
    { parameter: 'reference', value: '', error: 'too_short' },
    { parameter: 'keyString', value: '@', error: 'invalid_breb_key' },
    { parameter: 'keyString', value: '', error: 'invalid_breb_key' },
    { parameter: 'createdFrom', value: 'yesterday', error: 'invalid_format' },
    { parameter: 'createdTo', value: '2026-01-01', error: 'invalid_format' },
  ])('rejects $parameter "$value"', async ({ parameter, value, error }) => {
    expect(toProblem(await list(shop.api, { [parameter]: value }))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: [`query.${parameter} ${error}`],
    });
  });

  it.each(['paymentLinkId', 'key', 'limit', 'keystring'])('rejects the parameter %s', async (name) => {
    expect(toProblem(await list(shop.api, { [name]: '1' }))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: [`query.${name} unknown_field`],
    });
  });
});

describe('filters of GET /payouts', () => {
  it.each([
    { keyString: '@TESTOK', canonicalKey: '@TESTOK' },
    { keyString: '@testok', canonicalKey: '@TESTOK' },
    { keyString: '3001234567', canonicalKey: '3001234567' },
    { keyString: '+573001234567', canonicalKey: '3001234567' },
    { keyString: 'Ana@Example.com', canonicalKey: 'ana@example.com' },
    { keyString: '@NOBODY', canonicalKey: '@NOBODY' },
  ])('find payouts by keyString "$keyString", also over pages', async ({ keyString, canonicalKey }) => {
    const expected = shop.payouts.filter(({ sourceData }) => sourceData.keyString === canonicalKey);
    const pages = await fetchPages(shop.api, { keyString, pageSize: 2 });
    expect(pages.flatMap(({ data }) => data)).toEqual(expected);
  });

  it('find no payout of another organization by keyString', async () => {
    const own = await newShop(caudal, stack.api);
    expect((await page(own.api, { keyString: '@TESTOK' })).data).toEqual([]);
    const mine = await createPayout(own.api);
    expect(toIds((await page(own.api, { keyString: '@TESTOK' })).data)).toEqual([mine.id]);
  });

  it('find payouts by status, reference, rail and all of them combined', async () => {
    const own = await newShop(caudal, stack.api, 30_000);
    const canceled = await createPayout(own.api);
    await cancelPayout(own.api, canceled.id);
    const waiting = await createPayout(own.api);
    const declined = await createPayout(own.api, payoutRequest({ amountInCents: 40_000 }));
    const findIds = async (query: Query) => toIds((await page(own.api, query)).data);
    expect(await findIds({ status: 'CANCELED' })).toEqual([canceled.id]);
    expect(await findIds({ status: 'PROCESSING' })).toEqual([waiting.id]);
    expect(await findIds({ status: 'DECLINED' })).toEqual([declined.id]);
    expect(await findIds({ status: 'CONFIRMED' })).toEqual([]);
    expect(await findIds({ rail: 'BRE_B' })).toEqual([declined.id, waiting.id, canceled.id]);
    expect(await findIds({ reference: waiting.reference })).toEqual([waiting.id]);
    expect(await findIds({ reference: waiting.reference, status: 'DECLINED' })).toEqual([]);
    expect(
      await findIds({
        reference: waiting.reference,
        status: 'PROCESSING',
        rail: 'BRE_B',
        keyString: '@TESTOK',
        createdFrom: waiting.createdAt,
      }),
    ).toEqual([waiting.id]);
  });

  it('find the payout and not the payin with a reference', async () => {
    const reference = newReference();
    await createPayin(other.api, brebPayin({ reference }));
    expect((await page(other.api, { reference })).data).toEqual([]);
    const payout = await createPayout(other.api, payoutRequest({ reference }));
    expect(toIds((await page(other.api, { reference })).data)).toEqual([payout.id]);
    expect((await page(shop.api, { reference })).data).toEqual([]);
  });

  it('find payouts by createdFrom (inclusive) and createdTo (exclusive)', async () => {
    const middle = shop.payouts[12]?.createdAt ?? '';
    const newer = shop.payouts.filter(({ createdAt }) => createdAt >= middle);
    const older = shop.payouts.filter(({ createdAt }) => createdAt < middle);
    expect(newer.length).toBeGreaterThan(0);
    expect(older.length).toBeGreaterThan(0);
    expect((await page(shop.api, { createdFrom: middle, pageSize: 100 })).data).toEqual(newer);
    expect((await page(shop.api, { createdTo: middle, pageSize: 100 })).data).toEqual(older);
  });
});

describe('a cursor of GET /payouts', () => {
  async function readNextCursor(query: Query): Promise<string> {
    return (await page(shop.api, { ...query, pageSize: 2 })).pageInfo.nextCursor ?? '';
  }

  it('is accepted for the same key in another notation', async () => {
    const cursor = await readNextCursor({ keyString: '+573001234567' });
    const { data } = await page(shop.api, { keyString: '3001234567', cursor });
    expect(data[0]?.sourceData.keyString).toBe('3001234567');
  });

  it('is rejected with other filters, by another organization, in another list, and when changed', async () => {
    const cursor = await readNextCursor({ keyString: '@TESTOK' });
    // The second last character: two bits of the last one are unused.
    const changed = cursor.slice(0, -2) + (cursor.at(-2) === 'A' ? 'B' : 'A') + cursor.slice(-1);
    const rejected = [
      list(shop.api, { cursor }),
      list(shop.api, { cursor, keyString: '3001234567' }),
      list(shop.api, { cursor, keyString: '@TESTOK', status: 'PROCESSING' }),
      list(other.api, { cursor, keyString: '@TESTOK' }),
      list(shop.api, { cursor: changed, keyString: '@TESTOK' }),
      shop.api.get(`/payins?cursor=${await readNextCursor({})}`),
    ];
    for (const answer of await Promise.all(rejected)) expect(toProblem(answer)).toEqual(CURSOR_INVALID);
    expect((await list(shop.api, { cursor, keyString: '@TESTOK' })).status).toBe(200);
  });

  it('does not contain the key in readable form', async () => {
    const cursor = await readNextCursor({ keyString: '3001234567' });
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('3001234567');
  });
});
