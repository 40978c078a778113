import { randomInt } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../harness/api-client.ts';
import { openCredentialDriver } from '../harness/credential-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { problemOf } from '../harness/payin-answers.ts';
import {
  createPayout,
  endToEndIdOf,
  foundKey,
  lookUp,
  newShop,
  payoutReaches,
  payoutRequest,
  type Shop,
  withScopes,
} from '../harness/payout-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const LIMITED = { status: 429, code: 'too_many_lookups' };
const RAIL_UNAVAILABLE = { status: 503, code: 'rail_unavailable' };

/** Of a person, whom no other key has. */
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
  await simulator.list({ key: '3157654321', holder: JUAN });
  await simulator.list({ key: 'juan.perez@example.com', holder: JUAN });
  await simulator.list({ key: '79123456', holder: JUAN });
  await simulator.list({ key: '0087654321', holder: EMPRESA });
});
afterEach(async () => {
  await simulator?.clearFaults();
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

interface Tokens {
  readonly lookups: number;
  readonly misses: number;
}

/** An hour ahead nothing is refilled, so what is left can be counted. */
async function leave(shop: Shop, { lookups, misses }: Tokens): Promise<void> {
  await stack.database.query(
    `insert into caudal.lookup_buckets values ($1, $2, $3, caudal.now() + interval '1 hour')
     on conflict (organization_id) do update set lookups = $2, misses = $3, filled_at = caudal.now() + interval '1 hour'`,
    [shop.id, lookups, misses],
  );
}

async function left(shop: Shop): Promise<Tokens | undefined> {
  const [row] = await stack.database.query<Tokens>(
    'select lookups, misses from caudal.lookup_buckets where organization_id = $1',
    [shop.id],
  );
  return row;
}

async function resolves(): Promise<number> {
  return (await simulator.stats()).calls.BRE_B['resolve'] ?? 0;
}

async function limitedTold(): Promise<number> {
  const text = await (await fetch(`${stack.apis[0]?.opsUrl ?? ''}/metrics`)).text();
  return Number(/^caudal_breb_lookups_total\{result="limited"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

describe('200 of GET /breb/keys/{keyString}', () => {
  it('shows the key and, masked, its holder, with a lookup that holds eight minutes', async () => {
    const before = Date.now();
    const { status, body } = await lookUp(shop.api, '3157654321');
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
    expect(Math.abs(Date.parse(expiresAt) - before - 480_000)).toBeLessThan(5000);
  });

  it.each([
    { typed: '3157654321', keyString: '3157654321', keyType: 'PHONE' },
    { typed: '+573157654321', keyString: '3157654321', keyType: 'PHONE' },
    { typed: 'Juan.Perez@EXAMPLE.com', keyString: 'juan.perez@example.com', keyType: 'EMAIL' },
    { typed: '@testok', keyString: '@TESTOK', keyType: 'ALPHANUMERIC' },
    { typed: ' @TESTOK ', keyString: '@TESTOK', keyType: 'ALPHANUMERIC' },
    { typed: '79123456', keyString: '79123456', keyType: 'ID' },
    { typed: '0087654321', keyString: '0087654321', keyType: 'MERCHANT_CODE' },
  ])('reads "$typed" as the $keyType $keyString', async ({ typed, keyString, keyType }) => {
    expect((await foundKey(shop.api, typed)).details).toMatchObject({ keyString, keyType });
  });

  it('takes @ as it is and as %40', async () => {
    for (const path of ['/breb/keys/@TESTOK', '/breb/keys/%40TESTOK'])
      expect((await shop.api.get(path)).status).toBe(200);
  });

  it.each([
    { key: '3157654321', asked: { name: 'Juan Perez de la Cruz' }, match: { name: 'FULL' } },
    { key: '3157654321', asked: { name: 'juan pérez' }, match: { name: 'PARTIAL' } },
    { key: '3157654321', asked: { name: 'Juan' }, match: { name: 'NONE' } },
    { key: '3157654321', asked: { name: 'Ana Gómez' }, match: { name: 'NONE' } },
    { key: '3157654321', asked: { documentNumber: '79.123.456' }, match: { documentNumber: true } },
    { key: '3157654321', asked: { documentNumber: '79123457' }, match: { documentNumber: false } },
    { key: '0087654321', asked: { documentNumber: '900.123.456-8' }, match: { documentNumber: true } },
    { key: '0087654321', asked: { name: 'Acme Flores' }, match: { name: 'FULL' } },
    {
      key: '3157654321',
      asked: { name: 'JUAN PÉREZ DE LA CRUZ', documentNumber: '1' },
      match: { name: 'FULL', documentNumber: false },
    },
  ])('answers $asked of $key with $match', async ({ key, asked, match }) => {
    // Every wrong guess costs; here it is the answer that counts.
    await leave(shop, { lookups: 100, misses: 100 });
    const { status, body } = await lookUp(shop.api, key, asked);
    expect(status).toBe(200);
    expect(body.match).toEqual(match);
    expect(JSON.stringify(body)).not.toMatch(/79123456|900123456|4567890123|PEREZ|PÉREZ|FLORES/);
  });
});

describe('other answers of GET /breb/keys/{keyString}', () => {
  it.each([
    { key: '@TESTNOTFOUND', status: 404, code: 'breb_key_not_found' },
    { key: '3009999999', status: 404, code: 'breb_key_not_found' },
    { key: '@TESTSUSPENDED', status: 422, code: 'breb_key_suspended' },
    { key: '@', status: 400, code: 'breb_key_invalid' },
    { key: '@con espacio', status: 400, code: 'breb_key_invalid' },
    { key: 'A'.repeat(19), status: 400, code: 'breb_key_invalid' },
  ])('$status $code for $key', async ({ key, status, code }) => {
    expect(problemOf(await lookUp(shop.api, key))).toEqual({ status, code });
  });

  it('is 400 when the directory finds the format wrong, and asks nobody when it is plain that it is', async () => {
    await simulator.addFault({
      rail: 'BRE_B',
      operation: 'resolve',
      fault: 'rejected',
      code: '4001',
      times: 1,
    });
    expect(problemOf(await lookUp(shop.api, '@TESTOK'))).toEqual({ status: 400, code: 'breb_key_invalid' });
    const [asked, tokens] = [await resolves(), await left(shop)];
    expect(problemOf(await lookUp(shop.api, 'ana@'))).toEqual({ status: 400, code: 'breb_key_invalid' });
    expect([await resolves(), await left(shop)]).toEqual([asked, tokens]);
  });

  it.each([
    { parameter: 'name', value: '', error: 'too_short' },
    { parameter: 'name', value: 'x'.repeat(121), error: 'too_long' },
    { parameter: 'documentNumber', value: '', error: 'too_short' },
    { parameter: 'documentNumber', value: '1'.repeat(41), error: 'too_long' },
  ])('refuses $parameter "$value"', async ({ parameter, value, error }) => {
    expect(problemOf(await lookUp(shop.api, '@TESTOK', { [parameter]: value }))).toEqual({
      status: 400,
      code: 'invalid_request',
      errors: [`query.${parameter} ${error}`],
    });
  });

  it('refuses a parameter that it does not have', async () => {
    expect(problemOf(await lookUp(shop.api, '@TESTOK', { document: '1' }))).toMatchObject({
      code: 'unknown_field',
    });
  });

  it('needs breb_keys:read, and the rail', async () => {
    const writer = await withScopes(caudal, shop, 'payouts:write', 'payouts:read');
    expect(problemOf(await lookUp(writer, '@TESTOK'))).toEqual({ status: 403, code: 'insufficient_scope' });
    const reader = await withScopes(caudal, shop, 'breb_keys:read');
    expect((await lookUp(reader, '@TESTOK')).status).toBe(200);
    expect(problemOf(await lookUp(stack.api.as('none'), '@TESTOK'))).toMatchObject({ status: 401 });
    const driver = await openCredentialDriver(stack);
    const { apiKey } = await driver.newOrganization(['PSE']);
    await driver.close();
    expect(problemOf(await lookUp(stack.api.as(apiKey), '@TESTOK'))).toEqual({
      status: 400,
      code: 'rail_not_enabled',
    });
  });
});

describe('what a lookup costs', () => {
  const FULL = { lookups: 10, misses: 10 };

  it.each([
    { what: 'somebody', key: '@TESTOK', asked: {}, costs: { lookups: 1, misses: 0 } },
    {
      what: 'whom the caller named',
      key: '3157654321',
      asked: { name: 'Juan Pérez' },
      costs: { lookups: 1, misses: 0 },
    },
    { what: 'nobody', key: '@TESTNOTFOUND', asked: {}, costs: { lookups: 1, misses: 1 } },
    { what: 'a suspended key', key: '@TESTSUSPENDED', asked: {}, costs: { lookups: 1, misses: 1 } },
    { what: 'another name', key: '@TESTOK', asked: { name: 'Ana Gómez' }, costs: { lookups: 1, misses: 1 } },
    {
      what: 'another document',
      key: '@TESTOK',
      asked: { documentNumber: '1' },
      costs: { lookups: 1, misses: 1 },
    },
    { what: 'what can be no key', key: '@', asked: {}, costs: { lookups: 0, misses: 0 } },
  ])('that finds $what: $costs', async ({ key, asked, costs }) => {
    const own = await newShop(caudal, stack.api, 0);
    await leave(own, FULL);
    await lookUp(own.api, key, asked);
    expect(await left(own)).toEqual({ lookups: 10 - costs.lookups, misses: 10 - costs.misses });
  });

  it.each(['lost-answer', 'down', 'reset'] as const)(
    'is no miss when the rail does not answer: 503 rail_unavailable, for nothing was learnt (%s)',
    async (fault) => {
      const own = await newShop(caudal, stack.api, 0);
      await leave(own, FULL);
      const id = await simulator.addFault({ rail: 'BRE_B', operation: 'resolve', fault });
      expect(problemOf(await lookUp(own.api, '@TESTOK'))).toEqual(RAIL_UNAVAILABLE);
      expect(await simulator.struck(id)).toBe(1);
      expect(await left(own)).toEqual({ lookups: 9, misses: 10 });
      await simulator.clearFaults();
      expect((await lookUp(own.api, '@TESTOK')).status).toBe(200);
    },
  );

  function leftIs(shop: Shop, tokens: Tokens): Promise<true> {
    return until(`${JSON.stringify(tokens)} is left`, async () =>
      isDeepStrictEqual({ ...(await left(shop)) }, tokens) ? true : null,
    );
  }

  it('is paid back once by the payout that follows, when it is sent, with the lookup named or not', async () => {
    const own = await newShop(caudal, stack.api);
    await leave(own, FULL);
    const { lookupId } = await foundKey(own.api, '@TESTOK');
    await foundKey(own.api, '3157654321');
    expect(await left(own)).toEqual({ lookups: 8, misses: 10 });
    const breb = { keyString: '@TESTOK', lookupId };
    const payouts = await Promise.all(
      Array.from({ length: 10 }, () => createPayout(own.api, payoutRequest({ breb }))),
    );
    for (const { id } of payouts) await payoutReaches(own.api, id, 'CONFIRMED');
    expect(await left(own)).toEqual({ lookups: 9, misses: 10 });
    await createPayout(own.api, payoutRequest({ breb: { keyString: '3157654321' } }));
    await leftIs(own, FULL);
    // Nobody looked this one up, so there is nothing to pay back.
    const { id } = await createPayout(own.api, payoutRequest({ breb: { keyString: '79123456' } }));
    await payoutReaches(own.api, id, 'CONFIRMED');
    expect(await left(own)).toEqual(FULL);
  });

  it('is not paid back by a payout that was never sent, for want of money', async () => {
    const own = await newShop(caudal, stack.api, 0);
    await leave(own, FULL);
    const { lookupId } = await foundKey(own.api, '@TESTOK');
    const breb = { keyString: '@TESTOK', lookupId };
    await createPayout(own.api, payoutRequest({ breb }));
    const { id } = await createPayout(shop.api);
    await payoutReaches(shop.api, id, 'CONFIRMED');
    expect(await left(own)).toEqual({ lookups: 9, misses: 10 });
  });

  it('is never refused to who pays after each: five hundred in a row on tokens for a hundred', async () => {
    const own = await newShop(caudal, stack.api);
    // Those not yet sent are not paid back yet; of wrong guesses not one is allowed.
    await leave(own, { lookups: 100, misses: 1 });
    const statuses: number[] = [];
    for (let count = 0; count < 500; count += 1) {
      const { status, body } = await lookUp(own.api, '@TESTOK');
      statuses.push(status);
      if (status !== 200) break;
      const breb = { keyString: '@TESTOK', lookupId: body.lookupId };
      await createPayout(own.api, payoutRequest({ amountInCents: 100, breb }));
    }
    expect(statuses).toEqual(Array.from({ length: 500 }, () => 200));
    await leftIs(own, { lookups: 100, misses: 1 });
  }, 120_000);

  it('holds back no organization for another: their buckets are apart', async () => {
    const [greedy, modest] = [await newShop(caudal, stack.api, 0), await newShop(caudal, stack.api, 0)];
    await leave(greedy, { lookups: 0, misses: 0 });
    expect(problemOf(await lookUp(greedy.api, '@TESTOK'))).toEqual(LIMITED);
    expect((await lookUp(modest.api, '@TESTOK')).status).toBe(200);
  });

  it('is taken before the directory is asked: who has no token left learns nothing, not even of a key that is there', async () => {
    const own = await newShop(caudal, stack.api, 0);
    await leave(own, { lookups: 1000, misses: 0.9 });
    const asked = await resolves();
    for (const key of ['@TESTOK', '@TESTNOTFOUND', '@TESTSUSPENDED'])
      expect(problemOf(await lookUp(own.api, key))).toEqual(LIMITED);
    expect(await resolves()).toBe(asked);
  });
});

describe('who goes through phone numbers one by one', () => {
  const SCANNED = 10_000;
  const AT_ONCE = 64;

  it('is stopped after a hundred: 429 with Retry-After, counted, and let in again one by one', async () => {
    const scanner = await newShop(caudal, stack.api, 0);
    const [askedBefore, limitedBefore] = [await resolves(), await limitedTold()];
    const first = randomInt(3_020_000_000, 3_029_900_000);
    const answers: { status: number; retryAfter: string | null }[] = [];
    let next = 0;
    const started = performance.now();
    const scan = async (): Promise<void> => {
      while (next < SCANNED) {
        const key = String(first + next);
        next += 1;
        const { status, headers } = await lookUp(scanner.api, key);
        answers.push({ status, retryAfter: headers.get('retry-after') });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, scan));
    const seconds = (performance.now() - started) / 1000;
    const through = answers.filter(({ status }) => status === 404);
    const stopped = answers.filter(({ status }) => status === 429);
    expect(through.length + stopped.length).toBe(SCANNED);
    expect(through.length).toBeGreaterThanOrEqual(100);
    expect(through.length).toBeLessThanOrEqual(Math.min(130, 101 + Math.ceil(seconds / 6)));
    expect((await resolves()) - askedBefore).toBe(through.length);
    for (const { retryAfter } of stopped) expect(retryAfter).toMatch(/^[1-6]$/);
    expect((await limitedTold()) - limitedBefore).toBe(stopped.length);
    // Business time, as everywhere: after what it was told to wait, one more and no second.
    await stack.database.query('update caudal.lookup_buckets set misses = 0 where organization_id = $1', [
      scanner.id,
    ]);
    const told = Number((await lookUp(scanner.api, '3029999999')).headers.get('retry-after'));
    await stack.shiftTime(told * 1000);
    expect((await lookUp(scanner.api, '3029999999')).status).toBe(404);
    expect((await lookUp(scanner.api, '3029999999')).status).toBe(429);
  }, 120_000);
});

describe('a payout after a lookup', () => {
  async function orderOf(api: ApiClient, body: Record<string, unknown>, ends: string) {
    const { id } = await createPayout(api, body);
    const payout = await payoutReaches(api, id, ends);
    return { payout, order: await simulator.order(await endToEndIdOf(stack.database, id)) };
  }

  async function resolutionOf(lookupId: string): Promise<string | undefined> {
    const [row] = await stack.database.query<{ resolution_id: string }>(
      'select resolution_id from caudal.breb_lookups where id = $1',
      [lookupId],
    );
    return row?.resolution_id;
  }

  it('carries the newest resolution of its key without naming the lookup, and the named one when it does', async () => {
    const own = await newShop(caudal, stack.api);
    const older = await foundKey(own.api, '3157654321');
    const newer = await foundKey(own.api, '+573157654321');
    const unnamed = await orderOf(own.api, payoutRequest({ breb: { keyString: '3157654321' } }), 'CONFIRMED');
    expect(unnamed.order?.resolutionId).toBe(await resolutionOf(newer.lookupId));
    const breb = { keyString: '3157654321', lookupId: older.lookupId };
    const named = await orderOf(own.api, payoutRequest({ breb }), 'CONFIRMED');
    expect(named.order?.resolutionId).toBe(await resolutionOf(older.lookupId));
    expect(unnamed.order?.resolutionId).not.toBe(named.order?.resolutionId);
  });

  it('carries none when the key was looked up by another organization, or another key was', async () => {
    const [own, other] = [await newShop(caudal, stack.api), await newShop(caudal, stack.api)];
    await foundKey(other.api, '3157654321');
    await foundKey(own.api, '@TESTOK');
    const { order } = await orderOf(
      own.api,
      payoutRequest({ breb: { keyString: '3157654321' } }),
      'CONFIRMED',
    );
    expect(order).toMatchObject({ resolutionId: null, status: 'SETTLED' });
  });

  it.each([{ named: true }, { named: false }])(
    'is declined with RECEIVER_MISMATCH when the key changes hands in between (lookup named: $named)',
    async ({ named }) => {
      const own = await newShop(caudal, stack.api, 50_000);
      const key = `@MOVED${randomInt(1e9)}`;
      await simulator.list({ key, holder: JUAN });
      const { lookupId } = await foundKey(own.api, key);
      await simulator.list({ key, holder: EMPRESA });
      const breb = { keyString: key, ...(named ? { lookupId } : {}) };
      const { payout, order } = await orderOf(own.api, payoutRequest({ breb }), 'DECLINED');
      expect(payout.errorCode).toBe('RECEIVER_MISMATCH');
      expect(order).toMatchObject({ status: 'REJECTED', executionId: null });
      // Looked up anew it is the new holder who is meant.
      await foundKey(own.api, key);
      await orderOf(own.api, payoutRequest({ breb: { keyString: key } }), 'CONFIRMED');
    },
  );
});
