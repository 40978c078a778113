import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { lookUp, newShop, resolveKey, type Shop } from '../harness/payout-requests.ts';
import { PostgresProxy } from '../harness/postgres-proxy.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let proxy: PostgresProxy;
let stack: Stack;
let caudal: InProcess;
let simulator: SimulatorControl;
let shop: Shop;
beforeAll(async () => {
  proxy = await PostgresProxy.start(inject('postgres').adminUrl);
  stack = await startStack({ databaseUrl: (direct) => proxy.through(direct) });
  caudal = await composeInProcess({ ...stack.settings, DATABASE_URL: stack.database.ownerUrl });
  simulator = new SimulatorControl(stack.simulatorUrl);
  shop = await newShop(caudal, stack.api, 0);
});
afterEach(waitUntilReady);
afterAll(async () => {
  proxy?.heal();
  await caudal?.close();
  await stack?.stop();
  await proxy?.close();
});

async function waitUntilReady(): Promise<void> {
  proxy.heal();
  // Includes a lookup: the process has cached the organization again, and only lookups need the database.
  await until('the process is ready again', async () => {
    const response = await fetch(`${stack.apis[0]?.opsUrl ?? ''}/readyz`);
    return response.status === 200 && (await lookUp(shop.api.strict, '@TESTOK')).status === 200;
  });
}

async function countResolveCalls(): Promise<number> {
  return (await simulator.stats()).calls.BRE_B['resolve'] ?? 0;
}

async function readTokens(): Promise<{ lookups: number; misses: number } | undefined> {
  const [row] = await stack.database.query<{ lookups: number; misses: number }>(
    'select lookups, misses from caudal.lookup_buckets where organization_id = $1',
    [shop.id],
  );
  return row;
}

/** Leaves ten tokens of each kind; filled_at is in the future, so that no refill changes the count. */
async function setTenTokens(): Promise<void> {
  await stack.database.query(
    `update caudal.lookup_buckets set lookups = 10, misses = 10, filled_at = caudal.now() + interval '1 hour'
     where organization_id = $1`,
    [shop.id],
  );
}

describe('503 of GET /breb/keys/{keyString}', () => {
  it('is returned without calling the rail while the database is down', async () => {
    await resolveKey(shop.api, '@TESTOK');
    const callsBefore = await countResolveCalls();
    proxy.rejectConnections();
    const answers = await Promise.all(Array.from({ length: 20 }, () => lookUp(shop.api.strict, '@TESTOK')));
    for (const answer of answers)
      expect(toProblem(answer)).toEqual({ status: 503, code: 'service_unavailable' });
    expect(await countResolveCalls()).toBe(callsBefore);
    await waitUntilReady();
    expect(await countResolveCalls()).toBeGreaterThan(callsBefore);
  });

  it.each([
    { fate: 'cut-before', taken: 0 },
    { fate: 'cut-after', taken: 1 },
  ] as const)(
    'is returned without calling the rail when the commit that takes the tokens fails ($fate); taken tokens stay taken',
    async ({ fate, taken }) => {
      await setTenTokens();
      const callsBefore = await countResolveCalls();
      proxy.injectCommitFault('caudal_batch', fate);
      const answer = await lookUp(shop.api.strict, '@TESTOK');
      expect(answer.status).toBe(503);
      expect(await countResolveCalls()).toBe(callsBefore);
      expect(await readTokens()).toEqual({ lookups: 10 - taken, misses: 10 - taken });
    },
  );

  it('is returned without holder data and without a refund when the commit that records the lookup fails', async () => {
    await setTenTokens();
    const callsBefore = await countResolveCalls();
    let commits = 0;
    proxy.injectCommitFault('caudal_batch', () => {
      commits += 1;
      return commits === 1 ? 'pass' : 'cut-before';
    });
    const answer = await lookUp(shop.api.strict, '@TESTOK');
    expect(answer.status).toBe(503);
    expect(answer.text).not.toMatch(/JAN|SMI|0099|6987|PRUEBAS/);
    expect(await countResolveCalls()).toBe(callsBefore + 1);
    expect(await readTokens()).toEqual({ lookups: 9, misses: 9 });
  });
});
