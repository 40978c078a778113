import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changePayoutLimits } from '../../src/flows/payouts/change-payout-limits.system.ts';
import { uuidMs } from '../../src/kit/ids.ts';
import type { PayoutLimits } from '../../src/payouts/payout-limits.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import {
  cancelPayout,
  createPayout,
  newShop,
  type PayoutBody,
  payoutEventNames,
  payoutRequest,
  readBalance,
  readPayout,
  type Shop,
  waitForPayoutStatus,
} from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const BOGOTA_OFFSET_MS = 5 * HOUR_MS;
const EXCEEDED = 'ORGANIZATION_LIMIT_EXCEEDED';

let stack: Stack;
let caudal: InProcess;
let credentials: CredentialDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 1 });
  // To the morning in Bogotá: limits count by the day, which must not end during a test.
  await stack.shiftTime((await msToMidnight()) + 6 * HOUR_MS);
  await Promise.all(stack.apis.map(waitForMorning));
  caudal = await composeInProcess(stack.settings);
  credentials = await openCredentialDriver(stack);
});
afterAll(async () => {
  await credentials?.close();
  await caudal?.close();
  await stack?.stop();
});

async function businessTime(): Promise<number> {
  const [row] = await stack.database.query<{ now: Date }>('select caudal.now() as now');
  return row?.now.getTime() ?? Number.NaN;
}

/** From the business time to the next midnight in Bogotá. */
async function msToMidnight(): Promise<number> {
  return DAY_MS - (((await businessTime()) - BOGOTA_OFFSET_MS) % DAY_MS);
}

/** Waits until an API process knows the time: `ledger verify` finds the payouts of the day by the time in their IDs. */
async function waitForMorning({ url }: Stack['apis'][number]): Promise<void> {
  const day = (await businessTime()) - 7 * HOUR_MS;
  await until('IDs are of the new day', async () => {
    const { body } = await stack.api.at(url).post<{ id: string }>('/payins', brebPayin());
    return uuidMs(body.id) > day;
  });
}

async function setLimits(shop: Shop, limits: Partial<PayoutLimits>, apiKeyId = ''): Promise<void> {
  const scope = { organizationId: shop.id, apiKeyId };
  expect(await changePayoutLimits(caudal.deps, 'test', scope, limits)).not.toBeNull();
}

async function limitedShop(limits: Partial<PayoutLimits>): Promise<Shop> {
  const shop = await newShop(caudal, stack.api);
  await setLimits(shop, limits);
  return shop;
}

/** An API client of another API key of the same organization. */
async function anotherKey(shop: Shop) {
  const { keyId, apiKey } = await credentials.newKey(shop.id);
  return { keyId, api: shop.api.as(apiKey) };
}

function pay(api: Shop['api'], amountInCents: number, keyString = '@TESTTIMEOUT'): Promise<PayoutBody> {
  return createPayout(api, payoutRequest({ amountInCents, breb: { keyString } }));
}

/** Whether the limits refused the payout; `@TESTTIMEOUT` keeps admitted payouts open. */
async function isRefused(api: Shop['api'], { id }: PayoutBody): Promise<boolean> {
  return (await readPayout(api, id)).errorCode === EXCEEDED;
}

async function payAndCheck(api: Shop['api'], amountInCents: number, keyString?: string): Promise<boolean> {
  return isRefused(api, await pay(api, amountInCents, keyString));
}

async function usage(shop: Shop): Promise<{ payouts: number; cents: number } | undefined> {
  const [row] = await stack.database.query<{ payouts: number; cents: number }>(
    `select payouts, amount_in_cents::int as cents from caudal.payout_usage
     where organization_id = $1 and api_key_id = '' and day = (caudal.now() at time zone 'America/Bogota')::date`,
    [shop.id],
  );
  return row;
}

async function expectSoundLedger(): Promise<void> {
  expect(await runOperatorCommand(stack.settings, 'ledger', 'verify')).toMatchObject({ code: 0 });
}

describe('a payout limit', () => {
  it('declines the payout that exceeds the sum of the day with one event, and sends nothing', async () => {
    const shop = await limitedShop({ dayAmount: 10_000n });
    expect(await payAndCheck(shop.api, 10_000)).toBe(false);
    const refused = await pay(shop.api, 1);
    expect(refused).toMatchObject({ status: 'PROCESSING', errorCode: null });
    expect(await readPayout(shop.api, refused.id)).toMatchObject({
      status: 'DECLINED',
      errorCode: EXCEEDED,
      resultAt: refused.createdAt,
    });
    expect(await payoutEventNames(stack.database, refused.id)).toEqual(['payout.declined']);
    expect(await readBalance(shop.api)).toEqual({ available: 1_000_000_000 - 10_000, held: 10_000 });
    await expectSoundLedger();
  });

  it('declines the payout that exceeds the number of the day', async () => {
    const shop = await limitedShop({ dayCount: 2 });
    expect([
      await payAndCheck(shop.api, 1),
      await payAndCheck(shop.api, 1),
      await payAndCheck(shop.api, 1),
    ]).toEqual([false, false, true]);
  });

  it('limits sum and number per receiver and leaves other receivers alone', async () => {
    const shop = await limitedShop({ receiverDayAmount: 500n, receiverDayCount: 3 });
    expect(await payAndCheck(shop.api, 501)).toBe(true);
    expect(await payAndCheck(shop.api, 500)).toBe(false);
    expect(await payAndCheck(shop.api, 1)).toBe(true);
    const other = '@TESTLOSTANSWER';
    expect([
      await payAndCheck(shop.api, 1, other),
      await payAndCheck(shop.api, 1, other),
      await payAndCheck(shop.api, 1, other),
      await payAndCheck(shop.api, 1, other),
    ]).toEqual([false, false, false, true]);
  });

  it('of an API key applies in addition to the limit of the organization', async () => {
    const shop = await limitedShop({ dayCount: 3 });
    const limited = await anotherKey(shop);
    await setLimits(shop, { dayCount: 1, receiverDayAmount: 50n }, limited.keyId);
    expect(await payAndCheck(limited.api, 51)).toBe(true);
    expect(await payAndCheck(limited.api, 50)).toBe(false);
    expect(await payAndCheck(limited.api, 1, '@TESTOK')).toBe(true);
    expect([
      await payAndCheck(shop.api, 1),
      await payAndCheck(shop.api, 1),
      await payAndCheck(shop.api, 1),
    ]).toEqual([false, false, true]);
    await expectSoundLedger();
  });

  it('of zero allows nothing', async () => {
    const shop = await limitedShop({ dayCount: 0 });
    expect(await payAndCheck(shop.api, 1)).toBe(true);
  });

  it('admits exactly the limit of concurrent payouts over two API processes', async () => {
    const shop = await limitedShop({ dayAmount: 70_000n, receiverDayCount: 8 });
    const created = await Promise.all(
      Array.from({ length: 60 }, (_, index) => {
        const keyString = ['@TESTTIMEOUT', '@TESTLOSTANSWER'][index % 2] ?? '';
        return pay(shop.api.at(stack.apis[index % 2]?.url ?? ''), 7_000, keyString);
      }),
    );
    const refusals = await Promise.all(created.map((payout) => isRefused(shop.api, payout)));
    const admitted = created.filter((_, index) => !refusals[index]);
    expect(admitted).toHaveLength(10);
    expect(await usage(shop)).toEqual({ payouts: 10, cents: 70_000 });
    const perReceiver = Map.groupBy(admitted, ({ sourceData }) => sourceData.keyString);
    for (const payouts of perReceiver.values()) expect(payouts.length).toBeLessThanOrEqual(8);
    await expectSoundLedger();
  });

  it('stays exact while payouts are created and canceled and the limit changes', async () => {
    const shop = await limitedShop({ dayCount: 1000, newReceiverHoldSeconds: 3600 });
    const change = async () => {
      for (let dayCount = 900; dayCount < 910; dayCount += 1) await setLimits(shop, { dayCount });
    };
    const paying = Array.from({ length: 30 }, async (_, index) => {
      const api = shop.api.at(stack.apis[index % 2]?.url ?? '');
      const { id } = await pay(api, 10);
      if (index % 3 !== 0) expect((await cancelPayout(api, id)).status).toBe(200);
    });
    await Promise.all([change(), ...paying]);
    expect(await usage(shop)).toEqual({ payouts: 10, cents: 100 });
    await expectSoundLedger();
  });

  it('counts a replayed request once', async () => {
    const shop = await limitedShop({ dayCount: 2 });
    const headers = { 'idempotency-key': randomUUID() };
    const request = payoutRequest({ amountInCents: 5, breb: { keyString: '@TESTTIMEOUT' } });
    const first = await createPayout(shop.api, request, headers);
    expect((await createPayout(shop.api, request, headers)).id).toBe(first.id);
    expect(await usage(shop)).toEqual({ payouts: 1, cents: 5 });
  });

  it('is given back when the payout is declined', async () => {
    const shop = await limitedShop({ dayCount: 1, receiverDayCount: 1 });
    const { id } = await pay(shop.api, 100, '@TESTDECLINED');
    await waitForPayoutStatus(shop.api, id, 'DECLINED');
    expect(await usage(shop)).toEqual({ payouts: 0, cents: 0 });
    expect(await payAndCheck(shop.api, 100, '@TESTDECLINED')).toBe(false);
    await expectSoundLedger();
  });

  it('counts the payouts that exist when it is set, and may be below them', async () => {
    const shop = await newShop(caudal, stack.api);
    await pay(shop.api, 300);
    await pay(shop.api, 400);
    await setLimits(shop, { dayAmount: 500n });
    expect(await usage(shop)).toEqual({ payouts: 2, cents: 700 });
    expect(await payAndCheck(shop.api, 1)).toBe(true);
    await setLimits(shop, { dayAmount: 701n });
    expect(await payAndCheck(shop.api, 1)).toBe(false);
    await setLimits(shop, { dayAmount: null });
    expect(await usage(shop)).toBeUndefined();
    expect(await payAndCheck(shop.api, 1_000_000)).toBe(false);
  });
});

describe('org payout-limits', () => {
  it('sets, shows and audits limits with today’s usage', async () => {
    const shop = await newShop(caudal, stack.api);
    const { keyId } = shop.principal;
    const run = (...args: string[]) =>
      runOperatorCommand(stack.settings, 'org', 'payout-limits', shop.id, ...args, '--json');
    const changes = ['--per-day-amount', '1000.50', '--new-receiver-hold', '24h', '--by', 'ana'];
    expect(await run(...changes)).toMatchObject({ code: 0 });
    expect(await run('--key', keyId, '--receiver-day-count', '3', '--by', 'ana')).toMatchObject({ code: 0 });
    await pay(shop.api, 7);
    const shown = JSON.parse((await run()).stdout) as { limits: object[] };
    const none = { perDayAmountInCents: null, perDayCount: null, receiverDayAmountInCents: null };
    const today = { amountInCents: 7, count: 1 };
    expect(shown.limits).toEqual([
      {
        ...none,
        apiKeyId: null,
        perDayAmountInCents: 100_050,
        receiverDayCount: null,
        newReceiverHoldSeconds: 86_400,
        today,
      },
      { ...none, apiKeyId: keyId, receiverDayCount: 3, newReceiverHoldSeconds: null, today },
    ]);
    await run('--per-day-amount', 'none', '--by', 'ana');
    const actions = await stack.database.query<{ resource: string; details: Record<string, unknown> }>(
      "select resource, details from caudal.operator_actions where organization_id = $1 and action = 'org.payout-limits' order by at",
      [shop.id],
    );
    expect(actions.map(({ resource }) => resource)).toEqual([shop.id, keyId, shop.id]);
    expect(actions.at(-1)?.details).toMatchObject({ dayAmount: null, previousDayAmount: '100050' });
  });

  it('rejects the API key of another organization', async () => {
    const [shop, other] = [await newShop(caudal, stack.api), await newShop(caudal, stack.api)];
    const args = ['org', 'payout-limits', shop.id, '--key', other.principal.keyId];
    for (const changes of [[], ['--per-day-count', '1', '--by', 'ana']])
      expect(await runOperatorCommand(stack.settings, ...args, ...changes)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('no such organization or API key'),
      });
  });
});

// These tests move the business time of the whole stack.
describe('over time', () => {
  it('holds the first payout to a new receiver, which operators see, and sends it later', async () => {
    const shop = await limitedShop({ newReceiverHoldSeconds: 1800 });
    const held = await pay(shop.api, 100, '@TESTOK');
    // A payout of another shop, created later, is sent at once.
    const neighbor = await newShop(caudal, stack.api);
    await waitForPayoutStatus(neighbor.api, (await pay(neighbor.api, 1, '@TESTOK')).id, 'CONFIRMED');
    expect((await readPayout(shop.api, held.id)).status).toBe('PROCESSING');
    const shown = await runOperatorCommand(stack.settings, 'payouts', 'show', held.id);
    expect(shown.stdout).toContain('not sent: first payout to a new receiver, held until');
    await stack.shiftTime(1_801_000);
    await waitForPayoutStatus(shop.api, held.id, 'CONFIRMED');
    await waitForPayoutStatus(shop.api, (await pay(shop.api, 100, '@TESTOK')).id, 'CONFIRMED');
  });

  it('looks the receiver up again when the hold outlasts the lookup', async () => {
    const shop = await limitedShop({ newReceiverHoldSeconds: 1800 });
    const { body } = await shop.api.get<{ lookupId: string }>('/breb/keys/@TESTOK');
    const breb = { keyString: '@TESTOK', lookupId: body.lookupId };
    const { id } = await createPayout(shop.api, payoutRequest({ breb }));
    const resolution = async () =>
      (
        await stack.database.query<{ resolution_id: string }>(
          'select resolution_id from caudal.payouts where id = $1',
          [id],
        )
      )[0]?.resolution_id;
    const before = await resolution();
    await stack.shiftTime(1_801_000);
    await waitForPayoutStatus(shop.api, id, 'CONFIRMED');
    expect(await resolution()).not.toBe(before);
  });

  it('cancels a held payout and gives its limit back', async () => {
    const shop = await limitedShop({ newReceiverHoldSeconds: 1800, dayCount: 1 });
    const { id } = await pay(shop.api, 100, '@TESTOK');
    expect((await cancelPayout(shop.api, id)).status).toBe(200);
    expect(await usage(shop)).toEqual({ payouts: 0, cents: 0 });
    expect(await readBalance(shop.api)).toEqual({ available: 1_000_000_000, held: 0 });
    expect(await payAndCheck(shop.api, 100)).toBe(false);
  });

  it('starts to count anew at midnight in Bogotá, and gives back to the day of the payout', async () => {
    const shop = await limitedShop({ dayCount: 2 });
    await stack.shiftTime((await msToMidnight()) - 600_000);
    // Held, so that it can be canceled after midnight.
    await setLimits(shop, { newReceiverHoldSeconds: 3600 });
    const canceled = await pay(shop.api, 1);
    expect([await payAndCheck(shop.api, 1), await payAndCheck(shop.api, 1)]).toEqual([false, true]);
    await stack.shiftTime(600_000);
    expect(await payAndCheck(shop.api, 1)).toBe(false);
    expect((await cancelPayout(shop.api, canceled.id)).status).toBe(200);
    expect(await usage(shop)).toEqual({ payouts: 1, cents: 1 });
    expect([await payAndCheck(shop.api, 1), await payAndCheck(shop.api, 1)]).toEqual([false, true]);
  });
});
