import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { toProblem } from '../harness/payin-responses.ts';
import {
  createPayout,
  newShop,
  type PayoutBody,
  payoutRequest,
  resolveKey,
  type Shop,
  withScopes,
} from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const FORBIDDEN = { status: 403, code: 'insufficient_scope' };

interface PageBody {
  readonly data: readonly PayoutBody[];
  readonly pageInfo: { readonly nextCursor: string | null };
}

let stack: Stack;
let caudal: InProcess;
let shop: Shop;
beforeAll(async () => {
  stack = await startStack({ settings: { CAUDAL_WRITES_PER_SECOND: '50', CAUDAL_READS_PER_SECOND: '60' } });
  caudal = await composeInProcess(stack.settings);
  shop = await newShop(caudal, stack.api);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

describe('POST /breb/keys/lookup', () => {
  const lookUp = (body: object, api = shop.api) => api.post<{ details: object }>('/breb/keys/lookup', body);

  it('returns the same as the GET, with key and expected holder in the body', async () => {
    const { status, headers, body } = await lookUp({
      keyString: ' @testok ',
      name: 'Janeth Smith Prueba',
      documentNumber: '1',
    });
    const { details } = await resolveKey(shop.api, '@TESTOK');
    expect(status).toBe(200);
    expect(body).toMatchObject({ details, match: { name: 'FULL', documentNumber: false } });
    expect(headers.get('ratelimit-policy')).toContain('"reads"');
  });

  it('serves the payout that follows', async () => {
    const { body } = await shop.api.post<{ lookupId: string }>('/breb/keys/lookup', { keyString: '@TESTOK' });
    const breb = { keyString: '@TESTOK', lookupId: body.lookupId };
    expect((await createPayout(shop.api, payoutRequest({ breb }))).status).toBe('PROCESSING');
  });

  it.each([
    { body: { keyString: '@' }, problem: { status: 400, code: 'breb_key_invalid' } },
    { body: { keyString: '@TESTNOTFOUND' }, problem: { status: 404, code: 'breb_key_not_found' } },
    { body: {}, problem: { status: 400, code: 'invalid_request' } },
    { body: { keyString: '@TESTOK', phone: '1' }, problem: { status: 400, code: 'unknown_field' } },
  ])('rejects $body with $problem.code', async ({ body, problem }) => {
    expect(toProblem(await lookUp(body))).toMatchObject(problem);
  });

  it('needs the scope breb_keys:read', async () => {
    const api = await withScopes(caudal, shop, 'payouts:read', 'payouts:write');
    expect(toProblem(await lookUp({ keyString: '@TESTOK' }, api))).toMatchObject(FORBIDDEN);
  });
});

describe('POST /payouts/search', () => {
  const search = (body: object, api = shop.api) => api.post<PageBody>('/payouts/search', body);

  it('finds the payouts to a key, newest first, over pages whose cursors also fit the GET', async () => {
    const own = await newShop(caudal, stack.api);
    const created: string[] = [];
    for (const keyString of ['3001234567', '@TESTOK', '3001234567', '3001234567'])
      created.unshift((await createPayout(own.api, payoutRequest({ breb: { keyString } }))).id);
    created.splice(created.length - 2, 1);
    const first = await search({ keyString: '+573001234567', pageSize: 2 }, own.api);
    expect(first.headers.get('ratelimit-policy')).toContain('"reads"');
    const cursor = first.body.pageInfo.nextCursor;
    const second = await search({ keyString: '3001234567', pageSize: 2, cursor }, own.api);
    const ids = [...first.body.data, ...second.body.data].map(({ id }) => id);
    expect([first.status, second.status, ids]).toEqual([200, 200, created]);
    const get = await own.api.get<PageBody>(`/payouts?keyString=3001234567&pageSize=2&cursor=${cursor}`);
    expect(get.body).toEqual(second.body);
  });

  it('takes the filters of the list', async () => {
    const own = await newShop(caudal, stack.api);
    const { id, reference, createdAt } = await createPayout(own.api);
    const found = async (body: object) => (await search(body, own.api)).body.data.map((each) => each.id);
    expect(await found({})).toEqual([id]);
    expect(await found({ reference, status: 'PROCESSING', rail: 'BRE_B', createdFrom: createdAt })).toEqual([
      id,
    ]);
    expect(await found({ status: 'CANCELED' })).toEqual([]);
    expect(await found({ createdTo: createdAt })).toEqual([]);
  });

  it.each([
    { body: { pageSize: 101 }, code: 'invalid_request' },
    { body: { pageSize: '5' }, code: 'invalid_request' },
    { body: { keyString: '@' }, code: 'invalid_request' },
    { body: { name: 'Ana' }, code: 'unknown_field' },
  ])('rejects $body with $code', async ({ body, code }) => {
    expect(toProblem(await search(body))).toMatchObject({ status: 400, code });
  });

  it('needs the scope payouts:read', async () => {
    const api = await withScopes(caudal, shop, 'payouts:write');
    expect(toProblem(await search({}, api))).toMatchObject(FORBIDDEN);
  });
});
