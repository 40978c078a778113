import { Client } from 'pg';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { OWNER } from '../../../scripts/stack/postgres.ts';
import { readConfig } from '../../src/config.ts';
import { tryLogin } from '../../src/db/login.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { type EmptyDatabase, emptyDatabase } from '../harness/empty-database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { type Ended, runToEnd } from '../harness/run-server.ts';

// Each test starts several processes, one after the other.
vi.setConfig({ testTimeout: 90_000 });

const later: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const undo of later.splice(0).reverse()) await undo();
});

async function empty(): Promise<EmptyDatabase> {
  const database = await emptyDatabase();
  later.push(() => database.drop());
  return database;
}

async function copyOfTemplate(): Promise<TestDatabase> {
  const database = await cloneDatabase();
  later.push(() => database.drop());
  return database;
}

function ownSettings(database: EmptyDatabase): Record<string, string> {
  return { ...settingsFor(database.ownerUrl), CAUDAL_DATABASE_ROLE_PREFIX: database.rolePrefix };
}

function migrate(settings: Record<string, string>): Promise<Ended> {
  return runToEnd(['migrate'], settings, undefined, 40_000);
}

/** How each role of the server gets in with the passwords of these settings. */
async function logins(settings: Record<string, string>): Promise<string[]> {
  const { readUrl, batchUrl, systemUrl } = readConfig('operator', settings).database;
  const tried = await Promise.all([readUrl, batchUrl, systemUrl].map((url) => tryLogin(url, 5000)));
  return tried.map(({ kind }) => kind);
}

const ALL_IN = ['in', 'in', 'in'];

/** Changes whenever a role is altered, and with its password. */
function roleVersions(database: TestDatabase, prefix: string): Promise<object[]> {
  return database.query(
    'select rolname, rolpassword, xmin::text from pg_authid where rolname = any ($1) order by 1',
    [['read', 'batch', 'system'].map((kind) => `${prefix}_${kind}`)],
  );
}

const OTHER_KEY = { CAUDAL_MASTER_KEY: 'dev-another-master-key-of-one-machine' };

describe('migrate by an owner with CREATEROLE and CREATEDB and nothing else', () => {
  it('succeeds again and again, and leaves roles alone that are as they should be', async () => {
    const database = await empty();
    const [rights] = await database.query(
      'select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb from pg_roles where rolname = $1',
      [OWNER],
    );
    expect(rights).toEqual({
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: true,
      rolcreatedb: true,
    });
    const settings = ownSettings(database);
    expect(await migrate(settings)).toMatchObject({ code: 0, stderr: '' });
    const before = await roleVersions(database, database.rolePrefix);
    expect(before).toHaveLength(3);
    expect(await migrate(settings)).toMatchObject({ code: 0, stderr: '' });
    expect(await roleVersions(database, database.rolePrefix)).toEqual(before);
    expect(await logins(settings)).toEqual(ALL_IN);
  });

  it('changes a password that differs from the configured one', async () => {
    const database = await empty();
    await migrate(ownSettings(database));
    const rotated = { ...ownSettings(database), ...OTHER_KEY };
    expect(await logins(rotated)).toEqual(['password', 'password', 'password']);
    expect(await migrate(rotated)).toMatchObject({ code: 0, stderr: '' });
    expect(await logins(rotated)).toEqual(ALL_IN);
  });

  it('refuses a role that is a superuser, bypasses row-level security or may not log in, and says what to type', async () => {
    const database = await empty();
    const { rolePrefix } = database;
    await migrate(ownSettings(database));
    await database.query(`alter role ${rolePrefix}_read superuser`);
    await database.query(`alter role ${rolePrefix}_batch bypassrls`);
    await database.query(`alter role ${rolePrefix}_system nologin`);
    const { code, stderr } = await migrate(ownSettings(database));
    expect(code).toBe(1);
    expect(stderr).toContain(`alter role ${rolePrefix}_read nosuperuser`);
    expect(stderr).toContain(`alter role ${rolePrefix}_batch nobypassrls`);
    expect(stderr).toContain(`alter role ${rolePrefix}_system login`);
  });

  it('names the missing right when the owner may not create roles', async () => {
    const database = await empty();
    const owner = `${database.name}_owner`;
    await database.query(`create role ${owner} login password 'dev-poor'`);
    await database.query(`alter database ${database.name} owner to ${owner}`);
    later.push(async () => {
      const admin = new Client({ connectionString: inject('postgres').adminUrl });
      await admin.connect();
      await admin.query(`drop role if exists ${owner}`);
      await admin.end();
    });
    // The database first, then its owner.
    later.push(() => database.drop());
    const url = new URL(database.ownerUrl);
    url.username = owner;
    url.password = 'dev-poor';
    const { code, stderr } = await migrate({ ...ownSettings(database), DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(stderr).toContain('permission denied to create role');
    expect(stderr).toContain(`alter role ${owner} createrole`);
  });
});

describe('two deployments in one cluster', () => {
  it('do not share roles: migrate refuses those of the other, names its database and changes nothing', async () => {
    const first = await empty();
    const second = await empty();
    const firstSettings = ownSettings(first);
    await migrate(firstSettings);
    const before = await roleVersions(first, first.rolePrefix);
    const intruder = {
      ...settingsFor(second.ownerUrl),
      ...OTHER_KEY,
      CAUDAL_DATABASE_ROLE_PREFIX: first.rolePrefix,
    };
    const { code, stderr } = await migrate(intruder);
    expect(code).toBe(1);
    expect(stderr).toContain(`belongs to another deployment, in the database "${first.name}"`);
    expect(stderr).toContain('set CAUDAL_DATABASE_ROLE_PREFIX');
    expect(await roleVersions(first, first.rolePrefix)).toEqual(before);
    expect(await logins(firstSettings)).toEqual(ALL_IN);
    expect(await second.query("select from pg_namespace where nspname like 'caudal%'")).toEqual([]);
  });

  it('work beside each other under prefixes of their own', async () => {
    const [first, second] = [await empty(), await empty()];
    const ends = await Promise.all([migrate(ownSettings(first)), migrate(ownSettings(second))]);
    for (const end of ends) expect(end).toMatchObject({ code: 0, stderr: '' });
    for (const [database, other] of [
      [first, second],
      [second, first],
    ] as const) {
      expect(await logins(ownSettings(database))).toEqual(ALL_IN);
      const holders = await database.query<{ role: string }>(
        `select distinct r.role::text from pg_policy p cross join unnest(p.polroles) role_oid
         join lateral (select pg_get_userbyid(role_oid) as role) r on true order by 1`,
      );
      expect(holders.map(({ role }) => role)).toEqual(
        ['backup', 'batch', 'read', 'system'].map((kind) => `${database.rolePrefix}_${kind}`),
      );
      expect(JSON.stringify(holders)).not.toContain(other.rolePrefix);
    }
  });

  it('keep their prefix: a database refuses another one than it was migrated with', async () => {
    const database = await empty();
    await migrate(ownSettings(database));
    const { code, stderr } = await migrate(settingsFor(database.ownerUrl));
    expect(code).toBe(1);
    expect(stderr).toContain(`set CAUDAL_DATABASE_ROLE_PREFIX=${database.rolePrefix}`);
  });
});

describe('a copy of a database in the same cluster', () => {
  it('belongs to the same deployment and is migrated', async () => {
    const copy = await copyOfTemplate();
    expect(await migrate(settingsFor(copy.ownerUrl))).toMatchObject({ code: 0, stderr: '' });
  });

  it('cannot change the passwords that the original uses', async () => {
    const copy = await copyOfTemplate();
    const before = await roleVersions(copy, 'caudal');
    const { code, stderr } = await migrate({ ...settingsFor(copy.ownerUrl), ...OTHER_KEY });
    expect(code).toBe(1);
    expect(stderr).toMatch(/caudal_read has another password than configured.*uses it too/);
    expect(await roleVersions(copy, 'caudal')).toEqual(before);
  });
});

describe('roles that are there already', () => {
  it('are taken when no other database uses them', async () => {
    const database = await empty();
    for (const kind of ['read', 'batch', 'system', 'backup'])
      await query(database.ownerUrl, `create role ${database.rolePrefix}_${kind} login`);
    const settings = ownSettings(database);
    expect(await migrate(settings)).toMatchObject({ code: 0, stderr: '' });
    expect(await logins(settings)).toEqual(ALL_IN);
  });

  it('are refused when another database uses them and nothing says whose they are', async () => {
    const database = await empty();
    const role = `${database.rolePrefix}_read`;
    await query(
      inject('postgres').adminUrl,
      `create role ${role} login; grant connect on database postgres to ${role}`,
    );
    later.push(() => query(inject('postgres').adminUrl, `revoke connect on database postgres from ${role}`));
    const { code, stderr } = await migrate(ownSettings(database));
    expect(code).toBe(1);
    expect(stderr).toContain(`the role ${role} has rights in the database "postgres" and does not say`);
    expect(await database.query("select from pg_namespace where nspname like 'caudal%'")).toEqual([]);
  });
});

async function query(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}
