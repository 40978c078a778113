import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RolePool } from '../../src/db/pool.ts';
import { batchDb, readDb } from '../../src/db/tenant.ts';
import { cancelPayout as cancel } from '../../src/flows/payouts/cancel-payout.ts';
import { changePayoutLimits } from '../../src/flows/payouts/change-payout-limits.system.ts';
import { payoutCreator } from '../../src/flows/payouts/create-payouts.ts';
import { readPayout as readPayoutOf, readPayoutPage } from '../../src/flows/payouts/read-payouts.ts';
import { Metrics } from '../../src/kit/metrics.ts';
import { cents } from '../../src/kit/money.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { CUSTOMER, newReference } from '../harness/payin-requests.ts';
import {
  cancelPayout,
  createPayout,
  lookUp,
  newShop,
  type PayoutBody,
  payoutRequest,
  readBalance,
  readPayout,
  resolveKey,
  type Shop,
} from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const PAYOUTS_OF_A = 12;
const LOOKUPS_OF_A = 3;
const FUNDS = 1_000_000;

let stack: Stack;
let caudal: InProcess;
/** A owns payouts, lookups and money; B tries to read and move them. */
let a: Shop;
let b: Shop;
let payoutsOfA: PayoutBody[];
let lookupOfA: string;
const connections: Client[] = [];

// No worker: A's rows stay as created.
beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
  a = await newShop(caudal, stack.api, FUNDS);
  b = await newShop(caudal, stack.api, FUNDS);
  for (let count = 0; count < LOOKUPS_OF_A; count += 1)
    lookupOfA = (await resolveKey(a.api, '@TESTOK')).lookupId;
  const scope = { organizationId: a.id, apiKeyId: '' };
  await changePayoutLimits(caudal.deps, 'test', scope, { dayCount: 1_000_000 });
  payoutsOfA = await Promise.all(Array.from({ length: PAYOUTS_OF_A }, () => createPayout(a.api)));
});
afterAll(async () => {
  await Promise.all(connections.map((client) => client.end()));
  await caudal?.close();
  await stack?.stop();
});

type Role = 'readUrl' | 'batchUrl' | 'systemUrl';

async function connectAs(role: Role): Promise<Client> {
  const client = new Client({ connectionString: caudal.config.database[role] });
  await client.connect();
  connections.push(client);
  return client;
}

/** Runs in a transaction that is always rolled back. */
async function inTransaction<T>(client: Client, set: string | null, work: () => Promise<T>): Promise<T> {
  await client.query('begin');
  try {
    if (set !== null) await client.query(set);
    return await work();
  } finally {
    await client.query('rollback');
  }
}

/** Number of affected rows, or the SQLSTATE of the rejection. */
function execute(client: Client, set: string | null, sql: string): Promise<number | string | null> {
  return inTransaction(client, set, () => client.query(sql)).then(
    ({ rowCount }) => rowCount,
    (error: unknown) => String((error as { code?: unknown }).code),
  );
}

/** An id of the same month that no row has. */
function unusedId(id = ''): string {
  return `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
}

const INSUFFICIENT_PRIVILEGE = '42501';

function batchSetting(...shops: readonly Shop[]): string {
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
    setting: 'of another organization',
    read: () => `set local caudal.organization_id = '${b.id}'`,
    batch: () => batchSetting(b),
  },
];

describe.each(FOREIGN_SETTINGS)(
  'database isolation of payouts, with the setting $setting',
  ({ read, batch }) => {
    it('shows caudal_read no payout of A', async () => {
      const client = await connectAs('readUrl');
      expect(await execute(client, read(), 'select id from caudal.payouts')).toBe(0);
      expect(
        await execute(client, read(), `select id from caudal.payouts where organization_id = '${a.id}'`),
      ).toBe(0);
    });

    it.each([
      'payouts',
      'breb_lookups',
      'lookup_buckets',
      'payout_limits',
      'payout_usage',
      'ledger_balances',
      'ledger_causes',
      'resource_references',
    ])('shows caudal_batch no row of A in %s', async (table) => {
      const client = await connectAs('batchUrl');
      const sql = `select from caudal.${table} where organization_id = '${a.id}'`;
      expect(await execute(client, batch(), sql)).toBe(0);
    });

    it('lets caudal_batch change no payout, lookup, bucket or balance of A', async () => {
      const client = await connectAs('batchUrl');
      for (const write of [
        "update caudal.payouts set status = 'CANCELED', rail_task = null, rail_due_at = null, result_at = now()",
        'update caudal.payouts set lease_token = null, leased_until = null',
        'update caudal.lookup_buckets set lookups = 60000, misses = 100',
        'update caudal.payout_usage set payouts = 0, amount_in_cents = 0',
        'update caudal.ledger_balances set balance_in_cents = 0',
      ]) {
        const restricted = `${write} where organization_id = '${a.id}'`;
        expect([write, await execute(client, batch(), restricted)]).toEqual([write, 0]);
      }
    });

    it('lets caudal_batch insert nothing for A', async () => {
      const client = await connectAs('batchUrl');
      const [taken] = payoutsOfA;
      const sixteen = "decode(repeat('00', 16), 'hex')";
      const id = randomUUID();
      for (const insert of [
        `insert into caudal.payouts (organization_id, id, amount_in_cents, currency, rail, status, reference, receiver, receiver_index,
           end_to_end_id, created_at, updated_at, rail_task, rail_due_at)
         values ('${a.id}', '${unusedId(taken?.id)}', 1, 'COP', 'BRE_B', 'PROCESSING', 'x', '', ${sixteen}, 'x', now(), now(), 'send', now())`,
        `insert into caudal.payout_history values ('${a.id}', '${taken?.id}', 'PROCESSING', 'CONFIRMED', 'smuggled', now())`,
        `insert into caudal.breb_lookups values ('${a.id}', '${id}', ${sixteen}, 'x', ${sixteen}, now(), now())`,
        `insert into caudal.lookup_buckets values ('${a.id}', 60000, 100, now())`,
        `insert into caudal.lookup_buckets values ('${a.id}', 60000, 100, now()) on conflict (organization_id) do update set misses = 100`,
        `insert into caudal.payout_usage values ('${a.id}', '', '2026-01-01', 0, 0)`,
        `insert into caudal.ledger_causes values ('payout_hold', 'smuggled', '${a.id}', '${id}')`,
        `insert into caudal.resource_references values ('${a.id}', 'payout', '${taken?.reference}', '${id}') on conflict do nothing`,
      ])
        expect([insert, await execute(client, batch(), insert)]).toEqual([insert, INSUFFICIENT_PRIVILEGE]);
    });
  },
);

describe('database isolation of payouts', () => {
  it("shows A's rows with the setting of A: the rows hidden above exist", async () => {
    const reader = await connectAs('readUrl');
    const own = `set local caudal.organization_id = '${a.id}'`;
    expect(await execute(reader, own, 'select from caudal.payouts')).toBe(PAYOUTS_OF_A);
    const batch = await connectAs('batchUrl');
    const counts = { payouts: PAYOUTS_OF_A, breb_lookups: LOOKUPS_OF_A, lookup_buckets: 1 };
    for (const [table, count] of Object.entries(counts)) {
      const sql = `select from caudal.${table} where organization_id = '${a.id}'`;
      expect([table, await execute(batch, batchSetting(b, a), sql)]).toEqual([table, count]);
    }
    const update = "update caudal.ledger_balances set updated_at = now() where account = 'available'";
    expect(await execute(batch, batchSetting(a), update)).toBe(1);
  });

  it.each(['payout_history', 'payout_attempts', 'breb_lookups', 'lookup_buckets', 'operator_actions'])(
    'denies caudal_read all access to %s',
    async (table) => {
      const own = `set local caudal.organization_id = '${a.id}'`;
      expect(await execute(await connectAs('readUrl'), own, `select * from caudal.${table}`)).toBe(
        INSUFFICIENT_PRIVILEGE,
      );
    },
  );

  it.each(['payout_attempts', 'operator_actions', 'payout_history'])(
    'denies caudal_batch reading %s',
    async (table) => {
      expect(
        await execute(await connectAs('batchUrl'), batchSetting(a), `select * from caudal.${table}`),
      ).toBe(INSUFFICIENT_PRIVILEGE);
    },
  );

  it('does not let caudal_batch move a lookup, bucket, balance or payout to another organization', async () => {
    const client = await connectAs('batchUrl');
    for (const table of ['payouts', 'breb_lookups', 'ledger_balances'])
      expect([
        table,
        await execute(client, batchSetting(a, b), `update caudal.${table} set organization_id = '${b.id}'`),
      ]).toEqual([table, INSUFFICIENT_PRIVILEGE]);
    // A bucket is fully writable, but cannot be moved out of the batch.
    const move = `update caudal.lookup_buckets set organization_id = '${b.id}' where organization_id = '${a.id}'`;
    expect(await execute(client, batchSetting(a), move)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  it('lets each role update only mutable columns: never amount, receiver, end-to-end ID or holder', async () => {
    const rows = await stack.database.query<{ role: string; columns: string[] }>(
      `select r.rolname as role, array(select a.attname::text from pg_attribute a where a.attrelid = 'caudal.payouts'::regclass
           and a.attnum > 0 and not a.attisdropped and has_column_privilege(r.oid, a.attrelid, a.attnum, 'update') order by 1) as columns
       from pg_roles r where r.rolname in ('caudal_read', 'caudal_batch', 'caudal_system') order by 1`,
    );
    const commonColumns = 'lease_token leased_until rail_due_at rail_task result_at status updated_at'.split(
      ' ',
    );
    const railColumns =
      'attempts error_code execution_id first_sent_at last_sent_at polls rail_status resolution_id resolved_at unsent_attempts'.split(
        ' ',
      );
    const systemColumns = [...commonColumns, ...railColumns];
    expect(rows).toEqual([
      { role: 'caudal_batch', columns: commonColumns },
      { role: 'caudal_read', columns: [] },
      { role: 'caudal_system', columns: systemColumns.toSorted() },
    ]);
  });

  it.each(['batchUrl', 'systemUrl'] as const)('rejects writes without a grant: %s', async (role) => {
    const client = await connectAs(role);
    const set = role === 'batchUrl' ? batchSetting(a) : null;
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
      expect([write, await execute(client, set, write)]).toEqual([write, INSUFFICIENT_PRIVILEGE]);
  });

  it('lets caudal_batch read payout limits and write no limit', async () => {
    const client = await connectAs('batchUrl');
    const rows = await execute(client, batchSetting(a), 'select day_count from caudal.payout_limits');
    expect(rows).toBe(1);
    for (const write of [
      'update caudal.payout_limits set day_count = null',
      'delete from caudal.payout_limits',
      'delete from caudal.payout_usage',
      "update caudal.payout_usage set day = '2026-01-01'",
      `insert into caudal.payout_limits (organization_id, api_key_id) values ('${a.id}', '0100000000000000')`,
    ])
      expect([write, await execute(client, batchSetting(a), write)]).toEqual([write, INSUFFICIENT_PRIVILEGE]);
  });

  it('lets caudal_batch write no rail result: no execution, attempt or resolution, and no status but CANCELED', async () => {
    const client = await connectAs('batchUrl');
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
      expect([set, await execute(client, batchSetting(a), `update caudal.payouts set ${set}`)]).toEqual([
        set,
        INSUFFICIENT_PRIVILEGE,
      ]);
  });

  it('does not let caudal_batch cancel a sent payout or create one as sent', async () => {
    const client = await connectAs('batchUrl');
    const cancel =
      "update caudal.payouts set status = 'CANCELED', rail_task = null, rail_due_at = null, result_at = now()";
    expect(await execute(client, batchSetting(a), cancel)).toBe(PAYOUTS_OF_A);
    const [first] = payoutsOfA;
    await stack.database.query(
      "update caudal.payouts set attempts = 1, first_sent_at = now(), last_sent_at = now(), rail_task = 'poll' where id = $1",
      [first?.id],
    );
    expect(await execute(client, batchSetting(a), `${cancel} where id = '${first?.id}'`)).toBe(
      INSUFFICIENT_PRIVILEGE,
    );
    const copy = (column: string, value: string) =>
      `insert into caudal.payouts (organization_id, id, amount_in_cents, currency, rail, reference, receiver, receiver_index, end_to_end_id,
         created_at, updated_at, rail_task, rail_due_at, status${column})
       select organization_id, '${unusedId(first?.id)}', amount_in_cents, currency, rail, 'x', receiver, receiver_index, 'x',
         created_at, updated_at, 'send', now(), ${value} from caudal.payouts where id = '${first?.id}'`;
    expect(await execute(client, batchSetting(a), copy('', "'PROCESSING'"))).toBe(1);
    expect(await execute(client, batchSetting(a), copy(', execution_id', "'CONFIRMED', 'x'"))).toBe(
      INSUFFICIENT_PRIVILEGE,
    );
    const sent = copy(', attempts, first_sent_at, last_sent_at', "'PROCESSING', 1, now(), now()");
    expect(await execute(client, batchSetting(a), sent)).toBe(INSUFFICIENT_PRIVILEGE);
    await stack.database.query(
      "update caudal.payouts set attempts = 0, first_sent_at = null, last_sent_at = null, rail_task = 'send' where id = $1",
      [first?.id],
    );
  });

  it('does not let caudal_batch post for another organization', async () => {
    const client = await connectAs('batchUrl');
    const id = unusedId(payoutsOfA[0]?.id);
    const insert = `with cause as (
        insert into caudal.ledger_causes (kind, id, organization_id, transfer_id) values ('payout_hold', '${id}', '${a.id}', '${id}')
      )
      insert into caudal.ledger_transfers (organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id, at)
      values ('${a.id}', '${id}', 'available', 'held', 1, 'payout_hold', '${id}', '${id}', now())`;
    expect(await execute(client, batchSetting(b), insert)).toBe(INSUFFICIENT_PRIVILEGE);
    expect(await execute(client, batchSetting(a), insert)).toBe(1);
  });
});

describe('application isolation of payouts, over connections without row-level security', () => {
  let pool: RolePool;
  let deps: InProcess['deps'];
  beforeAll(() => {
    pool = new RolePool({
      role: 'system',
      url: stack.database.url,
      connections: 4,
      deadlineMs: 30_000,
      failures: caudal.deps.failures,
    });
    deps = { ...caudal.deps, metrics: new Metrics(), read: readDb(pool), batch: batchDb(pool) };
  });
  afterAll(() => pool?.close());

  it("does not find, list or cancel A's payouts for B", async () => {
    for (const { id } of payoutsOfA.slice(0, 5)) {
      await expect(readPayoutOf(deps, b.principal, id)).rejects.toMatchObject({ code: 'not_found' });
      await expect(cancel(deps, b.principal, id)).rejects.toMatchObject({ code: 'not_found' });
      expect((await readPayoutOf(deps, a.principal, id)).payout.status).toBe('PROCESSING');
    }
    const [first] = payoutsOfA;
    for (const filter of [
      {},
      { status: 'PROCESSING' },
      { rail: 'BRE_B' },
      { reference: first?.reference },
      { key: '@TESTOK' },
      { createdFrom: new Date(0) },
    ] as const) {
      const page = await readPayoutPage(deps, b.principal, filter, null, 100);
      expect(page.items).toEqual([]);
      const own = await readPayoutPage(deps, a.principal, filter, null, 100);
      expect(own.items.length).toBe('reference' in filter ? 1 : PAYOUTS_OF_A);
    }
  });

  it("does not let B use A's lookup, money, references or keys", async () => {
    const { principal } = await newShop(caudal, stack.api, 0);
    const payouts = payoutCreator(deps);
    const [first] = payoutsOfA;
    const request = {
      amount: cents(100),
      reference: first?.reference ?? '',
      customer: { ...CUSTOMER, idType: 'CO_CC' },
      metadata: null,
      brebKey: '@TESTOK',
      lookupId: lookupOfA,
    } as const;
    await expect(payouts.create(principal, request, null)).rejects.toMatchObject({ code: 'lookup_invalid' });
    const { resource: payout } = await payouts.create(principal, { ...request, lookupId: null }, null);
    await payouts.close();
    expect((await readPayoutOf(deps, principal, payout.id)).payout.errorCode).toBe('INSUFFICIENT_FUNDS');
    const [row] = await stack.database.query('select resolution_id from caudal.payouts where id = $1', [
      payout.id,
    ]);
    expect(row).toEqual({ resolution_id: null });
  });
});

describe('both isolation layers for payouts, over HTTP', () => {
  it('return nothing of A to B: not by ID, reference, key, cursor or lookup', async () => {
    const [first] = payoutsOfA;
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

  it("let B spend its own tokens and money, and leave A's unchanged", async () => {
    const bucket = () =>
      stack.database.query('select * from caudal.lookup_buckets where organization_id = $1', [a.id]);
    const [before, funds] = [await bucket(), await readBalance(a.api)];
    await lookUp(b.api, '@TESTNOTFOUND');
    await createPayout(b.api, payoutRequest({ reference: payoutsOfA[0]?.reference ?? newReference() }));
    expect(await bucket()).toEqual(before);
    expect(await readBalance(a.api)).toEqual(funds);
    expect(await readBalance(b.api)).toEqual({ available: FUNDS - 12_500, held: 12_500 });
    for (const payout of payoutsOfA) expect(await readPayout(a.api, payout.id)).toEqual(payout);
  });
});
