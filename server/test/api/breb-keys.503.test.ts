import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { problemOf } from '../harness/payin-answers.ts';
import { foundKey, lookUp, newShop, type Shop } from '../harness/payout-requests.ts';
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
afterEach(ready);
afterAll(async () => {
  proxy?.heal();
  await caudal?.close();
  await stack?.stop();
  await proxy?.close();
});

async function ready(): Promise<void> {
  proxy.heal();
  // The lookup too: the organization is known to the process again, and nothing but a lookup needs the database.
  await until('the process is ready again', async () => {
    const response = await fetch(`${stack.apis[0]?.opsUrl ?? ''}/readyz`);
    return response.status === 200 && (await lookUp(shop.api, '@TESTOK')).status === 200;
  });
}

async function resolves(): Promise<number> {
  return (await simulator.stats()).calls.BRE_B['resolve'] ?? 0;
}

async function tokens(): Promise<{ lookups: number; misses: number } | undefined> {
  const [row] = await stack.database.query<{ lookups: number; misses: number }>(
    'select lookups, misses from caudal.lookup_buckets where organization_id = $1',
    [shop.id],
  );
  return row;
}

/** Ten of each; an hour ahead nothing is refilled, so what is left can be counted. */
async function leaveTen(): Promise<void> {
  await stack.database.query(
    `update caudal.lookup_buckets set lookups = 10, misses = 10, filled_at = caudal.now() + interval '1 hour'
     where organization_id = $1`,
    [shop.id],
  );
}

describe('503 of GET /breb/keys/{keyString}: what cannot be paid for or written down is not answered', () => {
  it('while the database is away nobody is looked up: the rail is not asked', async () => {
    await foundKey(shop.api, '@TESTOK');
    const asked = await resolves();
    proxy.refuse();
    const answers = await Promise.all(Array.from({ length: 20 }, () => lookUp(shop.api, '@TESTOK')));
    for (const answer of answers)
      expect(problemOf(answer)).toEqual({ status: 503, code: 'service_unavailable' });
    expect(await resolves()).toBe(asked);
    await ready();
    expect(await resolves()).toBeGreaterThan(asked);
  });

  it.each([
    { fate: 'cut-before', taken: 0 },
    { fate: 'cut-after', taken: 1 },
  ] as const)(
    'while the commit that takes the tokens fails ($fate) the rail is not asked, and what was taken stays taken',
    async ({ fate, taken }) => {
      await leaveTen();
      const asked = await resolves();
      proxy.trouble('caudal_batch', fate);
      const answer = await lookUp(shop.api, '@TESTOK');
      expect(answer.status).toBe(503);
      expect(await resolves()).toBe(asked);
      expect(await tokens()).toEqual({ lookups: 10 - taken, misses: 10 - taken });
    },
  );

  it('while the commit that records the lookup fails nothing of the holder is told, and nothing given back', async () => {
    await leaveTen();
    const asked = await resolves();
    let commits = 0;
    proxy.trouble('caudal_batch', () => {
      commits += 1;
      return commits === 1 ? 'pass' : 'cut-before';
    });
    const answer = await lookUp(shop.api, '@TESTOK');
    expect(answer.status).toBe(503);
    expect(answer.text).not.toMatch(/JAN|SMI|0099|6987|PRUEBAS/);
    expect(await resolves()).toBe(asked + 1);
    expect(await tokens()).toEqual({ lookups: 9, misses: 9 });
  });
});
