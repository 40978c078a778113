import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { openCredentialDriver } from '../harness/credential-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin, CUSTOMER, newReference, without } from '../harness/payin-requests.ts';
import { createPayin, type ProblemSummary, toProblem } from '../harness/payin-responses.ts';
import {
  createPayout,
  newShop,
  type PayoutBody,
  payoutEventNames,
  payoutRequest,
  readBalance,
  readEndToEndId,
  readPayout,
  resolveKey,
  type Shop,
  waitForPayoutStatus,
  withScopes,
} from '../harness/payout-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UTC_WITH_MILLISECONDS = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const LOOKUP_LIFETIME_MS = 8 * 60_000;

let stack: Stack;
let caudal: InProcess;
let simulator: SimulatorControl;
let shop: Shop;
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 1 });
  caudal = await composeInProcess(stack.settings);
  simulator = new SimulatorControl(stack.simulatorUrl);
  shop = await newShop(caudal, stack.api);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

function post(
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  api: ApiClient = shop.api,
): Promise<ApiResponse<PayoutBody>> {
  return api.post<PayoutBody>('/payouts', body, headers);
}

function newKey(): { 'idempotency-key': string } {
  return { 'idempotency-key': randomUUID() };
}

function replayedHeader(answer: ApiResponse<unknown>): string | null {
  return answer.headers.get('idempotent-replayed');
}

/** All in parallel, alternating between the two API processes. */
function inParallel(
  count: number,
  send: (api: ApiClient, index: number) => Promise<ApiResponse<PayoutBody>>,
  { api }: Shop = shop,
) {
  return Promise.all(
    Array.from({ length: count }, (_, index) => send(api.at(stack.apis[index % 2]?.url ?? ''), index)),
  );
}

describe('201 of POST /payouts', () => {
  it('has the documented PROCESSING payout with every field in order', async () => {
    const request = payoutRequest({ amountInCents: 1_234_567 });
    const answer = await post(request);
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(replayedHeader(answer)).toBeNull();
    const { id, createdAt, updatedAt, ...rest } = answer.body;
    expect(id).toMatch(UUID_V7);
    expect(createdAt).toMatch(UTC_WITH_MILLISECONDS);
    expect(updatedAt).toBe(createdAt);
    expect(rest).toEqual({
      amount: 12_345.67,
      amountInCents: 1_234_567,
      currency: 'COP',
      status: 'PROCESSING',
      rail: 'BRE_B',
      reference: request['reference'],
      inlineCustomer: CUSTOMER,
      errorCode: null,
      resultAt: null,
      organizationId: shop.id,
      sourceData: { keyString: '@TESTOK', endToEndId: expect.stringMatching(/^\w{32}$/) as string },
      metadata: {},
    });
    expect(Object.keys(answer.body)).toEqual([
      'id',
      'amount',
      'amountInCents',
      'currency',
      'status',
      'rail',
      'reference',
      'inlineCustomer',
      'errorCode',
      'createdAt',
      'updatedAt',
      'resultAt',
      'organizationId',
      'sourceData',
      'metadata',
    ]);
  });

  it.each([
    { amountInCents: 1, amount: 0.01 },
    { amountInCents: 100, amount: 1 },
    { amountInCents: 4_980_033, amount: 49_800.33 },
    { amountInCents: 999_999_999_999, amount: 9_999_999_999.99 },
  ])('has $amountInCents cents as $amount pesos', async ({ amountInCents, amount }) => {
    expect(await createPayout(shop.api, payoutRequest({ amountInCents }))).toMatchObject({
      amount,
      amountInCents,
    });
  });

  it.each([
    { sent: '+573001234567', shown: '3001234567' },
    { sent: '3001234567', shown: '3001234567' },
    { sent: '@testok', shown: '@TESTOK' },
    { sent: ' @TestOk ', shown: '@TESTOK' },
    { sent: 'Ana.Rojas@Example.COM', shown: 'ana.rojas@example.com' },
    { sent: '0012345678', shown: '0012345678' },
    { sent: '1020304050', shown: '1020304050' },
  ])('has the key "$sent" in its canonical form', async ({ sent, shown }) => {
    const payout = await createPayout(shop.api, payoutRequest({ breb: { keyString: sent } }));
    expect(payout.sourceData.keyString).toBe(shown);
  });

  it('accepts breb.keyType of the shared schema and ignores it', async () => {
    const breb = { keyString: '@TESTOK', keyType: 'SINGLE_USE' };
    const payout = await createPayout(shop.api, payoutRequest({ breb }));
    expect(payout.sourceData.keyString).toBe('@TESTOK');
  });

  it('leads to one order with the end-to-end ID of the creation, the amount and the merchant', async () => {
    const { id } = await createPayout(shop.api, payoutRequest({ amountInCents: 123_456 }));
    await waitForPayoutStatus(shop.api, id, 'CONFIRMED');
    const endToEndId = await readEndToEndId(stack.database, id);
    expect(await simulator.order(endToEndId)).toMatchObject({
      internalId: id,
      key: '@TESTOK',
      amount: '1234.56',
      resolutionId: null,
      status: 'SETTLED',
    });
    const executions = await simulator.executions();
    expect(executions.filter((each) => each.endToEndId === endToEndId)).toHaveLength(1);
  });
});

describe('the balance of POST /payouts', () => {
  it('is held on creation and debited on confirmation', async () => {
    const { api } = await newShop(caudal, stack.api, 50_000);
    // Stays in progress, so its money stays held.
    const waiting = await createPayout(
      api,
      payoutRequest({ amountInCents: 20_000, breb: { keyString: '@TESTTIMEOUT' } }),
    );
    expect(await readBalance(api)).toEqual({ available: 30_000, held: 20_000 });
    const { id } = await createPayout(api, payoutRequest({ amountInCents: 30_000 }));
    await waitForPayoutStatus(api, id, 'CONFIRMED');
    expect(await readBalance(api)).toEqual({ available: 0, held: 20_000 });
    expect((await readPayout(api, waiting.id)).status).toBe('PROCESSING');
  });

  it('can be spent to the last cent', async () => {
    const { api, id: organizationId } = await newShop(caudal, stack.api, 10_000);
    const covered = await createPayout(api, payoutRequest({ amountInCents: 10_000 }));
    const { api: other } = await newShop(caudal, stack.api, 10_000);
    const beyond = await createPayout(other, payoutRequest({ amountInCents: 10_001 }));
    expect(await waitForPayoutStatus(api, covered.id, 'CONFIRMED')).toMatchObject({ organizationId });
    expect((await readPayout(other, beyond.id)).status).toBe('DECLINED');
    expect(await readBalance(other)).toEqual({ available: 10_000, held: 0 });
  });

  it('that does not cover the payout is an outcome: 201 PROCESSING, then DECLINED with one event, never sent', async () => {
    const { api } = await newShop(caudal, stack.api, 0);
    const created = await createPayout(api);
    expect(created).toMatchObject({ status: 'PROCESSING', errorCode: null, resultAt: null });
    expect(await readPayout(api, created.id)).toEqual({
      ...created,
      status: 'DECLINED',
      errorCode: 'INSUFFICIENT_FUNDS',
      resultAt: created.createdAt,
    });
    expect(await payoutEventNames(stack.database, created.id)).toEqual(['payout.declined']);
    expect(await readBalance(api)).toEqual({ available: 0, held: 0 });
    // Payouts created later have been sent by now.
    const later = await createPayout(shop.api);
    await waitForPayoutStatus(shop.api, later.id, 'CONFIRMED');
    expect(await simulator.order(await readEndToEndId(stack.database, created.id))).toBeNull();
  });

  it('covers exactly ten of fifty concurrent payouts over two API processes', async () => {
    const limited = await newShop(caudal, stack.api, 10 * 7_000 + 6_999);
    const answers = await inParallel(
      50,
      (api) => post(payoutRequest({ amountInCents: 7_000 }), {}, api),
      limited,
    );
    for (const { status, body } of answers)
      expect([status, body.status, body.errorCode]).toEqual([201, 'PROCESSING', null]);
    const payouts = await until('all have ended', async () => {
      const { body } = await limited.api.get<{ data: PayoutBody[] }>('/payouts?pageSize=100');
      return body.data.every(({ status }) => status !== 'PROCESSING') ? body.data : null;
    });
    const ended = Map.groupBy(payouts, ({ status, errorCode }) => `${status} ${errorCode}`);
    expect(Object.fromEntries([...ended].map(([end, { length }]) => [end, length]))).toEqual({
      'CONFIRMED null': 10,
      'DECLINED INSUFFICIENT_FUNDS': 40,
    });
    for (const { id, status } of payouts)
      expect(await payoutEventNames(stack.database, id)).toEqual([`payout.${status.toLowerCase()}`]);
    expect(await readBalance(limited.api)).toEqual({ available: 6_999, held: 0 });
    const internalIds = new Set(payouts.map(({ id }) => id));
    const sent = await stack.database.query<{ end_to_end_id: string }>(
      'select end_to_end_id from caudal.payouts where id = any ($1) and attempts > 0',
      [[...internalIds]],
    );
    const ids = new Set(sent.map((row) => row.end_to_end_id));
    expect((await simulator.executions()).filter(({ endToEndId }) => ids.has(endToEndId))).toHaveLength(10);
    expect(await runOperatorCommand(stack.settings, 'ledger', 'verify')).toMatchObject({ code: 0 });
  });
});

describe('a repeated creation', () => {
  it('is replayed as created even after the confirmation, and sends nothing more', async () => {
    const own = await newShop(caudal, stack.api, 100_000);
    const [request, key] = [payoutRequest({ amountInCents: 40_000 }), newKey()];
    const first = await post(request, key, own.api);
    await waitForPayoutStatus(own.api, first.body.id, 'CONFIRMED');
    const second = await post(request, key, own.api);
    expect([second.status, second.text, replayedHeader(second)]).toEqual([201, first.text, 'true']);
    expect(await readBalance(own.api)).toEqual({ available: 60_000, held: 0 });
  });

  it('is replayed as PROCESSING even when it was declined on creation', async () => {
    const { api } = await newShop(caudal, stack.api, 0);
    const [request, key] = [payoutRequest(), newKey()];
    const first = await post(request, key, api);
    expect((await readPayout(api, first.body.id)).status).toBe('DECLINED');
    const second = await post(request, key, api);
    expect([second.text, replayedHeader(second)]).toEqual([first.text, 'true']);
    expect(await payoutEventNames(stack.database, first.body.id)).toEqual(['payout.declined']);
  });

  it('is the same in any member order', async () => {
    const [request, key] = [payoutRequest(), newKey()];
    const first = await post(request, key);
    const second = await post(Object.fromEntries(Object.entries(request).toReversed()), key);
    expect([second.text, replayedHeader(second)]).toEqual([first.text, 'true']);
  });

  it.each([
    { what: 'another amount', changes: { amountInCents: 12_501 } },
    { what: 'another receiver', changes: { breb: { keyString: '@TESTDECLINED' } } },
    { what: 'another customer', changes: { inlineCustomer: { ...CUSTOMER, name: 'Ana Rojas' } } },
    { what: 'another reference', changes: { reference: newReference() } },
  ])('with $what under the same key returns 422', async ({ changes }) => {
    const [request, key] = [payoutRequest(), newKey()];
    await createPayout(shop.api, request, key);
    const answer = await post({ ...request, ...changes }, key);
    expect(toProblem(answer)).toEqual({ status: 422, code: 'idempotency_mismatch' });
  });

  it('without a key returns 409 with the ID of the first', async () => {
    const request = payoutRequest();
    const first = await createPayout(shop.api, request);
    const second = await post({ ...request, amountInCents: 1 });
    expect(toProblem(second)).toEqual({ status: 409, code: 'reference_taken' });
    expect(second.body).toMatchObject({ existingId: first.id });
  });

  it('can use the reference and key of a payin: payins and payouts are separate', async () => {
    const [reference, key] = [newReference(), newKey()];
    const payin = await createPayin(shop.api, brebPayin({ reference }), key);
    const answer = await post(payoutRequest({ reference }), key);
    expect([answer.status, replayedHeader(answer)]).toEqual([201, null]);
    expect(answer.body.id).not.toBe(payin.id);
    expect(toProblem(await post(payoutRequest({ reference })))).toMatchObject({ code: 'reference_taken' });
  });

  it('creates one payout with one hold for forty equal concurrent requests to two processes', async () => {
    const own = await newShop(caudal, stack.api, 1_000_000);
    const request = payoutRequest({ amountInCents: 1_000, breb: { keyString: '@TESTTIMEOUT' } });
    const key = newKey();
    const answers = await inParallel(40, (api) => post(request, key, api), own);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter((answer) => replayedHeader(answer) === null)).toHaveLength(1);
    expect(await readBalance(own.api)).toEqual({ available: 999_000, held: 1_000 });
  });
});

describe('400 of POST /payouts', () => {
  async function postRejected(body: unknown): Promise<ProblemSummary> {
    return toProblem(await post(body));
  }

  function invalid(...errors: readonly string[]): ProblemSummary {
    return { status: 400, code: 'invalid_request', errors };
  }

  it.each(['amountInCents', 'currency', 'rail', 'reference', 'inlineCustomer', 'breb'])(
    'rejects a payout without %s',
    async (field) => {
      expect(await postRejected(without(payoutRequest(), field))).toEqual(invalid(`${field} required`));
    },
  );

  it.each(['name', 'idType', 'idNumber', 'phone', 'email'])(
    'rejects inlineCustomer without %s',
    async (field) => {
      const inlineCustomer = without(CUSTOMER, field);
      expect(await postRejected(payoutRequest({ inlineCustomer }))).toEqual(
        invalid(`inlineCustomer.${field} required`),
      );
    },
  );

  it.each([
    { field: 'amountInCents', value: 0, error: 'too_small' },
    { field: 'amountInCents', value: -1, error: 'too_small' },
    { field: 'amountInCents', value: 0.5, error: 'invalid_type' },
    { field: 'amountInCents', value: '100', error: 'invalid_type' },
    { field: 'amountInCents', value: 1_000_000_000_000, error: 'too_big' },
    { field: 'currency', value: 'USD', error: 'invalid_value' },
    { field: 'rail', value: 'PSE', error: 'invalid_value' },
    { field: 'rail', value: 'bre_b', error: 'invalid_value' },
    { field: 'reference', value: '', error: 'too_short' },
    { field: 'reference', value: 'x'.repeat(256), error: 'too_long' },
    { field: 'reference', value: 'a\u0000b', error: 'invalid_characters' },
    { field: 'inlineCustomer', value: null, error: 'invalid_type' },
    { field: 'breb', value: '@TESTOK', error: 'invalid_type' },
  ])('rejects $field $value', async ({ field, value, error }) => {
    expect(await postRejected(payoutRequest({ [field]: value }))).toEqual(invalid(`${field} ${error}`));
  });

  it.each([
    '',
    '@',
    '@con espacio',
    '@' + 'A'.repeat(21),
    'ana@',
    '+1 300',
    '+5713001234567',
    '@ñandú',
    'A'.repeat(19),
  ])('rejects the key "%s"', async (keyString) => {
    expect(await postRejected(payoutRequest({ breb: { keyString } }))).toEqual(
      invalid('breb.keyString invalid_breb_key'),
    );
  });

  it('rejects breb without keyString, even with the keyType of payins', async () => {
    expect(await postRejected(payoutRequest({ breb: { keyType: 'SINGLE_USE' } }))).toEqual(
      invalid('breb.keyString required'),
    );
  });

  it.each(['x', '', '019b2c5e-9a41-7d02-8001', 7])('rejects the lookupId %j', async (lookupId) => {
    const { status, code, errors } = await postRejected(
      payoutRequest({ breb: { keyString: '@TESTOK', lookupId } }),
    );
    expect([status, code]).toEqual([400, 'invalid_request']);
    expect(errors?.[0]).toMatch(/^breb\.lookupId invalid_(?:format|type)$/);
  });

  it.each([
    { path: 'pse', body: () => payoutRequest({ pse: { bank: 'CO_NU', personType: 'INDIVIDUAL' } }) },
    { path: 'callbackUrl', body: () => payoutRequest({ callbackUrl: 'https://shop.example.com' }) },
    { path: 'Reference', body: () => payoutRequest({ Reference: 'x' }) },
    { path: 'breb.key', body: () => payoutRequest({ breb: { keyString: '@TESTOK', key: 'x' } }) },
    { path: 'inlineCustomer.age', body: () => payoutRequest({ inlineCustomer: { ...CUSTOMER, age: 7 } }) },
  ])('rejects the unknown field $path', async ({ path, body }) => {
    expect(await postRejected(body())).toEqual({
      status: 400,
      code: 'unknown_field',
      errors: [`${path} unknown_field`],
    });
  });

  it('is returned to an organization without the rail', async () => {
    const driver = await openCredentialDriver(stack);
    const { apiKey } = await driver.newOrganization(['PSE']);
    await driver.close();
    expect(toProblem(await post(payoutRequest(), {}, shop.api.as(apiKey)))).toEqual({
      status: 400,
      code: 'rail_not_enabled',
    });
  });

  it('leaves nothing behind: no payout, no hold, reference and key stay free', async () => {
    const own = await newShop(caudal, stack.api, 50_000);
    const [request, key] = [payoutRequest(), newKey()];
    expect((await post({ ...request, currency: 'USD' }, key, own.api)).status).toBe(400);
    expect(await readBalance(own.api)).toEqual({ available: 50_000, held: 0 });
    const answer = await post(request, key, own.api);
    expect([answer.status, replayedHeader(answer)]).toEqual([201, null]);
  });
});

describe('breb.lookupId', () => {
  const LOOKUP_INVALID = { status: 400, code: 'lookup_invalid' };

  function requestWithLookup(lookupId: string, keyString = '@TESTOK'): Record<string, unknown> {
    return payoutRequest({ breb: { keyString, lookupId } });
  }

  it('is accepted for the same key in time, also upper-case and for the key as typed', async () => {
    const { lookupId } = await resolveKey(shop.api, '@TESTOK');
    for (const [id, key] of [
      [lookupId, '@TESTOK'],
      [lookupId.toUpperCase(), '@testok'],
    ] as const) {
      const payout = await createPayout(shop.api, requestWithLookup(id, key));
      const { errorCode } = await waitForPayoutStatus(shop.api, payout.id, 'CONFIRMED');
      expect(errorCode).toBeNull();
    }
  });

  it('of another key returns 400, and reference, key and money stay free', async () => {
    const own = await newShop(caudal, stack.api, 50_000);
    const { lookupId } = await resolveKey(own.api, '@TESTDECLINED');
    const [request, key] = [requestWithLookup(lookupId), newKey()];
    expect(toProblem(await post(request, key, own.api))).toEqual(LOOKUP_INVALID);
    expect(await readBalance(own.api)).toEqual({ available: 50_000, held: 0 });
    const corrected = { ...request, breb: { keyString: '@TESTOK' } };
    expect((await post(corrected, key, own.api)).status).toBe(201);
  });

  it('that does not exist returns 400', async () => {
    expect(toProblem(await post(requestWithLookup(randomUUID())))).toEqual(LOOKUP_INVALID);
  });

  it('of another organization returns 400, although the key is the same', async () => {
    const { lookupId } = await resolveKey(shop.api, '@TESTOK');
    const other = await newShop(caudal, stack.api);
    expect(toProblem(await post(requestWithLookup(lookupId), {}, other.api))).toEqual(LOOKUP_INVALID);
    expect((await post(requestWithLookup(lookupId))).status).toBe(201);
  });

  it('does not affect other payouts of the batch when it is wrong', async () => {
    const { lookupId } = await resolveKey(shop.api, '@TESTOK');
    const answers = await inParallel(40, (api, index) =>
      post(requestWithLookup(index % 4 < 2 ? lookupId : randomUUID()), {}, api),
    );
    const statuses = answers.map(({ status }, index) => [index % 4 < 2, status]);
    for (const [good, status] of statuses) expect(status).toBe(good ? 201 : 400);
  });

  it('that has expired returns 400, but an earlier creation is replayed', async () => {
    const { lookupId, expiresAt } = await resolveKey(shop.api, '@TESTOK');
    const [request, key] = [requestWithLookup(lookupId), newKey()];
    const first = await post(request, key);
    expect(first.status).toBe(201);
    expect(Date.parse(expiresAt) - Date.parse(first.body.createdAt)).toBeLessThanOrEqual(LOOKUP_LIFETIME_MS);
    await stack.shiftTime(LOOKUP_LIFETIME_MS - 60_000);
    expect((await post(requestWithLookup(lookupId))).status).toBe(201);
    await stack.shiftTime(60_001);
    expect(toProblem(await post(requestWithLookup(lookupId)))).toEqual(LOOKUP_INVALID);
    const second = await post(request, key);
    expect([second.status, second.text, replayedHeader(second)]).toEqual([201, first.text, 'true']);
    // Without a key the response still says that the payout exists, not that it was rejected.
    const unkeyed = await post(request);
    expect(toProblem(unkeyed)).toEqual({ status: 409, code: 'reference_taken' });
    expect(unkeyed.body).toMatchObject({ existingId: first.body.id });
    // Without a lookupId the payout is sent without a resolution.
    const { id } = await createPayout(shop.api);
    await waitForPayoutStatus(shop.api, id, 'CONFIRMED');
    const order = await simulator.order(await readEndToEndId(stack.database, id));
    expect(order?.resolutionId).toBeNull();
  });
});

describe('authorization of POST /payouts', () => {
  it('requires a credential', async () => {
    expect(toProblem(await post(payoutRequest(), { 'x-api-key': 'none' }))).toEqual({
      status: 401,
      code: 'unauthorized',
    });
  });

  it('requires payouts:write, whatever other scopes the key has', async () => {
    const scopes = ['payouts:read', 'payins:write', 'breb_keys:read', 'balance:read'];
    const answer = await post(payoutRequest(), {}, await withScopes(caudal, shop, ...scopes));
    expect(toProblem(answer)).toEqual({ status: 403, code: 'insufficient_scope' });
    expect(answer.body).toMatchObject({ requiredScope: 'payouts:write' });
  });

  it('accepts a key with only payouts:write', async () => {
    const api = await withScopes(caudal, shop, 'payouts:write');
    expect((await post(payoutRequest(), {}, api)).status).toBe(201);
  });
});
