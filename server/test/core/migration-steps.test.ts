import { createHash } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrationSteps, parseIndex } from '../../src/db/migration-steps.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { runToEnd } from '../harness/run-server.ts';
import { copyServer, type ServerCopy } from '../harness/server-copy.ts';

const NAME = '0900_steps.sql';
const STEPS = `-- schema: expand
-- Colors of payins.

-- step
alter table caudal.payins add column color text;
alter table caudal.payins add constraint color_known check (color in ('red', 'blue')) not valid;

-- step: index
create index payins_color on caudal.payins (organization_id, color)
  where color is not null;

-- step: index
create index webhook_endpoints_created on caudal.webhook_endpoints (created_at);

-- step: repeat
update caudal.monthly_tables set detachable = not detachable
where name in (select name from caudal.monthly_tables where name = 'colors' limit 1);

-- step
alter table caudal.payins validate constraint color_known;
`;

const CHECKSUM = createHash('sha256').update(STEPS).digest('hex');
const FIRST_STEP = STEPS.slice(STEPS.indexOf('alter table'), STEPS.indexOf('-- step: index'));

describe('the steps of a migration', () => {
  it('are split at their lines, and a migration without them is one transaction', () => {
    expect(migrationSteps(NAME, STEPS)?.map(({ kind }) => kind)).toEqual([
      'transaction',
      'index',
      'index',
      'repeat',
      'transaction',
    ]);
    expect(migrationSteps(NAME, '-- schema: expand\nselect 1;')).toBeNull();
  });

  it.each([
    ['-- schema: expand\n-- step: later\nselect 1;', 'is not "-- step"'],
    ['-- schema: expand\nselect 1;\n-- step\nselect 2;', 'statements before its first'],
  ])('rejects %s', (text, message) => {
    expect(() => migrationSteps(NAME, text)).toThrow(message);
  });

  it.each([
    'create index on caudal.payins (id);',
    'create index x on payins (id);',
    'create index x on caudal.payins (id); drop table caudal.payins;',
    'create index concurrently x on caudal.payins (id);',
  ])('rejects the index step %s', (text) => {
    expect(() => parseIndex(NAME, text)).toThrow('must be one statement');
  });
});

describe('migrate with steps', () => {
  let database: TestDatabase;
  let newer: ServerCopy;
  let settings: Record<string, string>;
  beforeAll(async () => {
    database = await cloneDatabase();
    newer = copyServer();
    newer.writeMigration(NAME, STEPS);
    settings = settingsFor(database.ownerUrl);
  });
  afterAll(async () => {
    newer?.remove();
    await database?.drop();
  });

  const readSteps = () =>
    database.query<{ step: number }>('select step from caudal_meta.migration_steps order by step');

  it('stops at a step that cannot get its lock, keeps the earlier ones, and continues when it is run again', async () => {
    // A transaction that has written payins: it blocks the index on the parent, not the first step, which is applied already.
    const reader = new Client({ connectionString: database.url });
    await reader.connect();
    await database.query(FIRST_STEP);
    await database.query(
      'insert into caudal_meta.migration_steps (name, step, checksum) values ($1, 0, $2)',
      [NAME, CHECKSUM],
    );
    await reader.query('begin; lock table caudal.payins in row exclusive mode');
    const stopped = await runToEnd(
      ['migrate'],
      { ...settings, CAUDAL_MIGRATE_LOCK_WAIT_SECONDS: '2' },
      newer.main,
    );
    await reader.end();
    expect(stopped.code).toBe(1);
    expect(stopped.stderr).toContain(`migration ${NAME} was not applied: for 2 s other sessions held a lock`);
    expect(await readSteps()).toEqual([{ step: 0 }]);
    const completed = await runToEnd(['migrate'], settings, newer.main);
    expect(completed).toMatchObject({ stderr: '', code: 0 });
    expect(await readSteps()).toEqual([]);
    expect(
      await database.query('select compatible_from from caudal_meta.migrations where name = $1', [NAME]),
    ).toEqual([{ compatible_from: 16 }]);
    const indexes = await database.query<{ valid: boolean; children: number }>(
      `select i.indisvalid as valid, (select count(*)::int from pg_inherits where inhparent = i.indexrelid) as children
       from pg_index i where i.indexrelid in ('caudal.payins_color'::regclass, 'caudal.webhook_endpoints_created'::regclass)
       order by 2`,
    );
    const [months] = await database.query<{ count: number }>(
      "select count(*)::int as count from pg_inherits where inhparent = 'caudal.payins'::regclass",
    );
    expect(indexes).toEqual([
      { valid: true, children: 0 },
      { valid: true, children: months?.count },
    ]);
    expect(
      await database.query(
        "select bool_and(convalidated) as validated from pg_constraint where conname = 'color_known'",
      ),
    ).toEqual([{ validated: true }]);
  });

  it('builds an index again that an interrupted run left invalid', async () => {
    const child = await database.query<{ name: string }>(
      `select c.relname::text as name from pg_inherits p join pg_class c on c.oid = p.inhrelid
       where p.inhparent = 'caudal.payins'::regclass order by 1 limit 1`,
    );
    await database.query('drop index caudal.payins_color');
    await database.query(
      `create index ${child[0]?.name}_color on caudal.${child[0]?.name} (organization_id, color) where color is not null`,
    );
    await database.query(
      `update pg_index set indisvalid = false where indexrelid = 'caudal.${child[0]?.name}_color'::regclass`,
    );
    await database.query('delete from caudal_meta.migrations where name = $1', [NAME]);
    await database.query(
      `insert into caudal_meta.migration_steps (name, step, checksum)
       select $1, step, $2 from unnest(array[0, 2, 3, 4]) step`,
      [NAME, CHECKSUM],
    );
    expect(await runToEnd(['migrate'], settings, newer.main)).toMatchObject({ stderr: '', code: 0 });
    expect(
      await database.query(
        "select indisvalid from pg_index where indexrelid = 'caudal.payins_color'::regclass",
      ),
    ).toEqual([{ indisvalid: true }]);
  });
});
