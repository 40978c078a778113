import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiResponse } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { toProblem } from '../harness/payin-responses.ts';
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
  withScopes,
} from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const ALREADY_SENT = { status: 409, code: 'payout_already_sent' };
const NOT_FOUND = { status: 404, code: 'not_found' };

/** Everything visible in a response except what differs per request. */
function comparable({ status, headers, body }: ApiResponse<unknown>): unknown {
  const stableHeaders = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
  return { status, headers: stableHeaders, body: { ...(body as object), requestId: null, instance: null } };
}

async function readReleases(stack: Stack, payoutId: string): Promise<object[]> {
  return stack.database.query(
    `select debit_account as debit, credit_account as credit, amount_in_cents::int as cents
     from caudal.ledger_transfers where resource_id = $1 and cause_kind <> 'payout_hold'`,
    [payoutId],
  );
}

describe('POST /payouts/{id}/cancel without a running worker', () => {
  let stack: Stack;
  let caudal: InProcess;
  let shop: Shop;
  beforeAll(async () => {
    stack = await startStack({ apis: 2 });
    caudal = await composeInProcess(stack.settings);
    shop = await newShop(caudal, stack.api);
  });
  afterAll(async () => {
    await caudal?.close();
    await stack?.stop();
  });

  it('returns 200 with the CANCELED payout, and the same when repeated', async () => {
    const created = await createPayout(shop.api);
    const first = await cancelPayout(shop.api, created.id);
    expect(first.status).toBe(200);
    const { updatedAt } = first.body;
    expect(first.body).toEqual({ ...created, status: 'CANCELED', updatedAt, resultAt: updatedAt });
    expect(Object.keys(first.body)).toEqual(Object.keys(created));
    expect(updatedAt >= created.createdAt).toBe(true);
    const second = await cancelPayout(shop.api, created.id);
    expect([second.status, second.text]).toEqual([200, first.text]);
    expect(await readPayout(shop.api, created.id)).toEqual(first.body);
  });

  it('refunds immediately, with one event and one history row', async () => {
    const own = await newShop(caudal, stack.api, 12_500);
    const { id } = await createPayout(own.api);
    expect(await readBalance(own.api)).toEqual({ available: 0, held: 12_500 });
    await cancelPayout(own.api, id);
    await cancelPayout(own.api, id);
    expect(await readBalance(own.api)).toEqual({ available: 12_500, held: 0 });
    expect(await payoutEventNames(stack.database, id)).toEqual(['payout.canceled']);
    expect(await readReleases(stack, id)).toEqual([{ debit: 'held', credit: 'available', cents: 12_500 }]);
    const transitions = await stack.database.query(
      'select from_status, to_status from caudal.payout_history where payout_id = $1 order by from_status',
      [id],
    );
    expect(transitions).toEqual([
      { from_status: 'NONE', to_status: 'PROCESSING' },
      { from_status: 'PROCESSING', to_status: 'CANCELED' },
    ]);
  });

  it('makes the money available to the next payout', async () => {
    const own = await newShop(caudal, stack.api, 12_500);
    const first = await createPayout(own.api);
    const uncovered = await createPayout(own.api);
    await cancelPayout(own.api, first.id);
    const next = await createPayout(own.api);
    const statuses = [first, uncovered, next].map(({ id }) => readPayout(own.api, id));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([
      'CANCELED',
      'DECLINED',
      'PROCESSING',
    ]);
  });

  it('returns the same to twenty concurrent requests over two processes, and cancels once', async () => {
    const own = await newShop(caudal, stack.api, 50_000);
    const { id } = await createPayout(own.api);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        cancelPayout(own.api.at(stack.apis[index % 2]?.url ?? ''), id),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await payoutEventNames(stack.database, id)).toEqual(['payout.canceled']);
    expect(await readReleases(stack, id)).toHaveLength(1);
    expect(await readBalance(own.api)).toEqual({ available: 50_000, held: 0 });
  });

  it('does not affect a replay of the creation, which holds no money again', async () => {
    const own = await newShop(caudal, stack.api, 50_000);
    const [request, key] = [payoutRequest(), { 'idempotency-key': randomUUID() }];
    const first = await own.api.post<PayoutBody>('/payouts', request, key);
    await cancelPayout(own.api, first.body.id);
    const again = await own.api.post('/payouts', request, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(await readBalance(own.api)).toEqual({ available: 50_000, held: 0 });
    expect((await readPayout(own.api, first.body.id)).status).toBe('CANCELED');
  });

  it('returns 409 payout_ended for an uncovered payout', async () => {
    const { api } = await newShop(caudal, stack.api, 0);
    const { id } = await createPayout(api);
    expect(toProblem(await cancelPayout(api, id))).toEqual({ status: 409, code: 'payout_ended' });
    expect((await readPayout(api, id)).status).toBe('DECLINED');
    expect(await payoutEventNames(stack.database, id)).toEqual(['payout.declined']);
  });

  it('returns the same 404 for a payout of another organization and for an unknown ID', async () => {
    const { id } = await createPayout(shop.api);
    const other = await newShop(caudal, stack.api);
    const [foreign, unknownResponse] = await Promise.all([
      cancelPayout(other.api, id),
      cancelPayout(other.api, randomUUID()),
    ]);
    expect(toProblem(foreign)).toEqual(NOT_FOUND);
    expect(comparable(foreign)).toEqual(comparable(unknownResponse));
    expect((await readPayout(shop.api, id)).status).toBe('PROCESSING');
  });

  it('returns 404 for an invalid ID and accepts an upper-case ID', async () => {
    expect(toProblem(await cancelPayout(shop.api, 'x'))).toEqual(NOT_FOUND);
    const { id } = await createPayout(shop.api);
    expect((await cancelPayout(shop.api, id.toUpperCase())).status).toBe(200);
  });

  it('requires payouts:write', async () => {
    const { id } = await createPayout(shop.api);
    const reader = await withScopes(caudal, shop, 'payouts:read', 'payins:write');
    expect(toProblem(await cancelPayout(reader, id))).toEqual({ status: 403, code: 'insufficient_scope' });
    const writer = await withScopes(caudal, shop, 'payouts:write');
    expect((await cancelPayout(writer, id)).status).toBe(200);
  });

  it('keeps the ledger consistent', async () => {
    expect(await runOperatorCommand(stack.settings, 'ledger', 'verify')).toMatchObject({ code: 0 });
  });
});

describe('POST /payouts/{id}/cancel while two workers send', () => {
  let stack: Stack;
  let caudal: InProcess;
  beforeAll(async () => {
    stack = await startStack({ apis: 2, workers: 2 });
    caudal = await composeInProcess(stack.settings);
  });
  afterAll(async () => {
    await caudal?.close();
    await stack?.stop();
  });

  it('returns 409 payout_already_sent from the committed attempt on, also after the outcome', async () => {
    const shop = await newShop(caudal, stack.api);
    const { id } = await createPayout(shop.api, payoutRequest({ breb: { keyString: '@TESTTIMEOUT' } }));
    const { id: settled } = await createPayout(shop.api);
    await until('it was sent', async () => {
      const [row] = await stack.database.query<{ attempts: number }>(
        'select attempts from caudal.payouts where id = $1',
        [id],
      );
      return (row?.attempts ?? 0) >= 1;
    });
    expect(toProblem(await cancelPayout(shop.api, id))).toEqual(ALREADY_SENT);
    expect((await readPayout(shop.api, id)).status).toBe('PROCESSING');
    await waitForPayoutStatus(shop.api, settled, 'CONFIRMED');
    expect(toProblem(await cancelPayout(shop.api, settled))).toEqual(ALREADY_SENT);
    expect((await readPayout(shop.api, settled)).status).toBe('CONFIRMED');
  });
});
