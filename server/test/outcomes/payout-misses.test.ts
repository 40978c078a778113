import { afterAll, beforeAll, expect, it } from 'vitest';
import { changePayoutLimits } from '../../src/flows/payouts/change-payout-limits.system.ts';
import type { ApiResponse } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { newReference } from '../harness/payin-requests.ts';
import { toProblem } from '../harness/payin-responses.ts';
import {
  createPayout,
  newShop,
  type PayoutBody,
  payoutRequest,
  readPayout,
  resolveKey,
  type Shop,
  waitForPayoutStatus,
} from '../harness/payout-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const TOO_MANY_LOOKUPS = { status: 429, code: 'too_many_lookups' };

const ANOTHER_HOLDER = {
  person: { type: 'N', documentType: 'CC', documentNumber: '1000000098', names: 'ANA GOMEZ PRUEBA' },
} as const;

let stack: Stack;
let caudal: InProcess;
let simulator: SimulatorControl;
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  caudal = await composeInProcess(stack.settings);
  simulator = new SimulatorControl(stack.simulatorUrl);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

/** The bucket is not refilled within a day. */
async function setMisses(shop: Shop, misses: number): Promise<void> {
  await stack.database.query(
    `insert into caudal.lookup_buckets values ($1, 60000, $2, caudal.now() + interval '1 day')
     on conflict (organization_id) do update set misses = $2, filled_at = excluded.filled_at`,
    [shop.id, misses],
  );
}

async function readMisses(shop: Shop): Promise<number | undefined> {
  const [row] = await stack.database.query<{ misses: number }>(
    'select misses from caudal.lookup_buckets where organization_id = $1',
    [shop.id],
  );
  return row?.misses;
}

function oneCent(keyString: string, changes: object = {}): Record<string, unknown> {
  return payoutRequest({ amountInCents: 1, breb: { keyString, ...changes } });
}

it.each(['@TESTNOTFOUND', '@TESTSUSPENDED'])('a payout to %s costs a miss', async (keyString) => {
  const shop = await newShop(caudal, stack.api);
  const { id } = await createPayout(shop.api, oneCent(keyString));
  await waitForPayoutStatus(shop.api, id, 'DECLINED');
  expect(await readMisses(shop)).toBe(99);
});

it.each([
  { keyString: '@TESTOK', status: 'CONFIRMED' },
  { keyString: '@TESTDECLINED', status: 'DECLINED' },
])('a payout to $keyString costs no miss', async ({ keyString, status }) => {
  const shop = await newShop(caudal, stack.api);
  await setMisses(shop, 50);
  const { id } = await createPayout(shop.api, oneCent(keyString));
  await waitForPayoutStatus(shop.api, id, status);
  expect(await readMisses(shop)).toBe(50);
});

it.each([
  { what: 'whose key has another holder', errorCode: 'RECEIVER_MISMATCH', holder: ANOTHER_HOLDER },
  { what: 'whose key no longer exists', errorCode: 'KEY_NOT_FOUND', holder: null },
])('a held payout $what costs a miss, and at most five hundred are owed', async ({ errorCode, holder }) => {
  const shop = await newShop(caudal, stack.api);
  const limits = { newReceiverHoldSeconds: 1800 };
  await changePayoutLimits(caudal.deps, 'test', { organizationId: shop.id, apiKeyId: '' }, limits);
  const key = errorCode === 'KEY_NOT_FOUND' ? '3157654398' : '3157654399';
  await simulator.setDirectoryEntry({ key });
  const { lookupId } = await resolveKey(shop.api, key);
  await setMisses(shop, -499.5);
  const { id } = await createPayout(shop.api, oneCent(key, { lookupId }));
  await simulator.setDirectoryEntry({ key, holder });
  await stack.shiftTime(1_801_000);
  expect(await waitForPayoutStatus(shop.api, id, 'DECLINED')).toMatchObject({ errorCode });
  expect(await readMisses(shop)).toBe(-500);
});

it('without misses, only payouts to keys with a lookup are created', async () => {
  const shop = await newShop(caudal, stack.api);
  await resolveKey(shop.api, '@TESTOK');
  await setMisses(shop, 0);
  const reference = newReference();
  const refused = await shop.api.post<PayoutBody>('/payouts', { ...oneCent('3157654321'), reference });
  expect(toProblem(refused)).toEqual(TOO_MANY_LOOKUPS);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(6);
  const { body } = await shop.api.get<{ data: object[] }>('/payouts');
  expect(body.data).toEqual([]);
  // Neither the reference nor the receiver of the refused payout is taken.
  await createPayout(shop.api, { ...oneCent('@TESTOK'), reference });
});

/** The attack of the finding: the outcomes of one-cent payouts tell which of 240 phone numbers have a key. */
it('tells an enumeration by one-cent payouts about a hundred missing keys, then nothing', async () => {
  const shop = await newShop(caudal, stack.api);
  await setMisses(shop, 100);
  const numbers = Array.from({ length: 240 }, (_, index) => `3005550${String(index).padStart(3, '0')}`);
  const registered = numbers.filter((_, index) => index % 2 === 0);
  await Promise.all(registered.map((key) => simulator.setDirectoryEntry({ key })));
  const answers: string[] = [];
  for (let first = 0; first < numbers.length; first += 20) {
    const some = numbers.slice(first, first + 20);
    // Before the missing keys, because the outcomes of those may empty the bucket.
    const found = await Promise.all(
      some.filter((key) => registered.includes(key)).map((key) => pay(shop, key)),
    );
    const missing = await Promise.all(
      some.filter((key) => !registered.includes(key)).map((key) => pay(shop, key)),
    );
    answers.push(...(await Promise.all([...found, ...missing].map((answer) => readOutcome(shop, answer)))));
  }
  const counts = Map.groupBy(answers, (answer) => answer);
  expect(Object.fromEntries([...counts].map(([answer, { length }]) => [answer, length]))).toEqual({
    CONFIRMED: 100,
    KEY_NOT_FOUND: 100,
    too_many_lookups: 40,
  });
});

type Answer = ApiResponse<PayoutBody & { readonly code: string }>;

function pay(shop: Shop, key: string): Promise<Answer> {
  return shop.api.postWhenAvailable('/payouts', oneCent(key));
}

/** What the answer to a one-cent payout and its outcome tell about the key. */
async function readOutcome(shop: Shop, answer: Answer): Promise<string> {
  if (answer.status !== 201) return answer.body.code;
  return until(`the payout ${answer.body.id} has ended`, async () => {
    const { status, errorCode } = await readPayout(shop.api, answer.body.id);
    return status === 'PROCESSING' ? null : (errorCode ?? status);
  });
}
