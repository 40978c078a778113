import { randomInt, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { problemOf } from '../harness/payin-answers.ts';
import {
  balanceOf,
  cancelPayout,
  createPayout,
  eventsOf,
  newShop,
  type PayoutBody,
  payoutReaches,
  payoutRequest,
  readPayout,
  type Shop,
  withScopes,
} from '../harness/payout-requests.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const ALREADY_SENT = { status: 409, code: 'payout_already_sent' };
const NOT_FOUND = { status: 404, code: 'not_found' };

/** Everything a client can see of an answer but what differs from one request to the next. */
function visible({ status, headers, body }: Answer<unknown>): unknown {
  const kept = [...headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
  return { status, headers: kept, body: { ...(body as object), requestId: null, instance: null } };
}

async function releasesOf(stack: Stack, payoutId: string): Promise<object[]> {
  return stack.database.query(
    `select debit_account as debit, credit_account as credit, amount_in_cents::int as cents
     from caudal.ledger_transfers where resource_id = $1 and cause_kind <> 'payout_hold'`,
    [payoutId],
  );
}

describe('POST /payouts/{id}/cancel, while no worker sends anything', () => {
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

  it('answers 200 with the payout, CANCELED, and the same again when it is repeated', async () => {
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

  it('gives the money back at once, with one event and one row of history', async () => {
    const own = await newShop(caudal, stack.api, 12_500);
    const { id } = await createPayout(own.api);
    expect(await balanceOf(own.api)).toEqual({ available: 0, held: 12_500 });
    await cancelPayout(own.api, id);
    await cancelPayout(own.api, id);
    expect(await balanceOf(own.api)).toEqual({ available: 12_500, held: 0 });
    expect(await eventsOf(stack.database, id)).toEqual(['payout.canceled']);
    expect(await releasesOf(stack, id)).toEqual([{ debit: 'held', credit: 'available', cents: 12_500 }]);
    const moves = await stack.database.query(
      'select from_status, to_status from caudal.payout_history where payout_id = $1 order by from_status',
      [id],
    );
    expect(moves).toEqual([
      { from_status: 'NONE', to_status: 'PROCESSING' },
      { from_status: 'PROCESSING', to_status: 'CANCELED' },
    ]);
  });

  it('frees the money for the next payout, which it did not cover before', async () => {
    const own = await newShop(caudal, stack.api, 12_500);
    const first = await createPayout(own.api);
    const refused = await createPayout(own.api);
    await cancelPayout(own.api, first.id);
    const next = await createPayout(own.api);
    const statuses = [first, refused, next].map(({ id }) => readPayout(own.api, id));
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([
      'CANCELED',
      'DECLINED',
      'PROCESSING',
    ]);
  });

  it('answers twenty at once over two processes alike, and cancels once', async () => {
    const own = await newShop(caudal, stack.api, 50_000);
    const { id } = await createPayout(own.api);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        cancelPayout(own.api.at(stack.apis[index % 2]?.url ?? ''), id),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await eventsOf(stack.database, id)).toEqual(['payout.canceled']);
    expect(await releasesOf(stack, id)).toHaveLength(1);
    expect(await balanceOf(own.api)).toEqual({ available: 50_000, held: 0 });
  });

  it('leaves the creation to be repeated: it is answered as created, and nothing is set aside anew', async () => {
    const own = await newShop(caudal, stack.api, 50_000);
    const [request, key] = [payoutRequest(), { 'idempotency-key': randomUUID() }];
    const first = await own.api.post<PayoutBody>('/payouts', request, key);
    await cancelPayout(own.api, first.body.id);
    const again = await own.api.post('/payouts', request, key);
    expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(await balanceOf(own.api)).toEqual({ available: 50_000, held: 0 });
    expect((await readPayout(own.api, first.body.id)).status).toBe('CANCELED');
  });

  it('is 409 payout_ended when the balance did not cover it: there is nothing left to cancel', async () => {
    const { api } = await newShop(caudal, stack.api, 0);
    const { id } = await createPayout(api);
    expect(problemOf(await cancelPayout(api, id))).toEqual({ status: 409, code: 'payout_ended' });
    expect((await readPayout(api, id)).status).toBe('DECLINED');
    expect(await eventsOf(stack.database, id)).toEqual(['payout.declined']);
  });

  it("is 404 for another organization's payout, equal to what an unknown id gets, and leaves it alone", async () => {
    const { id } = await createPayout(shop.api);
    const other = await newShop(caudal, stack.api);
    const [anothers, nobodys] = await Promise.all([
      cancelPayout(other.api, id),
      cancelPayout(other.api, randomUUID()),
    ]);
    expect(problemOf(anothers)).toEqual(NOT_FOUND);
    expect(visible(anothers)).toEqual(visible(nobodys));
    expect((await readPayout(shop.api, id)).status).toBe('PROCESSING');
  });

  it('is 404 for what is no id at all, and takes an id in capitals', async () => {
    expect(problemOf(await cancelPayout(shop.api, 'x'))).toEqual(NOT_FOUND);
    const { id } = await createPayout(shop.api);
    expect((await cancelPayout(shop.api, id.toUpperCase())).status).toBe(200);
  });

  it('needs payouts:write', async () => {
    const { id } = await createPayout(shop.api);
    const reader = await withScopes(caudal, shop, 'payouts:read', 'payins:write');
    expect(problemOf(await cancelPayout(reader, id))).toEqual({ status: 403, code: 'insufficient_scope' });
    const writer = await withScopes(caudal, shop, 'payouts:write');
    expect((await cancelPayout(writer, id)).status).toBe(200);
  });

  it('has left the books whole', async () => {
    expect(await runOperatorCommand(stack.settings, 'ledger', 'verify')).toMatchObject({ code: 0 });
  });
});

describe('POST /payouts/{id}/cancel, while two workers send', () => {
  const RACES = 1000;
  const AT_ONCE = 50;
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

  it('is 409 payout_already_sent from the committed attempt on, also after the end', async () => {
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
    expect(problemOf(await cancelPayout(shop.api, id))).toEqual(ALREADY_SENT);
    expect((await readPayout(shop.api, id)).status).toBe('PROCESSING');
    await payoutReaches(shop.api, settled, 'CONFIRMED');
    expect(problemOf(await cancelPayout(shop.api, settled))).toEqual(ALREADY_SENT);
    expect((await readPayout(shop.api, settled)).status).toBe('CONFIRMED');
  });

  /** Ids of the orders that ever reached the network, in whatever shape, by its own journal. */
  function ordersInJournal(): string[] {
    const lines = readFileSync(join(stack.simulatorData, 'journal.jsonl'), 'utf8').trimEnd().split('\n');
    return lines
      .map((line) => JSON.parse(line) as { kind: string; orders?: readonly (readonly string[])[] })
      .filter(({ kind }) => kind === 'breb.orders')
      .flatMap(({ orders = [] }) => orders.map(([endToEndId = '']) => endToEndId));
  }

  it('either cancels or comes too late, a thousand times: never is a canceled payout sent', async () => {
    const shop = await newShop(caudal, stack.api, FUNDS);
    const outcomes = new Map<string, string>();
    let begun = 0;
    const race = async (): Promise<void> => {
      while (begun < RACES) {
        begun += 1;
        const [creating, canceling] = [randomInt(2), randomInt(2)].map((index) =>
          shop.api.at(stack.apis[index]?.url ?? ''),
        );
        const { id } = await createPayout(creating ?? shop.api, payoutRequest({ amountInCents: 100 }));
        // Not a wait for anything: the moment itself is what is drawn.
        await sleep(randomInt(400));
        const { status, body } = await cancelPayout(canceling ?? shop.api, id);
        outcomes.set(id, status === 200 ? body.status : (body as unknown as { code: string }).code);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, race));
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
    const sent = Map.groupBy(ordersInJournal(), (id) => id);
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
    expect(await balanceOf(shop.api)).toEqual({ available: FUNDS - confirmed * 100, held: 0 });
    expect(await runOperatorCommand(stack.settings, 'ledger', 'verify')).toMatchObject({ code: 0 });
  }, 60_000);
});
