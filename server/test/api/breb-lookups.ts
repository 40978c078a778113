import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import type { InProcess } from '../harness/in-process.ts';
import { createPayout, lookUp, newShop, payoutRequest, type Shop } from '../harness/payout-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import type { Stack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const CONCURRENCY = 64;
/** No such number is in the directory. */
const FIRST_SCANNED_KEY = 3_020_000_000;
const SECONDS_PER_MISS = 6;

interface Tokens {
  readonly lookups: number;
  readonly misses: number;
}

/** Sets the tokens; filled_at is in the future, so that no refill changes the count. */
export async function setTokens(stack: Stack, shop: Shop, { lookups, misses }: Tokens): Promise<void> {
  await stack.database.query(
    `insert into caudal.lookup_buckets values ($1, $2, $3, caudal.now() + interval '1 hour')
     on conflict (organization_id) do update set lookups = $2, misses = $3, filled_at = caudal.now() + interval '1 hour'`,
    [shop.id, lookups, misses],
  );
}

export async function readTokens(stack: Stack, shop: Shop): Promise<Tokens | undefined> {
  const [row] = await stack.database.query<Tokens>(
    'select lookups, misses from caudal.lookup_buckets where organization_id = $1',
    [shop.id],
  );
  return row;
}

export function waitForTokens(stack: Stack, shop: Shop, tokens: Tokens): Promise<true> {
  return until(`${JSON.stringify(tokens)} tokens are left`, async () =>
    isDeepStrictEqual({ ...(await readTokens(stack, shop)) }, tokens) ? true : null,
  );
}

export async function countResolveCalls(stack: Stack): Promise<number> {
  return (await new SimulatorControl(stack.simulatorUrl).stats()).calls.BRE_B['resolve'] ?? 0;
}

async function countLimited(stack: Stack): Promise<number> {
  const text = await (await fetch(`${stack.apis[0]?.opsUrl ?? ''}/metrics`)).text();
  return Number(/^caudal_breb_lookups_total\{result="limited"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/**
 * Looks up a key and pays it, again and again, and requires that no lookup is limited.
 * @param waitsForRefunds whether each lookup waits until a token is left: how fast a worker sends, and so refunds, depends on
 *   the machine
 */
export async function expectNoLimitWhenPaying(
  stack: Stack,
  caudal: InProcess,
  options: { readonly times: number; readonly lookups: number; readonly waitsForRefunds: boolean },
): Promise<void> {
  const { times, lookups, waitsForRefunds } = options;
  const own = await newShop(caudal, stack.api);
  // Tokens of payouts that are not sent yet are not refunded yet; no miss is allowed.
  await setTokens(stack, own, { lookups, misses: 1 });
  const statuses: number[] = [];
  for (let count = 0; count < times; count += 1) {
    if (waitsForRefunds)
      await until('a token is left', async () => ((await readTokens(stack, own))?.lookups ?? 0) >= 1);
    const { status, body } = await lookUp(own.api, '@TESTOK');
    statuses.push(status);
    if (status !== 200) break;
    const breb = { keyString: '@TESTOK', lookupId: body.lookupId };
    await createPayout(own.api, payoutRequest({ amountInCents: 100, breb }));
  }
  expect(statuses).toEqual(Array.from({ length: times }, () => 200));
  await waitForTokens(stack, own, { lookups, misses: 1 });
}

/** Scans phone numbers, and requires that it is stopped after a hundred and then allowed one at a time. */
export async function expectScanStopped(stack: Stack, caudal: InProcess, count: number): Promise<void> {
  const scanner = await newShop(caudal, stack.api, 0);
  const [callsBefore, limitedBefore] = [await countResolveCalls(stack), await countLimited(stack)];
  const answers: { status: number; retryAfter: string | null }[] = [];
  const keys = Array.from({ length: count }, (_, index) => String(FIRST_SCANNED_KEY + index));
  const lookUpNext = async (): Promise<void> => {
    const key = keys.shift() ?? '';
    const { status, headers } = await lookUp(scanner.api, key);
    answers.push({ status, retryAfter: headers.get('retry-after') });
  };
  // The first lookup fills the buckets. From then on they are not refilled, however long the scan takes.
  await lookUpNext();
  expect(await readTokens(stack, scanner)).toEqual({ lookups: 59_999, misses: 99 });
  await stack.database.query(
    "update caudal.lookup_buckets set filled_at = filled_at + interval '1 hour' where organization_id = $1",
    [scanner.id],
  );
  const scan = async (): Promise<void> => {
    while (keys.length > 0) await lookUpNext();
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, scan));
  const allowed = answers.filter(({ status }) => status === 404);
  const limited = answers.filter(({ status }) => status === 429);
  expect(allowed.length + limited.length).toBe(count);
  expect(allowed.length).toBe(100);
  expect((await countResolveCalls(stack)) - callsBefore).toBe(allowed.length);
  for (const { retryAfter } of limited) expect(retryAfter).toMatch(/^[1-6]$/);
  expect((await countLimited(stack)) - limitedBefore).toBe(limited.length);
  await allowOneMore(stack, scanner);
}

/** In business time: after the Retry-After exactly one more is allowed. */
async function allowOneMore(stack: Stack, scanner: Shop): Promise<void> {
  const key = String(FIRST_SCANNED_KEY - 1);
  const retryAfterSeconds = Number((await lookUp(scanner.api, key)).headers.get('retry-after'));
  const [empty] = await stack.database.query<{ filledAt: string }>(
    'update caudal.lookup_buckets set filled_at = caudal.now() where organization_id = $1 returning filled_at::text as "filledAt"',
    [scanner.id],
  );
  await stack.shiftTime(retryAfterSeconds * 1000);
  expect((await lookUp(scanner.api, key)).status).toBe(404);
  const [left] = await stack.database.query<{ misses: number; seconds: number }>(
    `select misses, extract(epoch from filled_at - $2::timestamptz)::float8 as seconds
     from caudal.lookup_buckets where organization_id = $1`,
    [scanner.id, empty?.filledAt],
  );
  // Without what was refilled in the real time that passed beside the shift.
  const realSeconds = (left?.seconds ?? Number.NaN) - retryAfterSeconds;
  const misses = (left?.misses ?? Number.NaN) - realSeconds / SECONDS_PER_MISS;
  expect(misses).toBeCloseTo(0, 6);
  await setTokens(stack, scanner, { lookups: 100, misses });
  expect((await lookUp(scanner.api, key)).status).toBe(429);
}
