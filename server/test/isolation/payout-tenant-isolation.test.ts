import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RolePool } from '../../src/db/pool.ts';
import { batchDb, readDb } from '../../src/db/tenant.ts';
import { cancelPayout as cancel } from '../../src/flows/payouts/cancel-payout.ts';
import { PayoutCreator } from '../../src/flows/payouts/payout-creator.ts';
import { readPayout as readPayoutOf, readPayoutPage } from '../../src/flows/payouts/read-payouts.ts';
import { Metrics } from '../../src/kit/metrics.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { CUSTOMER, newReference } from '../harness/payin-requests.ts';
import {
  balanceOf,
  cancelPayout,
  createPayout,
  foundKey,
  lookUp,
  newShop,
  type PayoutBody,
  payoutRequest,
  readPayout,
  type Shop,
} from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const PAYOUTS_OF_A = 12;
const LOOKUPS_OF_A = 3;
const FUNDS = 1_000_000;

let stack: Stack;
let caudal: InProcess;
/** A has payouts, lookups and money; B wants to see and to move them. */
let a: Shop;
let b: Shop;
let ofA: PayoutBody[];
let lookupOfA: string;
const connections: Client[] = [];

// No worker: what A has stays as it was created.
beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
  a = await newShop(caudal, stack.api, FUNDS);
  b = await newShop(caudal, stack.api, FUNDS);
  for (let count = 0; count < LOOKUPS_OF_A; count += 1)
    lookupOfA = (await foundKey(a.api, '@TESTOK')).lookupId;
  ofA = await Promise.all(Array.from({ length: PAYOUTS_OF_A }, () => createPayout(a.api)));
});
afterAll(async () => {
  await Promise.all(connections.map((client) => client.end()));
  await caudal?.close();
  await stack?.stop();
});

type Role = 'readUrl' | 'batchUrl' | 'systemUrl';

async function as(role: Role): Promise<Client> {
  const client = new Client({ connectionString: caudal.config.database[role] });
  await client.connect();
  connections.push(client);
  return client;
}

/** Runs in a transaction that is rolled back, whatever it does. */
async function inside<T>(client: Client, set: string | null, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    if (set !== null) await client.query(set);
    return await work();
  } finally {
    await client.query('rollback');
  }
}

/** What became of a statement: how many rows it reached, or the state it was refused with. */
function outcome(client: Client, set: string | null, sql: string): Promise<number | string | null> {
  return inside(client, set, () => client.query(sql)).then(
    ({ rowCount }) => rowCount,
    (error: unknown) => String((error as { code?: unknown }).code),
  );
}

const REFUSED = '42501';

function batchOf(...shops: readonly Shop[]): string {
  return `set local caudal.organization_ids = '{${shops.map(({ id }) => id).join(',')}}'`;
}

const FOREIGN_SETTINGS = [
  { setting: 'unset', read: () => null, batch: () => null },
  {
    setting: 'empty',
    read: () => "set local caudal.organization_id = ''",
    batch: () => "set local caudal.organization_ids = ''",
  },
  {
    setting: "another organization's",
    read: () => `set local caudal.organization_id = '${b.id}'`,
    batch: () => batchOf(b),
  },
];

describe.each(FOREIGN_SETTINGS)(
  'the wall of the database around payouts, with the setting $setting',
  ({ read, batch }) => {
    it('shows caudal_read no payout of A', async () => {
      const client = await as('readUrl');
      expect(await outcome(client, read(), 'select id from caudal.payouts')).toBe(0);
      expect(
        await outcome(client, read(), `select id from caudal.payouts where organization_id = '${a.id}'`),
      ).toBe(0);
    });

    it.each([
      'payouts',
      'breb_lookups',
      'lookup_buckets',
      'ledger_balances',
      'ledger_causes',
      'resource_references',
    ])('shows caudal_batch no row of A in %s', async (table) => {
      const client = await as('batchUrl');
      const sql = `select from caudal.${table} where organization_id = '${a.id}'`;
      expect(await outcome(client, batch(), sql)).toBe(0);
    });

    it('lets caudal_batch change nothing of A: not its payouts, its lookups, its buckets, its balances', async () => {
      const client = await as('batchUrl');
      for (const write of [
        "update caudal.payouts set status = 'CANCELED', rail_task = null, rail_due_at = null, result_at = now()",
        'update caudal.payouts set lease_token = null, leased_until = null',
        'update caudal.lookup_buckets set lookups = 60000, misses = 100',
        'update caudal.ledger_balances set balance_in_cents = 0',
      ]) {
        const ofAll = `${write} where organization_id = '${a.id}'`;
        expect([write, await outcome(client, batch(), ofAll)]).toEqual([write, 0]);
      }
    });

    it('lets caudal_batch insert nothing for A', async () => {
      const client = await as('batchUrl');
      const [taken] = ofA;
      const sixteen = "decode(repeat('00', 16), 'hex')";
      const id = randomUUID();
      for (const insert of [
        `insert into caudal.payouts (organization_id, id, amount_in_cents, currency, rail, status, reference, receiver, receiver_index,
           end_to_end_id, created_at, updated_at, rail_task, rail_due_at)
         values ('${a.id}', '${taken?.id.slice(0, -4)}0000', 1, 'COP', 'BRE_B', 'PROCESSING', 'x', '', ${sixteen}, 'x', now(), now(), 'send', now())`,
        `insert into caudal.payout_history values ('${a.id}', '${taken?.id}', 'PROCESSING', 'CONFIRMED', 'smuggled', now())`,
        `insert into caudal.breb_lookups values ('${a.id}', '${id}', ${sixteen}, 'x', ${sixteen}, now(), now())`,
        `insert into caudal.lookup_buckets values ('${a.id}', 60000, 100, now())`,
        `insert into caudal.lookup_buckets values ('${a.id}', 60000, 100, now()) on conflict (organization_id) do update set misses = 100`,
        `insert into caudal.ledger_causes values ('payout_hold', 'smuggled', '${a.id}', '${id}')`,
        `insert into caudal.resource_references values ('${a.id}', 'payout', '${taken?.reference}', '${id}') on conflict do nothing`,
      ])
        expect([insert, await outcome(client, batch(), insert)]).toEqual([insert, REFUSED]);
    });
  },
);

describe('the wall of the database around payouts', () => {
  it("shows A's rows to the setting of A: what the probes above did not see is there", async () => {
    const reader = await as('readUrl');
    const own = `set local caudal.organization_id = '${a.id}'`;
    expect(await outcome(reader, own, 'select from caudal.payouts')).toBe(PAYOUTS_OF_A);
    const batch = await as('batchUrl');
    const counts = { payouts: PAYOUTS_OF_A, breb_lookups: LOOKUPS_OF_A, lookup_buckets: 1 };
    for (const [table, count] of Object.entries(counts)) {
      const sql = `select from caudal.${table} where organization_id = '${a.id}'`;
      expect([table, await outcome(batch, batchOf(b, a), sql)]).toEqual([table, count]);
    }
    const update = 'update caudal.ledger_balances set balance_in_cents = 0';
    expect(await outcome(batch, batchOf(a), update)).toBeGreaterThan(0);
  });

  it.each(['payout_history', 'payout_attempts', 'breb_lookups', 'lookup_buckets', 'operator_actions'])(
    'keeps %s from caudal_read altogether',
    async (table) => {
      const own = `set local caudal.organization_id = '${a.id}'`;
      expect(await outcome(await as('readUrl'), own, `select * from caudal.${table}`)).toBe(REFUSED);
    },
  );

  it.each(['payout_attempts', 'operator_actions', 'payout_history'])(
    'keeps %s from being read by caudal_batch',
    async (table) => {
      expect(await outcome(await as('batchUrl'), batchOf(a), `select * from caudal.${table}`)).toBe(REFUSED);
    },
  );

  it('does not let caudal_batch move a lookup, a bucket, a balance or a payout to another organization', async () => {
    const client = await as('batchUrl');
    for (const table of ['payouts', 'breb_lookups', 'ledger_balances'])
      expect([
        table,
        await outcome(client, batchOf(a, b), `update caudal.${table} set organization_id = '${b.id}'`),
      ]).toEqual([table, REFUSED]);
    // All of a bucket may be written, but not out of the batch.
    const move = `update caudal.lookup_buckets set organization_id = '${b.id}' where organization_id = '${a.id}'`;
    expect(await outcome(client, batchOf(a), move)).toBe(REFUSED);
  });

  it('lets each role change only what may change: never amount, receiver, end-to-end id or holder', async () => {
    const rows = await stack.database.query<{ role: string; columns: string[] }>(
      `select r.rolname as role, array(select a.attname::text from pg_attribute a where a.attrelid = 'caudal.payouts'::regclass
           and a.attnum > 0 and not a.attisdropped and has_column_privilege(r.oid, a.attrelid, a.attnum, 'update') order by 1) as columns
       from pg_roles r where r.rolname in ('caudal_read', 'caudal_batch', 'caudal_system') order by 1`,
    );
    const common =
      'lease_token leased_until error_code rail_due_at rail_task result_at status updated_at'.split(' ');
    const byWordOfRails =
      'attempts execution_id first_sent_at last_sent_at questions rail_status resolution_id resolved_at'.split(
        ' ',
      );
    const ofSystem = [...common, ...byWordOfRails];
    expect(rows).toEqual([
      { role: 'caudal_batch', columns: common },
      { role: 'caudal_read', columns: [] },
      { role: 'caudal_system', columns: ofSystem.toSorted() },
    ]);
  });

  it.each(['batchUrl', 'systemUrl'] as const)(
    'refuses them what they have no grant for, when they try: %s',
    async (role) => {
      const client = await as(role);
      const set = role === 'batchUrl' ? batchOf(a) : null;
      for (const write of [
        'update caudal.payouts set amount_in_cents = 1',
        "update caudal.payouts set receiver = ''",
        "update caudal.payouts set receiver_index = decode(repeat('00', 16), 'hex')",
        "update caudal.payouts set end_to_end_id = 'x'",
        "update caudal.payouts set holder = decode(repeat('00', 16), 'hex')",
        "update caudal.payouts set reference = 'x'",
        'update caudal.payouts set customer = null',
        'delete from caudal.payouts',
        'delete from caudal.payout_history',
        "update caudal.payout_history set cause = 'x'",
        'delete from caudal.payout_attempts',
        'update caudal.payout_attempts set number = 2',
        'delete from caudal.lookup_buckets',
        "update caudal.breb_lookups set expires_at = now() + interval '1 day'",
        "update caudal.breb_lookups set receiver_index = decode(repeat('00', 16), 'hex')",
        'update caudal.ledger_transfers set amount_in_cents = 1',
        'delete from caudal.ledger_transfers',
        'delete from caudal.ledger_causes',
        'delete from caudal.final_events',
        "update caudal.operator_actions set note = 'x'",
        'delete from caudal.operator_actions',
      ])
        expect([write, await outcome(client, set, write)]).toEqual([write, REFUSED]);
    },
  );

  it('lets caudal_batch write no word of a rail: no execution, attempt, promise, and no state but CANCELED', async () => {
    const client = await as('batchUrl');
    for (const set of [
      "status = 'CONFIRMED'",
      "status = 'CONFIRMED', rail_task = null, rail_due_at = null, result_at = now()",
      "status = 'DECLINED', error_code = 'RAIL_REJECTED', rail_task = null, rail_due_at = null, result_at = now()",
      "execution_id = 'x'",
      'attempts = 1',
      'first_sent_at = now()',
      "resolution_id = 'x'",
      'resolved_at = now()',
    ])
      expect([set, await outcome(client, batchOf(a), `update caudal.payouts set ${set}`)]).toEqual([
        set,
        REFUSED,
      ]);
  });

  it('lets caudal_batch cancel nothing that was sent, nor create what was', async () => {
    const client = await as('batchUrl');
    const cancel =
      "update caudal.payouts set status = 'CANCELED', rail_task = null, rail_due_at = null, result_at = now()";
    expect(await outcome(client, batchOf(a), cancel)).toBe(PAYOUTS_OF_A);
    const [first] = ofA;
    await stack.database.query(
      "update caudal.payouts set attempts = 1, first_sent_at = now(), last_sent_at = now(), rail_task = 'ask' where id = $1",
      [first?.id],
    );
    expect(await outcome(client, batchOf(a), `${cancel} where id = '${first?.id}'`)).toBe(REFUSED);
    const copy = (column: string, value: string) =>
      `insert into caudal.payouts (organization_id, id, amount_in_cents, currency, rail, reference, receiver, receiver_index, end_to_end_id,
         created_at, updated_at, rail_task, rail_due_at, status${column})
       select organization_id, '${first?.id.slice(0, -4)}0000', amount_in_cents, currency, rail, 'x', receiver, receiver_index, 'x',
         created_at, updated_at, 'send', now(), ${value} from caudal.payouts where id = '${first?.id}'`;
    expect(await outcome(client, batchOf(a), copy('', "'PROCESSING'"))).toBe(1);
    expect(await outcome(client, batchOf(a), copy(', execution_id', "'CONFIRMED', 'x'"))).toBe(REFUSED);
    const sent = copy(', attempts, first_sent_at, last_sent_at', "'PROCESSING', 1, now(), now()");
    expect(await outcome(client, batchOf(a), sent)).toBe(REFUSED);
    await stack.database.query(
      "update caudal.payouts set attempts = 0, first_sent_at = null, last_sent_at = null, rail_task = 'send' where id = $1",
      [first?.id],
    );
  });

  it('lets caudal_batch book nothing for another organization', async () => {
    const client = await as('batchUrl');
    const id = `${ofA[0]?.id.slice(0, -4)}0000`;
    const insert = `insert into caudal.ledger_transfers values
      ('${a.id}', '${id}', 'held', 'available', 1, 'payout_release', '${id}', '${id}', now())`;
    expect(await outcome(client, batchOf(b), insert)).toBe(REFUSED);
    expect(await outcome(client, batchOf(a), insert)).toBe(1);
  });
});

describe('the wall of the application around payouts, over connections that row-level security does not hold back', () => {
  let pool: RolePool;
  let deps: InProcess['deps'];
  beforeAll(() => {
    pool = new RolePool({
      role: 'system',
      url: stack.database.url,
      connections: 4,
      deadlineMs: 5000,
      failures: caudal.deps.failures,
    });
    deps = { ...caudal.deps, metrics: new Metrics(), read: readDb(pool), batch: batchDb(pool) };
  });
  afterAll(() => pool?.close());

  it("finds, lists and cancels none of A's payouts for B", async () => {
    for (const { id } of ofA.slice(0, 5)) {
      await expect(readPayoutOf(deps, b.principal, id)).rejects.toMatchObject({ code: 'not_found' });
      await expect(cancel(deps, b.principal, id)).rejects.toMatchObject({ code: 'not_found' });
      expect((await readPayoutOf(deps, a.principal, id)).payout.status).toBe('PROCESSING');
    }
    const [first] = ofA;
    for (const question of [
      {},
      { status: 'PROCESSING' },
      { rail: 'BRE_B' },
      { reference: first?.reference },
      { key: '@TESTOK' },
      { createdFrom: new Date(0) },
    ] as const) {
      const page = await readPayoutPage(deps, b.principal, question, null, 100);
      expect(page.items).toEqual([]);
      const own = await readPayoutPage(deps, a.principal, question, null, 100);
      expect(own.items.length).toBe('reference' in question ? 1 : PAYOUTS_OF_A);
    }
  });

  it("does not let B pay by A's lookup, nor use A's money, references or keys", async () => {
    const { principal } = await newShop(caudal, stack.api, 0);
    const payouts = new PayoutCreator(deps);
    const [first] = ofA;
    const request = {
      amountInCents: 100,
      reference: first?.reference ?? '',
      inlineCustomer: { ...CUSTOMER, idType: 'CO_CC' },
      key: '@TESTOK',
      lookupId: lookupOfA,
    } as const;
    await expect(payouts.create(principal, request, null)).rejects.toMatchObject({ code: 'lookup_invalid' });
    const { payout } = await payouts.create(principal, { ...request, lookupId: null }, null);
    await payouts.close();
    expect((await readPayoutOf(deps, principal, payout.id)).payout.errorCode).toBe('INSUFFICIENT_FUNDS');
    const [row] = await stack.database.query('select resolution_id from caudal.payouts where id = $1', [
      payout.id,
    ]);
    expect(row).toEqual({ resolution_id: null });
  });
});

describe('both walls around payouts, over HTTP', () => {
  it("give B nothing of A's: not by id, reference, key, cursor or lookup", async () => {
    const [first] = ofA;
    const breb = { keyString: '@TESTOK', lookupId: lookupOfA };
    const cursor = (await a.api.get<{ pageInfo: { nextCursor: string } }>('/payouts?pageSize=2')).body
      .pageInfo.nextCursor;
    expect((await b.api.get(`/payouts/${first?.id}`)).status).toBe(404);
    expect((await cancelPayout(b.api, first?.id ?? '')).status).toBe(404);
    expect((await b.api.get('/payouts?keyString=%40TESTOK')).body['data']).toEqual([]);
    expect((await b.api.get(`/payouts?reference=${first?.reference}`)).body['data']).toEqual([]);
    expect((await b.api.get(`/payouts?pageSize=2&cursor=${cursor}`)).status).toBe(400);
    expect((await b.api.post('/payouts', payoutRequest({ breb }))).status).toBe(400);
  });

  it("let B spend its own tokens and money, and leave A's as they were", async () => {
    const bucket = () =>
      stack.database.query('select * from caudal.lookup_buckets where organization_id = $1', [a.id]);
    const [before, funds] = [await bucket(), await balanceOf(a.api)];
    await lookUp(b.api, '@TESTNOTFOUND');
    await createPayout(b.api, payoutRequest({ reference: ofA[0]?.reference ?? newReference() }));
    expect(await bucket()).toEqual(before);
    expect(await balanceOf(a.api)).toEqual(funds);
    expect(await balanceOf(b.api)).toEqual({ available: FUNDS - 12_500, held: 12_500 });
    for (const payout of ofA) expect(await readPayout(a.api, payout.id)).toEqual(payout);
  });
});
