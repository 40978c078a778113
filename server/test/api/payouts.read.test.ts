import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, ApiClient } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { createPayin, problemOf } from '../harness/payin-answers.ts';
import { brebPayin, CUSTOMER, newReference } from '../harness/payin-requests.ts';
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
/** In turn, so that each filter by key has payouts of others between its own. */
const KEYS = ['@TESTOK', '3001234567', 'ana@example.com'];
const COUNT = 25;

let stack: Stack;
let caudal: InProcess;
/** An organization with 25 payouts, newest first, that no test adds to. */
let shop: Shop & { readonly payouts: readonly PayoutBody[] };
let other: Shop;

// No worker: what is read here stays as it was created.
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

function idsOf(payouts: readonly { readonly id: string }[]): string[] {
  return payouts.map(({ id }) => id);
}

type Query = Readonly<Record<string, string | number>>;

function list(api: ApiClient, query: Query = {}): Promise<Answer<PayoutPage>> {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.set(name, String(value));
  return api.get<PayoutPage>(`/payouts?${search.toString()}`);
}

async function page(api: ApiClient, query: Query = {}): Promise<PayoutPage> {
  const answer = await list(api, query);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body;
}

/** Follows a cursor to its end. */
async function walk(
  api: ApiClient,
  query: Query,
  by: 'nextCursor' | 'previousCursor' = 'nextCursor',
): Promise<PayoutPage[]> {
  const pages = [await page(api, query)];
  for (let cursor = pages[0]?.pageInfo[by]; cursor; cursor = pages.at(-1)?.pageInfo[by])
    pages.push(await page(api, { ...query, cursor }));
  return pages;
}

/** Everything a client can see of an answer but what differs from one request to the next. */
function visible({ status, headers, body }: Answer<unknown>): unknown {
  const kept = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
  return { status, headers: kept, body: { ...(body as object), requestId: null, instance: null } };
}

describe('GET /payouts/{id}', () => {
  it('answers 200 with the payout as the creation showed it, and its anomalies', async () => {
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
  ])('shows what became of it: $status', async ({ status, set, errorCode }) => {
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

  it('lists what the rail said that its state could not take up, and only to its owner', async () => {
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
    expect(problemOf(await shop.api.get(`/payouts/${id}`))).toEqual(NOT_FOUND);
  });

  it('is 404 for the payout of another organization, equal to what an unknown id gets', async () => {
    const [first] = shop.payouts;
    const [anothers, nobodys] = await Promise.all([
      other.api.get(`/payouts/${first?.id}`),
      other.api.get(`/payouts/${randomUUID()}`),
    ]);
    expect(problemOf(anothers)).toEqual(NOT_FOUND);
    expect(visible(anothers)).toEqual(visible(nobodys));
  });

  it('is 404 for a payin, and for what is no id at all', async () => {
    const payin = await createPayin(other.api, brebPayin());
    expect(problemOf(await other.api.get(`/payouts/${payin.id}`))).toEqual(NOT_FOUND);
    expect(problemOf(await other.api.get('/payouts/x'))).toEqual(NOT_FOUND);
  });

  it.each(['/payouts', `/payouts/${randomUUID()}`])('needs payouts:read: %s', async (path) => {
    const writer = await withScopes(caudal, other, 'payouts:write', 'payins:read');
    expect(problemOf(await writer.get(path))).toEqual({ status: 403, code: 'insufficient_scope' });
    const reader = await withScopes(caudal, other, 'payouts:read');
    expect((await reader.get(path)).status).not.toBe(403);
    expect(problemOf(await stack.api.as('none').get(path))).toEqual({ status: 401, code: 'unauthorized' });
  });
});

describe('GET /payouts', () => {
  it('lists the payouts of the organization, newest first, ten to a page, each as it was created', async () => {
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

  it('is an empty page without cursors for an organization that has none, though it has payins', async () => {
    const { api } = await newShop(caudal, stack.api, 0);
    await createPayin(api, brebPayin());
    expect(await page(api)).toEqual({
      data: [],
      pageInfo: { hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null },
    });
  });

  it.each([1, 7, 24, 25, 26, 100])(
    'walks there and back in pages of %i, none twice and none left out',
    async (pageSize) => {
      const there = await walk(shop.api, { pageSize });
      expect(there.flatMap(({ data }) => idsOf(data))).toEqual(idsOf(shop.payouts));
      expect(there.every(({ data }) => data.length <= pageSize)).toBe(true);
      const end = there.at(-1)?.pageInfo;
      expect([end?.hasNext, end?.nextCursor]).toEqual([false, null]);
      const from = end?.previousCursor;
      const back = from ? await walk(shop.api, { pageSize, cursor: from }, 'previousCursor') : [];
      expect(back.toReversed().flatMap(({ data }) => idsOf(data))).toEqual(
        idsOf(shop.payouts.slice(0, COUNT - (there.at(-1)?.data.length ?? 0))),
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
    expect(idsOf(second.data)).toEqual(idsOf(old.slice(2)));
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
  ])('refuses $parameter "$value"', async ({ parameter, value, error }) => {
    expect(problemOf(await list(shop.api, { [parameter]: value }))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: [`query.${parameter} ${error}`],
    });
  });

  it.each(['paymentLinkId', 'key', 'limit', 'keystring'])('refuses the parameter %s', async (name) => {
    expect(problemOf(await list(shop.api, { [name]: '1' }))).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: [`query.${name} unknown_field`],
    });
  });
});

describe('filters of GET /payouts', () => {
  it.each([
    { keyString: '@TESTOK', means: '@TESTOK' },
    { keyString: '@testok', means: '@TESTOK' },
    { keyString: '3001234567', means: '3001234567' },
    { keyString: '+573001234567', means: '3001234567' },
    { keyString: 'Ana@Example.com', means: 'ana@example.com' },
    { keyString: '@NOBODY', means: '@NOBODY' },
  ])('finds payouts by keyString "$keyString", also over pages', async ({ keyString, means }) => {
    const expected = shop.payouts.filter(({ sourceData }) => sourceData.keyString === means);
    const pages = await walk(shop.api, { keyString, pageSize: 2 });
    expect(pages.flatMap(({ data }) => data)).toEqual(expected);
  });

  it('finds by keyString none of another organization, though it paid to the same key', async () => {
    const own = await newShop(caudal, stack.api);
    expect((await page(own.api, { keyString: '@TESTOK' })).data).toEqual([]);
    const mine = await createPayout(own.api);
    expect(idsOf((await page(own.api, { keyString: '@TESTOK' })).data)).toEqual([mine.id]);
  });

  it('finds payouts by status, reference, rail and all of them together', async () => {
    const own = await newShop(caudal, stack.api, 30_000);
    const canceled = await createPayout(own.api);
    await cancelPayout(own.api, canceled.id);
    const waiting = await createPayout(own.api);
    const declined = await createPayout(own.api, payoutRequest({ amountInCents: 40_000 }));
    const found = async (query: Query) => idsOf((await page(own.api, query)).data);
    expect(await found({ status: 'CANCELED' })).toEqual([canceled.id]);
    expect(await found({ status: 'PROCESSING' })).toEqual([waiting.id]);
    expect(await found({ status: 'DECLINED' })).toEqual([declined.id]);
    expect(await found({ status: 'CONFIRMED' })).toEqual([]);
    expect(await found({ rail: 'BRE_B' })).toEqual([declined.id, waiting.id, canceled.id]);
    expect(await found({ reference: waiting.reference })).toEqual([waiting.id]);
    expect(await found({ reference: waiting.reference, status: 'DECLINED' })).toEqual([]);
    expect(
      await found({
        reference: waiting.reference,
        status: 'PROCESSING',
        rail: 'BRE_B',
        keyString: '@TESTOK',
        createdFrom: waiting.createdAt,
      }),
    ).toEqual([waiting.id]);
  });

  it('finds by reference the payout and not the payin of that name', async () => {
    const reference = newReference();
    await createPayin(other.api, brebPayin({ reference }));
    expect((await page(other.api, { reference })).data).toEqual([]);
    const payout = await createPayout(other.api, payoutRequest({ reference }));
    expect(idsOf((await page(other.api, { reference })).data)).toEqual([payout.id]);
    expect((await page(shop.api, { reference })).data).toEqual([]);
  });

  it('finds payouts of a span of time: from a moment on, and before one', async () => {
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
  async function nextOf(query: Query): Promise<string> {
    return (await page(shop.api, { ...query, pageSize: 2 })).pageInfo.nextCursor ?? '';
  }

  it('is good for the same key written otherwise', async () => {
    const cursor = await nextOf({ keyString: '+573001234567' });
    const { data } = await page(shop.api, { keyString: '3001234567', cursor });
    expect(data[0]?.sourceData.keyString).toBe('3001234567');
  });

  it('is refused with other filters, by another organization, in another list, and when it was changed', async () => {
    const cursor = await nextOf({ keyString: '@TESTOK' });
    const refused = [
      list(shop.api, { cursor }),
      list(shop.api, { cursor, keyString: '3001234567' }),
      list(shop.api, { cursor, keyString: '@TESTOK', status: 'PROCESSING' }),
      list(other.api, { cursor, keyString: '@TESTOK' }),
      list(shop.api, { cursor: `${cursor.slice(0, -2)}AA`, keyString: '@TESTOK' }),
      shop.api.get(`/payins?cursor=${await nextOf({})}`),
    ];
    for (const answer of await Promise.all(refused)) expect(problemOf(answer)).toEqual(CURSOR_INVALID);
    expect((await list(shop.api, { cursor, keyString: '@TESTOK' })).status).toBe(200);
  });

  it('does not carry the key in a form that can be read', async () => {
    const cursor = await nextOf({ keyString: '3001234567' });
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('3001234567');
  });
});
