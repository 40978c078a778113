import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../harness/api-client.ts';
import { openCredentialDriver } from '../harness/credential-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { toProblem } from '../harness/payin-responses.ts';
import {
  createPayout,
  lookUp,
  newShop,
  payoutRequest,
  readEndToEndId,
  resolveKey,
  type Shop,
  waitForPayoutStatus,
  withScopes,
} from '../harness/payout-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import {
  countResolveCalls,
  expectNoLimitWhenPaying,
  expectScanStopped,
  readTokens,
  setTokens,
  waitForTokens,
} from './breb-lookups.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const LIMITED = { status: 429, code: 'too_many_lookups' };
const RAIL_UNAVAILABLE = { status: 503, code: 'rail_unavailable' };

/** A person with no other key. */
const JUAN = {
  participant: { nit: '900000002', node: 'TFY', name: 'BANCO DE PRUEBAS' },
  account: { type: 'CAHO', number: '4567890123' },
  person: { type: 'N', documentType: 'CC', documentNumber: '79123456', names: 'JUAN PÉREZ DE LA CRUZ' },
} as const;
const EMPRESA = {
  ...JUAN,
  person: { type: 'L', documentType: 'NIT', documentNumber: '900123456', names: 'ACME FLORES S.A.S.' },
} as const;

let stack: Stack;
let caudal: InProcess;
let simulator: SimulatorControl;
let shop: Shop;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  caudal = await composeInProcess(stack.settings);
  simulator = new SimulatorControl(stack.simulatorUrl);
  shop = await newShop(caudal, stack.api);
  await simulator.setDirectoryEntry({ key: '3157654321', holder: JUAN });
  await simulator.setDirectoryEntry({ key: 'juan.perez@example.com', holder: JUAN });
  await simulator.setDirectoryEntry({ key: '79123456', holder: JUAN });
  await simulator.setDirectoryEntry({ key: '0087654321', holder: EMPRESA });
});
afterEach(async () => {
  await simulator?.clearFaults();
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

/** Business time of the database. */
async function readTime(): Promise<number> {
  const [row] = await stack.database.query<{ now: Date }>('select caudal.now() as now');
  return row?.now.getTime() ?? Number.NaN;
}

describe('200 of GET /breb/keys/{keyString}', () => {
  it('returns the key, its masked holder and a lookup valid for eight minutes', async () => {
    const before = await readTime();
    const { status, body } = await lookUp(shop.api, '3157654321');
    const after = await readTime();
    expect(status).toBe(200);
    const { lookupId, expiresAt, ...rest } = body;
    expect(rest).toEqual({
      details: {
        keyString: '3157654321',
        keyType: 'PHONE',
        name: 'JUA*** PÉR*** DE*** LA*** CRU***',
        documentType: 'CC',
        documentNumber: '****3456',
        bankName: 'BANCO DE PRUEBAS',
        bankAccountNumber: '****0123',
      },
    });
    expect(Object.keys(body)).toEqual(['details', 'lookupId', 'expiresAt']);
    expect(lookupId).toMatch(UUID);
    const lookedUpAt = Date.parse(expiresAt) - 480_000;
    expect(lookedUpAt).toBeGreaterThanOrEqual(before);
    expect(lookedUpAt).toBeLessThanOrEqual(after);
  });

  it.each([
    { typed: '3157654321', keyString: '3157654321', keyType: 'PHONE' },
    { typed: '+573157654321', keyString: '3157654321', keyType: 'PHONE' },
    { typed: 'Juan.Perez@EXAMPLE.com', keyString: 'juan.perez@example.com', keyType: 'EMAIL' },
    { typed: '@testok', keyString: '@TESTOK', keyType: 'ALPHANUMERIC' },
    { typed: ' @TESTOK ', keyString: '@TESTOK', keyType: 'ALPHANUMERIC' },
    { typed: '79123456', keyString: '79123456', keyType: 'ID' },
    { typed: '0087654321', keyString: '0087654321', keyType: 'MERCHANT_CODE' },
  ])('normalizes "$typed" to the $keyType $keyString', async ({ typed, keyString, keyType }) => {
    expect((await resolveKey(shop.api, typed)).details).toMatchObject({ keyString, keyType });
  });

  it('accepts @ literally and as %40', async () => {
    for (const path of ['/breb/keys/@TESTOK', '/breb/keys/%40TESTOK'])
      expect((await shop.api.get(path)).status).toBe(200);
  });

  it.each([
    { key: '3157654321', expectedHolder: { name: 'Juan Perez de la Cruz' }, match: { name: 'FULL' } },
    { key: '3157654321', expectedHolder: { name: 'juan pérez' }, match: { name: 'PARTIAL' } },
    { key: '3157654321', expectedHolder: { name: 'Juan' }, match: { name: 'NONE' } },
    { key: '3157654321', expectedHolder: { name: 'Ana Gómez' }, match: { name: 'NONE' } },
    { key: '3157654321', expectedHolder: { documentNumber: '79.123.456' }, match: { documentNumber: true } },
    { key: '3157654321', expectedHolder: { documentNumber: '79123457' }, match: { documentNumber: false } },
    {
      key: '0087654321',
      expectedHolder: { documentNumber: '900.123.456-8' },
      match: { documentNumber: true },
    },
    { key: '0087654321', expectedHolder: { name: 'Acme Flores' }, match: { name: 'FULL' } },
    {
      key: '3157654321',
      expectedHolder: { name: 'JUAN PÉREZ DE LA CRUZ', documentNumber: '1' },
      match: { name: 'FULL', documentNumber: false },
    },
  ])('returns $match for $expectedHolder of $key', async ({ key, expectedHolder, match }) => {
    // Mismatches cost tokens; this test checks only the response.
    await setTokens(stack, shop, { lookups: 100, misses: 100 });
    const { status, body } = await lookUp(shop.api, key, expectedHolder);
    expect(status).toBe(200);
    expect(body.match).toEqual(match);
    expect(JSON.stringify(body)).not.toMatch(/79123456|900123456|4567890123|PEREZ|PÉREZ|FLORES/);
  });
});

describe('other responses of GET /breb/keys/{keyString}', () => {
  it.each([
    { key: '@TESTNOTFOUND', status: 404, code: 'breb_key_not_found' },
    { key: '3009999999', status: 404, code: 'breb_key_not_found' },
    { key: '@TESTSUSPENDED', status: 422, code: 'breb_key_suspended' },
    { key: '@', status: 400, code: 'breb_key_invalid' },
    { key: '@con espacio', status: 400, code: 'breb_key_invalid' },
    { key: 'A'.repeat(19), status: 400, code: 'breb_key_invalid' },
  ])('$status $code for $key', async ({ key, status, code }) => {
    expect(toProblem(await lookUp(shop.api, key))).toEqual({ status, code });
  });

  it('returns 400 when the directory rejects the format, and calls no rail for an obviously invalid key', async () => {
    await simulator.addFault({
      rail: 'BRE_B',
      operation: 'resolve',
      fault: 'rejected',
      code: '4001',
      times: 1,
    });
    expect(toProblem(await lookUp(shop.api, '@TESTOK'))).toEqual({ status: 400, code: 'breb_key_invalid' });
    const [callsBefore, tokens] = [await countResolveCalls(stack), await readTokens(stack, shop)];
    expect(toProblem(await lookUp(shop.api, 'ana@'))).toEqual({ status: 400, code: 'breb_key_invalid' });
    expect([await countResolveCalls(stack), await readTokens(stack, shop)]).toEqual([callsBefore, tokens]);
  });

  it.each([
    { parameter: 'name', value: '', error: 'too_short' },
    { parameter: 'name', value: 'x'.repeat(121), error: 'too_long' },
    { parameter: 'documentNumber', value: '', error: 'too_short' },
    { parameter: 'documentNumber', value: '1'.repeat(41), error: 'too_long' },
  ])('rejects $parameter "$value"', async ({ parameter, value, error }) => {
    expect(toProblem(await lookUp(shop.api, '@TESTOK', { [parameter]: value }))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: [`query.${parameter} ${error}`],
    });
  });

  it('rejects an unknown parameter', async () => {
    expect(toProblem(await lookUp(shop.api, '@TESTOK', { document: '1' }))).toMatchObject({
      code: 'unknown_field',
    });
  });

  it('requires breb_keys:read and the rail', async () => {
    const writer = await withScopes(caudal, shop, 'payouts:write', 'payouts:read');
    expect(toProblem(await lookUp(writer, '@TESTOK'))).toEqual({ status: 403, code: 'insufficient_scope' });
    const reader = await withScopes(caudal, shop, 'breb_keys:read');
    expect((await lookUp(reader, '@TESTOK')).status).toBe(200);
    expect(toProblem(await lookUp(stack.api.as('none'), '@TESTOK'))).toMatchObject({ status: 401 });
    const driver = await openCredentialDriver(stack);
    const { apiKey } = await driver.newOrganization(['PSE']);
    await driver.close();
    expect(toProblem(await lookUp(stack.api.as(apiKey), '@TESTOK'))).toEqual({
      status: 400,
      code: 'rail_not_enabled',
    });
  });
});

describe('the cost of a lookup', () => {
  const FULL = { lookups: 10, misses: 10 };

  it.each([
    { what: 'a holder', key: '@TESTOK', expectedHolder: {}, costs: { lookups: 1, misses: 0 } },
    {
      what: 'the named holder',
      key: '3157654321',
      expectedHolder: { name: 'Juan Pérez' },
      costs: { lookups: 1, misses: 0 },
    },
    { what: 'no holder', key: '@TESTNOTFOUND', expectedHolder: {}, costs: { lookups: 1, misses: 1 } },
    { what: 'a suspended key', key: '@TESTSUSPENDED', expectedHolder: {}, costs: { lookups: 1, misses: 1 } },
    {
      what: 'a holder with another name',
      key: '@TESTOK',
      expectedHolder: { name: 'Ana Gómez' },
      costs: { lookups: 1, misses: 1 },
    },
    {
      what: 'a holder with another document',
      key: '@TESTOK',
      expectedHolder: { documentNumber: '1' },
      costs: { lookups: 1, misses: 1 },
    },
    { what: 'an invalid key', key: '@', expectedHolder: {}, costs: { lookups: 0, misses: 0 } },
  ])('that finds $what: $costs', async ({ key, expectedHolder, costs }) => {
    const own = await newShop(caudal, stack.api, 0);
    await setTokens(stack, own, FULL);
    await lookUp(own.api, key, expectedHolder);
    expect(await readTokens(stack, own)).toEqual({ lookups: 10 - costs.lookups, misses: 10 - costs.misses });
  });

  it.each(['lost-answer', 'down', 'reset'] as const)(
    'is no miss when the rail does not answer: 503 rail_unavailable (%s)',
    async (fault) => {
      const own = await newShop(caudal, stack.api, 0);
      await setTokens(stack, own, FULL);
      const id = await simulator.addFault({ rail: 'BRE_B', operation: 'resolve', fault });
      expect(toProblem(await lookUp(own.api, '@TESTOK'))).toEqual(RAIL_UNAVAILABLE);
      expect(await simulator.timesApplied(id)).toBe(1);
      expect(await readTokens(stack, own)).toEqual({ lookups: 9, misses: 10 });
      await simulator.clearFaults();
      expect((await lookUp(own.api, '@TESTOK')).status).toBe(200);
    },
  );

  it('is refunded once when a following payout is sent, with or without its lookupId', async () => {
    const own = await newShop(caudal, stack.api);
    await setTokens(stack, own, FULL);
    const { lookupId } = await resolveKey(own.api, '@TESTOK');
    await resolveKey(own.api, '3157654321');
    expect(await readTokens(stack, own)).toEqual({ lookups: 8, misses: 10 });
    const breb = { keyString: '@TESTOK', lookupId };
    const payouts = await Promise.all(
      Array.from({ length: 10 }, () => createPayout(own.api, payoutRequest({ breb }))),
    );
    for (const { id } of payouts) await waitForPayoutStatus(own.api, id, 'CONFIRMED');
    expect(await readTokens(stack, own)).toEqual({ lookups: 9, misses: 10 });
    await createPayout(own.api, payoutRequest({ breb: { keyString: '3157654321' } }));
    await waitForTokens(stack, own, FULL);
    // This key was not looked up, so nothing is refunded.
    const { id } = await createPayout(own.api, payoutRequest({ breb: { keyString: '79123456' } }));
    await waitForPayoutStatus(own.api, id, 'CONFIRMED');
    expect(await readTokens(stack, own)).toEqual(FULL);
  });

  it('is not refunded by a payout that was never sent because of insufficient funds', async () => {
    const own = await newShop(caudal, stack.api, 0);
    await setTokens(stack, own, FULL);
    const { lookupId } = await resolveKey(own.api, '@TESTOK');
    const breb = { keyString: '@TESTOK', lookupId };
    await createPayout(own.api, payoutRequest({ breb }));
    const { id } = await createPayout(shop.api);
    await waitForPayoutStatus(shop.api, id, 'CONFIRMED');
    expect(await readTokens(stack, own)).toEqual({ lookups: 9, misses: 10 });
  });

  it('is refunded to a merchant that pays after each lookup: a hundred in a row with twenty tokens', () =>
    expectNoLimitWhenPaying(stack, caudal, { times: 100, lookups: 20, waitsForRefunds: true }));

  it('is limited per organization', async () => {
    const [exhausted, other] = [await newShop(caudal, stack.api, 0), await newShop(caudal, stack.api, 0)];
    await setTokens(stack, exhausted, { lookups: 0, misses: 0 });
    expect(toProblem(await lookUp(exhausted.api, '@TESTOK'))).toEqual(LIMITED);
    expect((await lookUp(other.api, '@TESTOK')).status).toBe(200);
  });

  it('is charged before the directory is called: without tokens the response reveals nothing', async () => {
    const own = await newShop(caudal, stack.api, 0);
    await setTokens(stack, own, { lookups: 1000, misses: 0.9 });
    const callsBefore = await countResolveCalls(stack);
    for (const key of ['@TESTOK', '@TESTNOTFOUND', '@TESTSUSPENDED'])
      expect(toProblem(await lookUp(own.api, key))).toEqual(LIMITED);
    expect(await countResolveCalls(stack)).toBe(callsBefore);
  });
});

describe('a scan of phone numbers', () => {
  it('is stopped after a hundred: 429 with Retry-After, counted, then allowed one at a time', () =>
    expectScanStopped(stack, caudal, 1000));
});

describe('a payout after a lookup', () => {
  async function createAndReadOrder(api: ApiClient, body: Record<string, unknown>, finalStatus: string) {
    const { id } = await createPayout(api, body);
    const payout = await waitForPayoutStatus(api, id, finalStatus);
    return { payout, order: await simulator.order(await readEndToEndId(stack.database, id)) };
  }

  async function readResolutionId(lookupId: string): Promise<string | undefined> {
    const [row] = await stack.database.query<{ resolution_id: string }>(
      'select resolution_id from caudal.breb_lookups where id = $1',
      [lookupId],
    );
    return row?.resolution_id;
  }

  it('uses the newest resolution of its key without lookupId, and that of the given lookupId', async () => {
    const own = await newShop(caudal, stack.api);
    const older = await resolveKey(own.api, '3157654321');
    const newer = await resolveKey(own.api, '+573157654321');
    const unnamed = await createAndReadOrder(
      own.api,
      payoutRequest({ breb: { keyString: '3157654321' } }),
      'CONFIRMED',
    );
    expect(unnamed.order?.resolutionId).toBe(await readResolutionId(newer.lookupId));
    const breb = { keyString: '3157654321', lookupId: older.lookupId };
    const named = await createAndReadOrder(own.api, payoutRequest({ breb }), 'CONFIRMED');
    expect(named.order?.resolutionId).toBe(await readResolutionId(older.lookupId));
    expect(unnamed.order?.resolutionId).not.toBe(named.order?.resolutionId);
  });

  it('uses no resolution of another organization or another key', async () => {
    const [own, other] = [await newShop(caudal, stack.api), await newShop(caudal, stack.api)];
    await resolveKey(other.api, '3157654321');
    await resolveKey(own.api, '@TESTOK');
    const { order } = await createAndReadOrder(
      own.api,
      payoutRequest({ breb: { keyString: '3157654321' } }),
      'CONFIRMED',
    );
    expect(order).toMatchObject({ resolutionId: null, status: 'SETTLED' });
  });

  it.each([{ named: true }, { named: false }])(
    'is declined with RECEIVER_MISMATCH when the key holder changes in between (lookupId given: $named)',
    async ({ named }) => {
      const own = await newShop(caudal, stack.api, 50_000);
      const key = named ? '@MOVED1' : '@MOVED2';
      await simulator.setDirectoryEntry({ key, holder: JUAN });
      const { lookupId } = await resolveKey(own.api, key);
      await simulator.setDirectoryEntry({ key, holder: EMPRESA });
      const breb = { keyString: key, ...(named ? { lookupId } : {}) };
      const { payout, order } = await createAndReadOrder(own.api, payoutRequest({ breb }), 'DECLINED');
      expect(payout.errorCode).toBe('RECEIVER_MISMATCH');
      expect(order).toMatchObject({ status: 'REJECTED', executionId: null });
      // A new lookup refers to the new holder.
      await resolveKey(own.api, key);
      await createAndReadOrder(own.api, payoutRequest({ breb: { keyString: key } }), 'CONFIRMED');
    },
  );
});
