import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { statement } from '../../src/db/tx.ts';
import type { Answer, ApiClient } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { problemOf } from '../harness/payin-answers.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { balanceOf, eventsOf, newShop, type Shop, withScopes } from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

vi.setConfig({ testTimeout: 60_000 });

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
): Promise<Answer<AnomalyBody>> {
  return api.request('POST', `/payins/${payinId}/anomalies/${anomalyId}/accept`, { headers });
}

const keyed = (key: string) => ({ 'idempotency-key': key });

async function anomalyOf(api: ApiClient, payinId: string): Promise<AnomalyBody> {
  const { body } = await api.get<{ anomalies: AnomalyBody[] }>(`/payins/${payinId}`);
  const [anomaly] = body.anomalies;
  if (!anomaly) throw new Error('no anomaly');
  return anomaly;
}

/** A payin of the shop that received COP 1. */
async function underpaid(stack: Stack, shop: Shop): Promise<{ payinId: string; anomaly: AnomalyBody }> {
  const driver = new PayinDriver({ ...stack, api: shop.api });
  const { payin, key } = await driver.breb();
  await driver.simulator.pay({ key, amount: '1.00' });
  await driver.reaches(payin.id, 'DECLINED');
  return { payinId: payin.id, anomaly: await anomalyOf(shop.api, payin.id) };
}

const creditsOf = (stack: Stack, anomalyId: string) =>
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

  const credited = (api: ApiClient, payinId: string) =>
    until('it is credited', async () => {
      const anomaly = await anomalyOf(api, payinId);
      return anomaly.status === 'RESOLVED' ? anomaly : null;
    });

  it('returns 201 with the anomaly ACCEPTED, and a worker credits it to the available balance', async () => {
    const { payinId, anomaly } = await underpaid(stack, shop);
    expect(anomaly).toMatchObject({ kind: 'UNDERPAID', status: 'OPEN', amountInCents: 100 });
    const { available } = await balanceOf(shop.api);
    const answer = await accept(shop.api, payinId, anomaly.id);
    expect([answer.status, answer.body]).toEqual([201, { ...anomaly, status: 'ACCEPTED' }]);
    expect(await credited(shop.api, payinId)).toMatchObject({ resolution: 'CREDIT' });
    expect(await balanceOf(shop.api)).toMatchObject({ available: available + 100 });
    expect(await creditsOf(stack, anomaly.id)).toEqual([
      { debit: 'suspense', credit: 'available', cents: 100 },
    ]);
    const { body } = await shop.api.get(`/payins/${payinId}`);
    expect(body).toMatchObject({ status: 'DECLINED', errorCode: 'UNDERPAID', settlementStatus: null });
    expect(await eventsOf(stack.database, payinId)).toEqual(['payin.declined']);
    expect(await stack.command('ledger', 'verify')).toContain('all sums to zero');
  });

  it('postpones an acceptance that cannot be booked, and credits the ones behind it', async () => {
    const [unbookable, next] = [await underpaid(stack, shop), await underpaid(stack, shop)];
    const cause = "caudal.ledger_causes where kind = 'anomaly' and id = $1";
    await stack.database.query(
      `insert into caudal.ledger_causes (kind, id, organization_id, transfer_id) values ('anomaly', $1, $2, gen_random_uuid())`,
      [unbookable.anomaly.id, shop.id],
    );
    await accept(shop.api, unbookable.payinId, unbookable.anomaly.id);
    await accept(shop.api, next.payinId, next.anomaly.id);
    await credited(shop.api, next.payinId);
    await until('its booking is postponed', async () => {
      const [row] = await stack.database.query<{ postponed: boolean }>(
        'select posting_due_at > caudal.now() as postponed from caudal.anomalies where id = $1',
        [unbookable.anomaly.id],
      );
      return row?.postponed;
    });
    await stack.database.query(`delete from ${cause}`, [unbookable.anomaly.id]);
    await stack.shiftTime(601_000);
    expect(await credited(shop.api, unbookable.payinId)).toMatchObject({ resolution: 'CREDIT' });
  });

  it('replays the first response for the same Idempotency-Key, also after it was credited', async () => {
    const { payinId, anomaly } = await underpaid(stack, shop);
    const key = keyed(randomUUID());
    const first = await accept(shop.api, payinId, anomaly.id, key);
    await credited(shop.api, payinId);
    const again = await accept(shop.api.at(stack.apis[1]?.url ?? ''), payinId, anomaly.id, key);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await creditsOf(stack, anomaly.id)).toHaveLength(1);
  });

  it('returns 422 idempotency_mismatch when the key was used for another anomaly', async () => {
    const [one, two] = await Promise.all([underpaid(stack, shop), underpaid(stack, shop)]);
    const key = keyed(randomUUID());
    await accept(shop.api, one.payinId, one.anomaly.id, key);
    expect(problemOf(await accept(shop.api, two.payinId, two.anomaly.id, key))).toEqual({
      status: 422,
      code: 'idempotency_mismatch',
    });
    expect(await anomalyOf(shop.api, two.payinId)).toMatchObject({ status: 'OPEN' });
  });

  it('returns 409 anomaly_resolved to a second acceptance, and does not remember the key of a refusal', async () => {
    const { payinId, anomaly } = await underpaid(stack, shop);
    await accept(shop.api, payinId, anomaly.id);
    const key = keyed(randomUUID());
    expect(problemOf(await accept(shop.api, payinId, anomaly.id, key))).toEqual(RESOLVED);
    const other = await underpaid(stack, shop);
    expect((await accept(shop.api, other.payinId, other.anomaly.id, key)).status).toBe(201);
  });

  it('returns the same 404 for an unknown anomaly and for one of another organization or payin', async () => {
    const { payinId, anomaly } = await underpaid(stack, shop);
    const other = await newShop(caudal, stack.api, 0);
    for (const answer of await Promise.all([
      accept(other.api, payinId, anomaly.id),
      accept(shop.api, payinId, randomUUID()),
      accept(shop.api, randomUUID(), anomaly.id),
      accept(shop.api, payinId, 'x'),
    ]))
      expect(problemOf(answer)).toEqual(NOT_FOUND);
    expect(await anomalyOf(shop.api, payinId)).toMatchObject({ status: 'OPEN' });
  });

  it('needs the scope payins:write', async () => {
    const { payinId, anomaly } = await underpaid(stack, shop);
    const reader = await withScopes(caudal, shop, 'payins:read', 'payouts:write');
    expect(problemOf(await accept(reader, payinId, anomaly.id))).toEqual({
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
    await driver.reaches(payin.id, 'CONFIRMED');
    await driver.simulator.endKey({ key, outcome: 'REJECTED', anyway: true });
    const anomaly = await until('the contradiction is noticed', () =>
      anomalyOf(shop.api, payin.id).catch(() => null),
    );
    expect(problemOf(await accept(shop.api, payin.id, anomaly.id))).toEqual({
      status: 409,
      code: 'anomaly_without_money',
    });
  });

  it('returns 409 anomaly_resolved while the money is being returned or after an operator credited it', async () => {
    for (const way of [['--return', '--key', '@TESTTIMEOUT', '--yes'], ['--credit']]) {
      const { payinId, anomaly } = await underpaid(stack, shop);
      await stack.command('anomalies', 'resolve', anomaly.id, '--by', 'Laura', ...way);
      expect(problemOf(await accept(shop.api, payinId, anomaly.id))).toEqual(RESOLVED);
      expect((await anomalyOf(shop.api, payinId)).status).toBe('RESOLVED');
    }
  });
});

describe('an acceptance that no worker has booked yet', () => {
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

  /** With a worker that is gone afterwards. */
  async function accepted(): Promise<{ payinId: string; anomaly: AnomalyBody }> {
    const worker = await startServer('worker', stack.settings);
    const found = await underpaid(stack, shop);
    await worker.stop();
    const answer = await accept(shop.api, found.payinId, found.anomaly.id);
    expect(answer.status).toBe(201);
    return found;
  }

  it('excludes every resolution of an operator', async () => {
    const { payinId, anomaly } = await accepted();
    for (const way of [['--return', '--key', '@TESTOK', '--yes'], ['--credit']])
      await expect(
        stack.command('anomalies', 'resolve', anomaly.id, '--by', 'Laura', ...way),
      ).rejects.toThrow(/its merchant accepted it/);
    expect(await anomalyOf(shop.api, payinId)).toMatchObject({ status: 'ACCEPTED', resolution: null });
    expect(await stack.command('ledger', 'verify')).toContain('all sums to zero');
  });

  it('is made by the merchants’ role alone, and a constraint keeps a return from it', async () => {
    const { anomaly } = await accepted();
    const change = (columns: string) =>
      statement(`test.${randomUUID()}`, `update caudal.anomalies set ${columns} where id = '${anomaly.id}'`);
    const asMerchant = (columns: string) =>
      caudal.deps.batch.write('accept anomaly', new Set([shop.id]), (tx) => tx.query(change(columns)));
    const asSystem = (columns: string) =>
      caudal.deps.system.transaction('resolve anomaly', (tx) => tx.query(change(columns)));
    const credit = `resolved_at = caudal.now(), resolution = 'credit', resolved_by = 'x'`;
    const giveBack = `resolved_at = caudal.now(), resolution = 'return', resolved_by = 'x', return_payout_id = id`;
    await expect(asMerchant(credit)).rejects.toThrow(/permission denied/);
    await expect(asSystem(`accepted_at = null, accepted_by = null`)).rejects.toThrow(/permission denied/);
    await expect(asSystem(giveBack)).rejects.toThrow(/anomaly_accept_excludes_resolve/);
    await expect(asSystem(credit)).rejects.toThrow(/anomaly_accept_excludes_resolve/);
  });

  it.each(['post acceptances: before commit', 'post acceptances: after commit'])(
    'is credited once when the worker is killed at "%s"',
    async (failpoint) => {
      const { payinId, anomaly } = await accepted();
      const before = (await balanceOf(shop.api)).available;
      // The earlier acceptances are booked in the same round.
      const waiting = await stack.database.query(
        'select id from caudal.anomalies where accepted_at is not null and resolved_at is null',
      );
      const killed = await startServer('worker', { ...stack.settings, CAUDAL_FAILPOINT: failpoint });
      expect(await killed.exited).toBeNull();
      const worker = await startServer('worker', stack.settings);
      await until('it is resolved', async () => (await anomalyOf(shop.api, payinId)).status === 'RESOLVED');
      await worker.stop();
      expect(await creditsOf(stack, anomaly.id)).toEqual([
        { debit: 'suspense', credit: 'available', cents: 100 },
      ]);
      expect((await balanceOf(shop.api)).available).toBe(before + 100 * waiting.length);
      expect(await stack.command('ledger', 'verify')).toContain('all sums to zero');
    },
  );

  it('and an operator’s credit exclude each other when they meet', async () => {
    const worker = await startServer('worker', stack.settings);
    const found = await Promise.all(Array.from({ length: 6 }, () => underpaid(stack, shop)));
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
    expect(await stack.command('ledger', 'verify')).toContain('all sums to zero');
  });
});
