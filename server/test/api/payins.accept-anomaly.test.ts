import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { statement } from '../../src/db/tx.ts';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { toProblem } from '../harness/payin-responses.ts';
import { newShop, payoutEventNames, readBalance, type Shop, withScopes } from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const SETTINGS = { CAUDAL_WORKER_POLL_MS: '20', CAUDAL_SETTLEMENT_DELAY_MINUTES: '600' };
const RESOLVED = { status: 409, code: 'anomaly_resolved' };
const NOT_FOUND = { status: 404, code: 'not_found' };

interface AnomalyBody {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly amountInCents: number | null;
  readonly resolvedAt: string | null;
  readonly resolution: string | null;
}

function accept(
  api: ApiClient,
  payinId: string,
  anomalyId: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiResponse<AnomalyBody>> {
  return api.request('POST', `/payins/${payinId}/anomalies/${anomalyId}/accept`, { headers });
}

const idempotencyHeader = (key: string) => ({ 'idempotency-key': key });

async function readAnomaly(api: ApiClient, payinId: string): Promise<AnomalyBody> {
  const { body } = await api.get<{ anomalies: AnomalyBody[] }>(`/payins/${payinId}`);
  const [anomaly] = body.anomalies;
  if (!anomaly) throw new Error('no anomaly');
  return anomaly;
}

/** A payin of the shop that received COP 1. */
async function createUnderpaid(stack: Stack, shop: Shop): Promise<{ payinId: string; anomaly: AnomalyBody }> {
  const driver = new PayinDriver({ ...stack, api: shop.api });
  const { payin, key } = await driver.breb();
  await driver.simulator.pay({ key, amount: '1.00' });
  await driver.waitForStatus(payin.id, 'DECLINED');
  return { payinId: payin.id, anomaly: await readAnomaly(shop.api, payin.id) };
}

const readCredits = (stack: Stack, anomalyId: string) =>
  stack.database.query(
    `select debit_account as debit, credit_account as credit, amount_in_cents::int as cents
     from caudal.ledger_transfers where cause_kind = 'anomaly' and cause_id = $1`,
    [anomalyId],
  );

describe('POST /payins/{id}/anomalies/{anomalyId}/accept', () => {
  let stack: Stack;
  let caudal: InProcess;
  let shop: Shop;
  beforeAll(async () => {
    stack = await startStack({ apis: 2, workers: 2, settings: SETTINGS });
    caudal = await composeInProcess(stack.settings);
    shop = await newShop(caudal, stack.api, 0);
  });
  afterAll(async () => {
    await caudal?.close();
    await stack?.stop();
  });

  const waitUntilCredited = (api: ApiClient, payinId: string) =>
    until('it is credited', async () => {
      const anomaly = await readAnomaly(api, payinId);
      return anomaly.status === 'RESOLVED' ? anomaly : null;
    });

  it('returns 201 with the anomaly ACCEPTED, and a worker credits it to the available balance', async () => {
    const { payinId, anomaly } = await createUnderpaid(stack, shop);
    expect(anomaly).toMatchObject({ kind: 'UNDERPAID', status: 'OPEN', amountInCents: 100 });
    const { available } = await readBalance(shop.api);
    const answer = await accept(shop.api, payinId, anomaly.id);
    expect([answer.status, answer.body]).toEqual([201, { ...anomaly, status: 'ACCEPTED' }]);
    expect(await waitUntilCredited(shop.api, payinId)).toMatchObject({ resolution: 'CREDIT' });
    expect(await readBalance(shop.api)).toMatchObject({ available: available + 100 });
    expect(await readCredits(stack, anomaly.id)).toEqual([
      { debit: 'suspense', credit: 'available', cents: 100 },
    ]);
    const { body } = await shop.api.get(`/payins/${payinId}`);
    expect(body).toMatchObject({ status: 'DECLINED', errorCode: 'UNDERPAID', settlementStatus: null });
    expect(await payoutEventNames(stack.database, payinId)).toEqual(['payin.declined']);
    expect(await stack.command('ledger', 'verify')).toContain('sum of all accounts is zero');
  });

  it('postpones an acceptance that cannot be posted, and credits the later ones', async () => {
    const [unpostable, next] = [await createUnderpaid(stack, shop), await createUnderpaid(stack, shop)];
    const cause = "caudal.ledger_causes where kind = 'anomaly' and id = $1";
    await stack.database.query(
      `insert into caudal.ledger_causes (kind, id, organization_id, transfer_id) values ('anomaly', $1, $2, gen_random_uuid())`,
      [unpostable.anomaly.id, shop.id],
    );
    await accept(shop.api, unpostable.payinId, unpostable.anomaly.id);
    await accept(shop.api, next.payinId, next.anomaly.id);
    await waitUntilCredited(shop.api, next.payinId);
    await until('its posting is postponed', async () => {
      const [row] = await stack.database.query<{ postponed: boolean }>(
        'select posting_due_at > caudal.now() as postponed from caudal.anomalies where id = $1',
        [unpostable.anomaly.id],
      );
      return row?.postponed;
    });
    await stack.database.query(`delete from ${cause}`, [unpostable.anomaly.id]);
    await stack.shiftTime(601_000);
    expect(await waitUntilCredited(shop.api, unpostable.payinId)).toMatchObject({ resolution: 'CREDIT' });
  });

  it('replays the first response for the same Idempotency-Key, also after it was credited', async () => {
    const { payinId, anomaly } = await createUnderpaid(stack, shop);
    const key = idempotencyHeader(randomUUID());
    const first = await accept(shop.api, payinId, anomaly.id, key);
    await waitUntilCredited(shop.api, payinId);
    const again = await accept(shop.api.at(stack.apis[1]?.url ?? ''), payinId, anomaly.id, key);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await readCredits(stack, anomaly.id)).toHaveLength(1);
  });

  it('returns 422 idempotency_mismatch when the key was used for another anomaly', async () => {
    const [one, two] = await Promise.all([createUnderpaid(stack, shop), createUnderpaid(stack, shop)]);
    const key = idempotencyHeader(randomUUID());
    await accept(shop.api, one.payinId, one.anomaly.id, key);
    expect(toProblem(await accept(shop.api, two.payinId, two.anomaly.id, key))).toEqual({
      status: 422,
      code: 'idempotency_mismatch',
    });
    expect(await readAnomaly(shop.api, two.payinId)).toMatchObject({ status: 'OPEN' });
  });

  it('returns 409 anomaly_resolved for a second acceptance, and does not store the key of a rejection', async () => {
    const { payinId, anomaly } = await createUnderpaid(stack, shop);
    await accept(shop.api, payinId, anomaly.id);
    const key = idempotencyHeader(randomUUID());
    expect(toProblem(await accept(shop.api, payinId, anomaly.id, key))).toEqual(RESOLVED);
    const other = await createUnderpaid(stack, shop);
    expect((await accept(shop.api, other.payinId, other.anomaly.id, key)).status).toBe(201);
  });

  it('returns the same 404 for an unknown anomaly and for one of another organization or payin', async () => {
    const { payinId, anomaly } = await createUnderpaid(stack, shop);
    const other = await newShop(caudal, stack.api, 0);
    for (const answer of await Promise.all([
      accept(other.api, payinId, anomaly.id),
      accept(shop.api, payinId, randomUUID()),
      accept(shop.api, randomUUID(), anomaly.id),
      accept(shop.api, payinId, 'x'),
    ]))
      expect(toProblem(answer)).toEqual(NOT_FOUND);
    expect(await readAnomaly(shop.api, payinId)).toMatchObject({ status: 'OPEN' });
  });

  it('requires the scope payins:write', async () => {
    const { payinId, anomaly } = await createUnderpaid(stack, shop);
    const reader = await withScopes(caudal, shop, 'payins:read', 'payouts:write');
    expect(toProblem(await accept(reader, payinId, anomaly.id))).toEqual({
      status: 403,
      code: 'insufficient_scope',
    });
    const writer = await withScopes(caudal, shop, 'payins:write');
    expect((await accept(writer, payinId, anomaly.id)).status).toBe(201);
  });

  it('returns 409 anomaly_without_money for an anomaly that holds none', async () => {
    const driver = new PayinDriver({ ...stack, api: shop.api });
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key });
    await driver.waitForStatus(payin.id, 'CONFIRMED');
    await driver.simulator.endKey({ key, outcome: 'REJECTED', anyway: true });
    const anomaly = await until('the contradiction is recorded', () =>
      readAnomaly(shop.api, payin.id).catch(() => null),
    );
    expect(toProblem(await accept(shop.api, payin.id, anomaly.id))).toEqual({
      status: 409,
      code: 'anomaly_without_money',
    });
  });

  it('returns 409 anomaly_resolved while the money is being returned or after an operator credited it', async () => {
    for (const options of [['--return', '--key', '@TESTTIMEOUT', '--yes'], ['--credit']]) {
      const { payinId, anomaly } = await createUnderpaid(stack, shop);
      await stack.command('anomalies', 'resolve', anomaly.id, '--by', 'Laura', ...options);
      expect(toProblem(await accept(shop.api, payinId, anomaly.id))).toEqual(RESOLVED);
      expect((await readAnomaly(shop.api, payinId)).status).toBe('RESOLVED');
    }
  });
});

describe('an acceptance that no worker has posted yet', () => {
  let stack: Stack;
  let caudal: InProcess;
  let shop: Shop;
  beforeAll(async () => {
    stack = await startStack({ settings: SETTINGS });
    caudal = await composeInProcess(stack.settings);
    shop = await newShop(caudal, stack.api, 0);
  });
  afterAll(async () => {
    await caudal?.close();
    await stack?.stop();
  });

  /** With a worker that is stopped afterwards. */
  async function createAccepted(): Promise<{ payinId: string; anomaly: AnomalyBody }> {
    const worker = await startServer('worker', stack.settings);
    const found = await createUnderpaid(stack, shop);
    await worker.stop();
    const answer = await accept(shop.api, found.payinId, found.anomaly.id);
    expect(answer.status).toBe(201);
    return found;
  }

  it('excludes every resolution of an operator', async () => {
    const { payinId, anomaly } = await createAccepted();
    for (const options of [['--return', '--key', '@TESTOK', '--yes'], ['--credit']])
      await expect(
        stack.command('anomalies', 'resolve', anomaly.id, '--by', 'Laura', ...options),
      ).rejects.toThrow(/the merchant accepted it/);
    expect(await readAnomaly(shop.api, payinId)).toMatchObject({ status: 'ACCEPTED', resolution: null });
    expect(await stack.command('ledger', 'verify')).toContain('sum of all accounts is zero');
  });

  it('can be made only by the merchant role, and a constraint excludes a return', async () => {
    const { anomaly } = await createAccepted();
    const change = (columns: string) =>
      statement(`test.${randomUUID()}`, `update caudal.anomalies set ${columns} where id = '${anomaly.id}'`);
    const asMerchant = (columns: string) =>
      caudal.deps.batch.write('accept anomaly', new Set([shop.id]), (tx) => tx.query(change(columns)));
    const asSystem = (columns: string) =>
      caudal.deps.system.transaction('resolve anomaly', (tx) => tx.query(change(columns)));
    const creditColumns = `resolved_at = caudal.now(), resolution = 'credit', resolved_by = 'x'`;
    const returnColumns = `resolved_at = caudal.now(), resolution = 'return', resolved_by = 'x', return_payout_id = id`;
    await expect(asMerchant(creditColumns)).rejects.toThrow(/permission denied/);
    await expect(asSystem(`accepted_at = null, accepted_by = null`)).rejects.toThrow(/permission denied/);
    await expect(asSystem(returnColumns)).rejects.toThrow(/anomaly_accept_excludes_resolve/);
    await expect(asSystem(creditColumns)).rejects.toThrow(/anomaly_accept_excludes_resolve/);
  });

  it.each(['post acceptances: before commit', 'post acceptances: after commit'])(
    'is credited once when the worker is killed at "%s"',
    async (failpoint) => {
      const { payinId, anomaly } = await createAccepted();
      const before = (await readBalance(shop.api)).available;
      // The earlier acceptances are posted in the same round.
      const waiting = await stack.database.query(
        'select id from caudal.anomalies where accepted_at is not null and resolved_at is null',
      );
      const killed = await startServer('worker', { ...stack.settings, CAUDAL_FAILPOINT: failpoint });
      expect(await killed.exited).toBeNull();
      const worker = await startServer('worker', stack.settings);
      await until('it is resolved', async () => (await readAnomaly(shop.api, payinId)).status === 'RESOLVED');
      await worker.stop();
      expect(await readCredits(stack, anomaly.id)).toEqual([
        { debit: 'suspense', credit: 'available', cents: 100 },
      ]);
      expect((await readBalance(shop.api)).available).toBe(before + 100 * waiting.length);
      expect(await stack.command('ledger', 'verify')).toContain('sum of all accounts is zero');
    },
  );

  it("and an operator's credit exclude each other when concurrent", async () => {
    const worker = await startServer('worker', stack.settings);
    const found = await Promise.all(Array.from({ length: 6 }, () => createUnderpaid(stack, shop)));
    await worker.stop();
    const outcomes = await Promise.all(
      found.map(async ({ payinId, anomaly }) => {
        const [answer, resolved] = await Promise.all([
          accept(shop.api, payinId, anomaly.id),
          stack.command('anomalies', 'resolve', anomaly.id, '--by', 'Laura', '--credit').then(
            () => true,
            () => false,
          ),
        ]);
        return [answer.status === 201, resolved];
      }),
    );
    for (const [byMerchant, byOperator] of outcomes) expect(byMerchant).not.toBe(byOperator);
    expect(await stack.command('ledger', 'verify')).toContain('sum of all accounts is zero');
  });
});
