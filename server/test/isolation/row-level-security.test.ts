import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWNER } from '../../../scripts/stack/postgres.ts';
import { RolePool } from '../../src/db/pool.ts';
import { batchDb, readDb } from '../../src/db/tenant.ts';
import { PseOpener } from '../../src/flows/payins/open-pse-payins.ts';
import { PayinCreator } from '../../src/flows/payins/payin-creator.ts';
import { readPayin, readPayinPage } from '../../src/flows/payins/read-payins.ts';
import { CollectionStarter } from '../../src/flows/payins/start-collection.ts';
import { Metrics } from '../../src/kit/metrics.ts';
import { cents } from '../../src/kit/money.ts';
import { ENCRYPTED_TABLES } from '../../src/organizations/encrypted-tables.ts';
import type { Principal } from '../../src/organizations/organization.ts';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { brebPayin, newReference } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const PAYINS_OF_A = 60;
const ROLES = ['caudal_read', 'caudal_batch', 'caudal_system'];

interface PayinOfA {
  readonly body: Record<string, unknown>;
  readonly key: string;
  readonly id: string;
}

let stack: Stack;
let caudal: InProcess;
/** A owns payins; B tries to read them. */
let a: { principal: Principal; api: ApiClient };
let b: { principal: Principal; api: ApiClient };
let payinsOfA: PayinOfA[];
const connections: Client[] = [];

beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
  const organization = async () => {
    const { principal, apiKey } = await caudal.newOrganization();
    return { principal, api: stack.api.as(apiKey) };
  };
  a = await organization();
  b = await organization();
  payinsOfA = await Promise.all(
    Array.from({ length: PAYINS_OF_A }, async () => {
      const body = brebPayin();
      const key = randomUUID();
      const created = await a.api.post('/payins', body, { 'idempotency-key': key });
      if (created.status !== 201) throw new Error(created.text);
      return { body, key, id: String(created.body['id']) };
    }),
  );
});
afterAll(async () => {
  await Promise.all(connections.map((client) => client.end()));
  await caudal?.close();
  await stack?.stop();
});

function idOfA(): string {
  return a.principal.organization.id;
}

function idOfB(): string {
  return b.principal.organization.id;
}

async function connectAs(role: 'readUrl' | 'batchUrl'): Promise<Client> {
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

function sqlState(work: () => Promise<unknown>): Promise<string> {
  return work().then(
    () => 'done',
    (error: unknown) => String((error as { code?: unknown }).code),
  );
}

/** Tables that the erasure of personal data only reads. */
const ERASURE_READS = ['organizations', 'anomalies', 'ledger_causes'];

describe('the database catalog', () => {
  it('has forced row-level security on every tenant table', async () => {
    const open = await stack.database.query(
      `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'caudal' and c.relkind in ('r', 'p')
         and (c.relname = 'organizations' or exists (select from pg_attribute t where t.attrelid = c.oid
           and t.attname = 'organization_id' and not t.attisdropped))
         and not (c.relrowsecurity and c.relforcerowsecurity)`,
    );
    expect(open).toEqual([]);
  });

  it('has a policy for each of the three roles and for backups on every tenant table', async () => {
    const rows = await stack.database.query<{ relname: string; roles: string[] }>(
      `select c.relname, array(select distinct r.rolname::text from pg_policy p join pg_roles r on r.oid = any(p.polroles)
           where p.polrelid = c.oid order by 1) as roles
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'caudal' and c.relkind in ('r', 'p') and not c.relispartition
         and (c.relname = 'organizations' or exists (select from pg_attribute t where t.attrelid = c.oid
           and t.attname = 'organization_id' and not t.attisdropped))`,
    );
    expect(rows.length).toBeGreaterThanOrEqual(10);
    for (const { relname, roles } of rows) {
      // The owner has a policy only where `caudal.reencrypt` replaces values and `caudal.erase_personal_data` reads states.
      const tables = [...ENCRYPTED_TABLES.map(({ name }) => name), ...ERASURE_READS];
      const owner = tables.includes(relname) ? [OWNER] : [];
      expect({ relname, roles }).toEqual({
        relname,
        roles: [...ROLES, 'caudal_backup', ...owner].toSorted(),
      });
    }
  });

  it('gives the schema owner access only inside the functions that encrypt values again and erase personal data', async () => {
    const policies = await stack.database.query(
      `select distinct p.polname, pg_get_expr(p.polqual, p.polrelid) as using, p.polwithcheck is null as same
       from pg_policy p join pg_roles r on r.oid = any(p.polroles) where r.rolname = $1`,
      [OWNER],
    );
    expect(policies).toEqual([
      {
        polname: 'erasure',
        using: "(current_setting('caudal.erasure'::text, true) = 'on'::text)",
        same: true,
      },
      {
        polname: 'reencryption',
        using: "(current_setting('caudal.reencryption'::text, true) = 'on'::text)",
        same: true,
      },
    ]);
    const owner = new Client({ connectionString: stack.database.ownerUrl });
    await owner.connect();
    connections.push(owner);
    expect((await owner.query('select from caudal.payins')).rowCount).toBe(0);
  });

  it('gives the merchant roles access only through their setting, for reads and writes', async () => {
    const rows = await stack.database.query<{
      rolname: string;
      relname: string;
      using: string;
      check: string | null;
    }>(
      // Restrictive policies grant nothing: they only narrow these.
      `select r.rolname, p.polrelid::regclass::text as relname, pg_get_expr(p.polqual, p.polrelid) as using,
         pg_get_expr(p.polwithcheck, p.polrelid) as check
       from pg_policy p join pg_roles r on r.oid = any(p.polroles)
       where r.rolname in ('caudal_read', 'caudal_batch') and p.polpermissive`,
    );
    expect(rows.length).toBeGreaterThanOrEqual(20);
    for (const { rolname, using, check } of rows) {
      const setting =
        rolname === 'caudal_read' ? 'caudal.current_organization()' : 'caudal.batch_organizations()';
      expect(using).toContain(setting);
      expect(using).not.toMatch(/\bor\b/i);
      if (rolname === 'caudal_batch') expect(check).toBe(using);
    }
  });

  it('has no policy for PUBLIC and no role that bypasses policies', async () => {
    expect(
      await stack.database.query('select polname from pg_policy where polroles @> array[0::oid]'),
    ).toEqual([]);
    const roles = await stack.database.query<{ rolname: string }>(
      `select rolname from pg_roles where rolname = any($1) and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication
         or exists (select from pg_auth_members m where m.member = pg_roles.oid)
         or exists (select from pg_class c where c.relowner = pg_roles.oid))`,
      [ROLES],
    );
    expect(roles).toEqual([]);
  });

  it('grants no partition to any role: partitions are reached through their parent, whose policies apply', async () => {
    const partitions = await stack.database.query<{ relname: string }>(
      `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'caudal' and c.relispartition and c.relkind = 'r'`,
    );
    expect(partitions.length).toBeGreaterThanOrEqual(6);
    const granted = await stack.database.query(
      `select c.relname, r.rolname, privilege from pg_class c join pg_namespace n on n.oid = c.relnamespace
         cross join (select oid, rolname from pg_roles where rolname = any($1)) r
         cross join unnest(array['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']) as privilege
       where n.nspname = 'caudal' and c.relispartition and c.relkind = 'r' and has_table_privilege(r.oid, c.oid, privilege)`,
      [ROLES],
    );
    expect(granted).toEqual([]);
    const columns = await stack.database.query(
      `select c.relname, r.rolname from pg_class c join pg_namespace n on n.oid = c.relnamespace
         cross join (select oid, rolname from pg_roles where rolname = any($1)) r
       where n.nspname = 'caudal' and c.relispartition and c.relkind = 'r'
         and has_any_column_privilege(r.oid, c.oid, 'select, insert, update, references')`,
      [ROLES],
    );
    expect(columns).toEqual([]);
  });

  it('has no bypass: no view, no truncate, no security definer function except those for months, time, re-encryption, erasure and triggers', async () => {
    const views = await stack.database.query(
      `select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'caudal' and c.relkind in ('v', 'm', 'f')`,
    );
    expect(views).toEqual([]);
    const definers = await stack.database.query<{ proname: string; roles: string[] }>(
      `select p.proname, array(select r.rolname::text from pg_roles r where r.rolname = any($1)
           and has_function_privilege(r.oid, p.oid, 'execute') order by 1) as roles
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'caudal' and p.prosecdef order by 1`,
      [ROLES],
    );
    const system = [
      'advance_id_clock',
      'erase_personal_data',
      'make_months',
      'months_ready',
      'reencrypt',
      'shift_time',
    ];
    const triggers = ['check_merchant_balances', 'record_merchant_balances', 'record_merchant_transfers'];
    expect(definers).toEqual(
      [...system, ...triggers].toSorted().map((proname) => ({
        proname,
        roles: system.includes(proname) ? ['caudal_system'] : [],
      })),
    );
    const open = await stack.database.query(
      `select c.relname, r.rolname from pg_class c join pg_namespace n on n.oid = c.relnamespace
         cross join (select oid, rolname from pg_roles where rolname = any($1)) r
       where n.nspname = 'caudal' and c.relkind in ('r', 'p') and has_table_privilege(r.oid, c.oid, 'truncate, trigger')`,
      [ROLES],
    );
    expect(open).toEqual([]);
    const [schema] = await stack.database.query(
      "select bool_or(has_schema_privilege(rolname, 'caudal', 'create') or has_database_privilege(rolname, current_database(), 'create')) as create from pg_roles where rolname = any($1)",
      [ROLES],
    );
    expect(schema).toEqual({ create: false });
  });
});

const READ_TABLES = ['payins', 'resource_references'];
const BATCH_TABLES = [...READ_TABLES, 'breb_keys', 'idempotency_keys'];

const FOREIGN_SETTINGS = [
  { setting: 'unset', read: () => null, batch: () => null },
  {
    setting: 'empty',
    read: () => "set local caudal.organization_id = ''",
    batch: () => "set local caudal.organization_ids = ''",
  },
  {
    setting: 'of another organization',
    read: () => `set local caudal.organization_id = '${idOfB()}'`,
    batch: () => `set local caudal.organization_ids = '{${idOfB()}}'`,
  },
];

describe.each(FOREIGN_SETTINGS)('database isolation, with the setting $setting', ({ read, batch }) => {
  it('shows caudal_read no row of A in any table', async () => {
    const client = await connectAs('readUrl');
    for (const table of READ_TABLES) {
      const visible = await inTransaction(client, read(), async () => {
        const all = await client.query(`select count(*)::int as count from caudal.${table}`);
        const named = await client.query(
          `select count(*)::int as count from caudal.${table} where organization_id = $1`,
          [idOfA()],
        );
        return [all.rows[0], named.rows[0]];
      });
      expect([table, visible]).toEqual([table, [{ count: 0 }, { count: 0 }]]);
    }
  });

  it('lets caudal_read write nothing, not even for A', async () => {
    const client = await connectAs('readUrl');
    for (const table of BATCH_TABLES) {
      for (const write of [
        `delete from caudal.${table}`,
        `update caudal.${table} set organization_id = organization_id`,
        `insert into caudal.${table} (organization_id) values ('${idOfA()}')`,
      ])
        expect(await sqlState(() => inTransaction(client, read(), () => client.query(write)))).toBe('42501');
    }
  });

  it('shows caudal_batch no row of A and changes none in any table', async () => {
    const client = await connectAs('batchUrl');
    for (const table of BATCH_TABLES) {
      const visible = await inTransaction(client, batch(), () =>
        client.query(`select count(*)::int as count from caudal.${table}`),
      );
      expect([table, visible.rows]).toEqual([table, [{ count: 0 }]]);
    }
    const writes = [
      "update caudal.payins set status = 'CONFIRMED'",
      'update caudal.idempotency_keys set repeats = 99',
      'delete from caudal.idempotency_keys',
      'update caudal.resource_references set repeats = 99',
      'delete from caudal.resource_references',
    ];
    for (const write of writes) {
      const done = await inTransaction(client, batch(), () => client.query(write));
      expect([write, done.rowCount]).toEqual([write, 0]);
    }
  });

  it('lets caudal_batch insert nothing for A', async () => {
    const client = await connectAs('batchUrl');
    const [taken] = payinsOfA;
    const inserts = [
      `insert into caudal.payins (organization_id, id, amount_in_cents, currency, rail, status, reference, breb_key_type,
         breb_key, created_at, updated_at, expires_at)
       values ('${idOfA()}', '${taken?.id.slice(0, -4)}0000', 1, 'COP', 'BRE_B', 'PROCESSING', 'x', 'SINGLE_USE', '@X', now(), now(), now())`,
      `insert into caudal.payin_history values ('${idOfA()}', '${taken?.id}', 'PROCESSING', 'CONFIRMED', 'smuggled', now())`,
      `insert into caudal.breb_keys (key, organization_id, payin_id, minted_at) values ('@SMUGGLED', '${idOfA()}', '${taken?.id}', now())`,
      `insert into caudal.idempotency_keys values ('${idOfA()}', decode(repeat('00', 16), 'hex'), decode(repeat('00', 16), 'hex'), '${taken?.id}', now())`,
      `insert into caudal.resource_references values ('${idOfA()}', 'payin', 'smuggled', '${taken?.id}')`,
      // For an existing row: neither an update nor a hint that it exists.
      `insert into caudal.resource_references values ('${idOfA()}', 'payin', '${String(taken?.body['reference'])}', '${taken?.id}')
         on conflict on constraint reference_once do update set repeats = 99`,
      `insert into caudal.resource_references values ('${idOfA()}', 'payin', '${String(taken?.body['reference'])}', '${taken?.id}')
         on conflict do nothing`,
    ];
    for (const insert of inserts)
      expect([
        insert,
        await sqlState(() => inTransaction(client, batch(), () => client.query(insert))),
      ]).toEqual([insert, '42501']);
  });
});

describe('database isolation', () => {
  it("shows A's rows with the setting of A: the rows hidden above exist", async () => {
    const reader = await connectAs('readUrl');
    const batch = await connectAs('batchUrl');
    for (const [client, set, tables] of [
      [reader, `set local caudal.organization_id = '${idOfA()}'`, READ_TABLES],
      [batch, `set local caudal.organization_ids = '{${idOfB()},${idOfA()}}'`, BATCH_TABLES],
    ] as const) {
      for (const table of tables) {
        const visible = await inTransaction(client, set, () =>
          client.query(`select count(*)::int as count from caudal.${table} where organization_id = $1`, [
            idOfA(),
          ]),
        );
        expect([table, visible.rows]).toEqual([table, [{ count: PAYINS_OF_A }]]);
      }
    }
  });

  it('does not let a row be moved to or from another organization', async () => {
    const client = await connectAs('batchUrl');
    const move = () =>
      client.query('update caudal.resource_references set organization_id = $1 where organization_id = $2', [
        idOfB(),
        idOfA(),
      ]);
    const onlyA = `set local caudal.organization_ids = '{${idOfA()}}'`;
    expect(await sqlState(() => inTransaction(client, onlyA, move))).toBe('42501');
    const onlyB = `set local caudal.organization_ids = '{${idOfB()}}'`;
    expect(await sqlState(() => inTransaction(client, onlyB, move))).toBe('42501');
  });

  it('denies both merchant roles access to partitions, organizations and their secrets', async () => {
    const [month] = await stack.database.query<{ name: string }>(
      'select tableoid::regclass::text as name from caudal.payins limit 1',
    );
    expect(month?.name).toMatch(/^caudal\.payins_\d{6}$/);
    for (const role of ['readUrl', 'batchUrl'] as const) {
      const client = await connectAs(role);
      const set =
        role === 'readUrl'
          ? `set local caudal.organization_id = '${idOfA()}'`
          : `set local caudal.organization_ids = '{${idOfA()}}'`;
      for (const table of [
        month?.name ?? '',
        'caudal.organizations',
        'caudal.organization_keys',
        'caudal.api_keys',
        'caudal.access_tokens',
        'caudal.credential_changes',
      ])
        expect(
          await sqlState(() => inTransaction(client, set, () => client.query(`select * from ${table}`))),
        ).toBe('42501');
      for (const call of [
        'select caudal.make_months(now())',
        "select caudal.shift_time('1 hour')",
        'set local role caudal_system',
        'set local role postgres',
        'set local row_security = off; select * from caudal.payins',
      ])
        expect([call, await sqlState(() => inTransaction(client, null, () => client.query(call)))]).toEqual([
          call,
          '42501',
        ]);
    }
  });

  it('drops the setting at the end of the transaction: the next user of a connection sees nothing', async () => {
    const client = await connectAs('readUrl');
    await client.query(`begin read only; set local caudal.organization_id = '${idOfA()}'`);
    const within = await client.query('select id from caudal.payins');
    await client.query('commit');
    const after = await client.query('select id from caudal.payins');
    expect([within.rowCount, after.rowCount]).toEqual([PAYINS_OF_A, 0]);
  });
});

describe('application isolation, over connections without row-level security', () => {
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

  it('has no database isolation behind it: the same connections see everything', async () => {
    const rows = await deps.read.read(idOfB(), (tx) =>
      tx.query({ name: 'test.all', text: 'select id from caudal.payins' }),
    );
    expect(rows.length).toBeGreaterThanOrEqual(PAYINS_OF_A);
  });

  it("does not find A's payins for B", async () => {
    for (const { id } of payinsOfA.slice(0, 10)) {
      await expect(readPayin(deps, b.principal, id)).rejects.toMatchObject({ code: 'not_found' });
      expect((await readPayin(deps, a.principal, id)).id).toBe(id);
    }
  });

  it("never lists A's payins for B: not all, not by reference, not from a position in A's list", async () => {
    const [first] = payinsOfA;
    const filters: Parameters<typeof readPayinPage>[2][] = [
      {},
      { rail: 'BRE_B' },
      { status: 'PROCESSING' },
      { reference: String(first?.body['reference']) },
      { createdFrom: new Date(0), createdTo: new Date('2100-01-01') },
    ];
    const positions = [
      null,
      { direction: 'older', id: 'ffffffff-ffff-7fff-8fff-ffffffffffff' },
      { direction: 'newer', id: '00000000-0000-7000-8000-000000000000' },
    ] as const;
    for (const filter of filters) {
      for (const position of positions) {
        const page = await readPayinPage(deps, b.principal, filter, position, 100);
        expect(page).toEqual({ items: [], hasNext: false, hasPrevious: false });
        const own = await readPayinPage(deps, a.principal, filter, position, 100);
        expect(own.items.length).toBe(filter.reference === undefined ? PAYINS_OF_A : 1);
      }
    }
  });

  it("creates B's own payins under A's references and keys", async () => {
    const { principal } = await caudal.newOrganization();
    const pse = new PseOpener(deps);
    const payins = new PayinCreator(deps, pse, new CollectionStarter(pse, () => undefined));
    const answers = await Promise.all(
      payinsOfA.slice(0, 10).map(({ body, key }) =>
        payins.create(
          principal,
          {
            amount: cents(Number(body['amountInCents'])),
            reference: String(body['reference']),
            customer: null,
            metadata: null,
            callbackUrl: null,
            method: { rail: 'BRE_B', keyType: 'SINGLE_USE' },
          },
          { key, body },
        ),
      ),
    );
    await payins.close();
    const ids = new Set(payinsOfA.map(({ id }) => id));
    for (const { payin, replayed } of answers) {
      expect(replayed).toBe(false);
      expect(payin.organizationId).toBe(principal.organization.id);
      expect(ids.has(payin.id)).toBe(false);
    }
  });
});

describe('both isolation layers, over HTTP', () => {
  /** A problem without the fields that differ per request. */
  function comparableBody(answer: ApiResponse): string {
    return JSON.stringify({ ...answer.body, requestId: null, instance: null });
  }

  function headers(answer: ApiResponse): [string, string][] {
    return [...answer.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
  }

  it("return the same 404 to B for A's IDs and for unknown IDs", async () => {
    const unknown = await b.api.get(`/payins/${randomUUID()}`);
    expect(unknown.status).toBe(404);
    const answers = await Promise.all(payinsOfA.map(({ id }) => b.api.get(`/payins/${id}`)));
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(comparableBody(answer)).toBe(comparableBody(unknown));
      expect(headers(answer)).toEqual(headers(unknown));
    }
  });

  it("reject A's cursors from B like invalid cursors", async () => {
    const cursors: string[] = [];
    for (let next = ''; ; ) {
      const page = await a.api.get<{
        pageInfo: { nextCursor: string | null; previousCursor: string | null };
      }>(`/payins?pageSize=2${next}`);
      const { nextCursor, previousCursor } = page.body.pageInfo;
      for (const cursor of [nextCursor, previousCursor]) if (cursor !== null) cursors.push(cursor);
      if (nextCursor === null) break;
      next = `&cursor=${nextCursor}`;
    }
    expect(cursors.length).toBe(58);
    const unknown = await b.api.get(`/payins?pageSize=2&cursor=${'A'.repeat(39)}`);
    expect(unknown.body['code']).toBe('cursor_invalid');
    for (const answer of await Promise.all(
      cursors.map((cursor) => b.api.get(`/payins?pageSize=2&cursor=${cursor}`)),
    )) {
      expect(answer.status).toBe(400);
      expect(comparableBody(answer)).toBe(comparableBody(unknown));
    }
  });

  it("list nothing to B for A's references", async () => {
    const answers = await Promise.all(
      payinsOfA.map(({ body }) =>
        b.api.get(`/payins?reference=${encodeURIComponent(String(body['reference']))}`),
      ),
    );
    for (const answer of answers) expect(answer.body['data']).toEqual([]);
    expect((await b.api.get('/payins?pageSize=100')).body['data']).toEqual([]);
  });

  it("create B's own payins under A's idempotency keys and bodies, never a replay of A's", async () => {
    const answers = await Promise.all(
      payinsOfA.map(({ body, key }) => b.api.post('/payins', body, { 'idempotency-key': key })),
    );
    const ids = new Set(payinsOfA.map(({ id }) => id));
    for (const answer of answers) {
      expect(answer.status).toBe(201);
      expect(answer.headers.get('idempotent-replayed')).toBeNull();
      expect(answer.body['organizationId']).toBe(idOfB());
      expect(ids.has(String(answer.body['id']))).toBe(false);
    }
  });

  it("do not reveal A's keys and references through conflicts or mismatches", async () => {
    const { apiKey } = await caudal.newOrganization();
    const c = stack.api.as(apiKey);
    const answers = await Promise.all(
      payinsOfA.flatMap(({ body, key }) => [
        c.post('/payins', { ...body, reference: newReference() }, { 'idempotency-key': key }),
        c.post('/payins', body),
      ]),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201]));
  });

  it("leave A's payins unchanged", async () => {
    const page = await a.api.get<{ data: { id: string }[] }>('/payins?pageSize=100');
    expect(page.body.data.map(({ id }) => id).toSorted()).toEqual(payinsOfA.map(({ id }) => id).toSorted());
    for (const { body, key, id } of payinsOfA.slice(0, 10)) {
      const repeat = await a.api.post('/payins', body, { 'idempotency-key': key });
      expect([repeat.status, repeat.body['id']]).toEqual([201, id]);
    }
  });
});
