import { randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
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
import { SimulatorControl } from '../harness/simulator-control.ts';
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
  const RACES = 1000;
  const CONCURRENCY = 50;
  const FUNDS = RACES * 100;

  let stack: Stack;
  let caudal: InProcess;
  let simulator: SimulatorControl;
  beforeAll(async () => {
    stack = await startStack({ apis: 2, workers: 2 });
    caudal = await composeInProcess(stack.settings);
    simulator = new SimulatorControl(stack.simulatorUrl);
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
      return row?.attempts === 1;
    });
    expect(toProblem(await cancelPayout(shop.api, id))).toEqual(ALREADY_SENT);
    expect((await readPayout(shop.api, id)).status).toBe('PROCESSING');
    await waitForPayoutStatus(shop.api, settled, 'CONFIRMED');
    expect(toProblem(await cancelPayout(shop.api, settled))).toEqual(ALREADY_SENT);
    expect((await readPayout(shop.api, settled)).status).toBe('CONFIRMED');
  });

  /** End-to-end IDs of all orders that reached the rail, from its journal. */
  function readJournalOrders(): string[] {
    const lines = readFileSync(join(stack.simulatorData, 'journal.jsonl'), 'utf8').trimEnd().split('\n');
    return lines
      .map((line) => JSON.parse(line) as { kind: string; orders?: readonly (readonly string[])[] })
      .filter(({ kind }) => kind === 'breb.orders')
      .flatMap(({ orders = [] }) => orders.map(([endToEndId = '']) => endToEndId));
  }

  /** Stops and continues the workers at random moments, so that cancellations win races on a busy machine, too. */
  async function pauseWorkersWhile(isRacing: () => boolean): Promise<void> {
    while (isRacing()) {
      for (const worker of stack.workers) worker.kill('SIGSTOP');
      await sleep(randomInt(400));
      for (const worker of stack.workers) worker.kill('SIGCONT');
      await sleep(randomInt(400));
    }
  }

  it('either cancels or is too late in a thousand races, and a canceled payout is never sent', async () => {
    const shop = await newShop(caudal, stack.api, FUNDS);
    const outcomes = new Map<string, string>();
    let started = 0;
    const race = async (): Promise<void> => {
      while (started < RACES) {
        started += 1;
        const [creating, canceling] = [randomInt(2), randomInt(2)].map((index) =>
          shop.api.at(stack.apis[index]?.url ?? ''),
        );
        const { id } = await createPayout(creating ?? shop.api, payoutRequest({ amountInCents: 100 }));
        // A random delay that decides the race, not a wait for a condition.
        await sleep(randomInt(400));
        const { status, body } = await cancelPayout(canceling ?? shop.api, id);
        outcomes.set(id, status === 200 ? body.status : (body as unknown as { code: string }).code);
      }
    };
    let isRacing = true;
    const races = Promise.all(Array.from({ length: CONCURRENCY }, race)).finally(() => (isRacing = false));
    await Promise.all([races, pauseWorkersWhile(() => isRacing)]);
    const rows = await until(
      'all have ended',
      async () => {
        const all = await stack.database.query<{
          id: string;
          status: string;
          end_to_end_id: string;
          events: string[];
        }>(
          `select p.id, p.status, p.end_to_end_id,
             array(select e.event::text from caudal.events e where e.resource_id = p.id) as events
           from caudal.payouts p where p.organization_id = $1`,
          [shop.id],
        );
        return all.every(({ status }) => status !== 'PROCESSING') ? all : null;
      },
      30_000,
    );
    expect(rows).toHaveLength(RACES);
    const sent = Map.groupBy(readJournalOrders(), (id) => id);
    const executed = Map.groupBy(await simulator.executions(), ({ endToEndId }) => endToEndId);
    const seen = rows.map(({ id, status, end_to_end_id, events }) => ({
      answer: outcomes.get(id),
      status,
      events: events.join(),
      orders: sent.get(end_to_end_id)?.length ?? 0,
      executions: executed.get(end_to_end_id)?.length ?? 0,
    }));
    const kinds = Map.groupBy(seen, (each) => JSON.stringify(each));
    expect([...kinds.keys()].map((kind) => JSON.parse(kind) as object)).toEqual(
      expect.arrayContaining([
        { answer: 'CANCELED', status: 'CANCELED', events: 'payout.canceled', orders: 0, executions: 0 },
        {
          answer: 'payout_already_sent',
          status: 'CONFIRMED',
          events: 'payout.confirmed',
          orders: 1,
          executions: 1,
        },
      ]),
    );
    expect(kinds.size).toBe(2);
    const confirmed = rows.filter(({ status }) => status === 'CONFIRMED').length;
    expect(await readBalance(shop.api)).toEqual({ available: FUNDS - confirmed * 100, held: 0 });
    expect(await runOperatorCommand(stack.settings, 'ledger', 'verify')).toMatchObject({ code: 0 });
  }, 60_000);
});
