import { Client } from 'pg';
import { afterEach, describe, expect, inject, it } from 'vitest';
import { OWNER } from '../../../scripts/stack/postgres.ts';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { readConfig } from '../../src/config.ts';
import { tryLogin } from '../../src/db/login.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { type EmptyDatabase, emptyDatabase } from '../harness/empty-database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { type ExitResult, runToEnd } from '../harness/run-server.ts';

// Each test starts several processes in sequence.

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});

async function createEmptyDatabase(): Promise<EmptyDatabase> {
  const database = await emptyDatabase();
  cleanups.push(() => database.drop());
  return database;
}

async function cloneTemplate(): Promise<TestDatabase> {
  const database = await cloneDatabase();
  cleanups.push(() => database.drop());
  return database;
}

function settingsOf(database: EmptyDatabase): Record<string, string> {
  return { ...settingsFor(database.ownerUrl), CAUDAL_DATABASE_ROLE_PREFIX: database.rolePrefix };
}

function migrate(settings: Record<string, string>): Promise<ExitResult> {
  return runToEnd(['migrate'], settings);
}

/** Login result of each server role with the passwords of these settings. */
async function tryLogins(settings: Record<string, string>): Promise<string[]> {
  const { readUrl, batchUrl, systemUrl } = readConfig('operator', settings).database;
  const tried = await Promise.all([readUrl, batchUrl, systemUrl].map((url) => tryLogin(url, PATIENCE_MS)));
  return tried.map(({ kind }) => kind);
}

const ALL_LOGGED_IN = ['connected', 'connected', 'connected'];

/** Changes whenever a role or its password is altered. */
function roleVersions(database: TestDatabase, prefix: string): Promise<object[]> {
  return database.query(
    'select rolname, rolpassword, xmin::text from pg_authid where rolname = any ($1) order by 1',
    [['read', 'batch', 'system'].map((kind) => `${prefix}_${kind}`)],
  );
}

const OTHER_KEY = { CAUDAL_MASTER_KEY: 'dev-another-master-key-of-one-machine' };

describe('migrate by an owner with only CREATEROLE and CREATEDB', () => {
  it('succeeds repeatedly and does not alter correct roles', async () => {
    const database = await createEmptyDatabase();
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
    const settings = settingsOf(database);
    expect(await migrate(settings)).toMatchObject({ code: 0, stderr: '' });
    const before = await roleVersions(database, database.rolePrefix);
    expect(before).toHaveLength(3);
    expect(await migrate(settings)).toMatchObject({ code: 0, stderr: '' });
    expect(await roleVersions(database, database.rolePrefix)).toEqual(before);
    expect(await tryLogins(settings)).toEqual(ALL_LOGGED_IN);
  });

  it('changes a password that differs from the configured one', async () => {
    const database = await createEmptyDatabase();
    await migrate(settingsOf(database));
    const rotated = { ...settingsOf(database), ...OTHER_KEY };
    expect(await tryLogins(rotated)).toEqual(['wrong_password', 'wrong_password', 'wrong_password']);
    expect(await migrate(rotated)).toMatchObject({ code: 0, stderr: '' });
    expect(await tryLogins(rotated)).toEqual(ALL_LOGGED_IN);
  });

  it('rejects a role that is a superuser, bypasses row-level security or cannot log in, with the command to run', async () => {
    const database = await createEmptyDatabase();
    const { rolePrefix } = database;
    await migrate(settingsOf(database));
    await database.query(`alter role ${rolePrefix}_read superuser`);
    await database.query(`alter role ${rolePrefix}_batch bypassrls`);
    await database.query(`alter role ${rolePrefix}_system nologin`);
    const { code, stderr } = await migrate(settingsOf(database));
    expect(code).toBe(1);
    expect(stderr).toContain(`alter role ${rolePrefix}_read nosuperuser`);
    expect(stderr).toContain(`alter role ${rolePrefix}_batch nobypassrls`);
    expect(stderr).toContain(`alter role ${rolePrefix}_system login`);
  });

  it('names the missing privilege when the owner cannot create roles', async () => {
    const database = await createEmptyDatabase();
    const owner = `${database.name}_owner`;
    await database.query(`create role ${owner} login password 'dev-poor'`);
    await database.query(`alter database ${database.name} owner to ${owner}`);
    cleanups.push(async () => {
      const admin = new Client({ connectionString: inject('postgres').adminUrl });
      await admin.connect();
      await admin.query(`drop role if exists ${owner}`);
      await admin.end();
    });
    // The database is dropped before its owner.
    cleanups.push(() => database.drop());
    const url = new URL(database.ownerUrl);
    url.username = owner;
    url.password = 'dev-poor';
    const { code, stderr } = await migrate({ ...settingsOf(database), DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(stderr).toContain('permission denied to create role');
    expect(stderr).toContain(`alter role ${owner} createrole`);
  });
});

describe('two deployments in one cluster', () => {
  it('do not share roles: migrate rejects those of the other, names its database and changes nothing', async () => {
    const first = await createEmptyDatabase();
    const second = await createEmptyDatabase();
    const firstSettings = settingsOf(first);
    await migrate(firstSettings);
    const before = await roleVersions(first, first.rolePrefix);
    const otherDeployment = {
      ...settingsFor(second.ownerUrl),
      ...OTHER_KEY,
      CAUDAL_DATABASE_ROLE_PREFIX: first.rolePrefix,
    };
    const { code, stderr } = await migrate(otherDeployment);
    expect(code).toBe(1);
    expect(stderr).toContain(`belongs to another deployment, in the database "${first.name}"`);
    expect(stderr).toContain('set CAUDAL_DATABASE_ROLE_PREFIX');
    expect(await roleVersions(first, first.rolePrefix)).toEqual(before);
    expect(await tryLogins(firstSettings)).toEqual(ALL_LOGGED_IN);
    expect(await second.query("select from pg_namespace where nspname like 'caudal%'")).toEqual([]);
  });

  it('work side by side with their own prefixes', async () => {
    const [first, second] = [await createEmptyDatabase(), await createEmptyDatabase()];
    const results = await Promise.all([migrate(settingsOf(first)), migrate(settingsOf(second))]);
    for (const result of results) expect(result).toMatchObject({ code: 0, stderr: '' });
    for (const [database, other] of [
      [first, second],
      [second, first],
    ] as const) {
      expect(await tryLogins(settingsOf(database))).toEqual(ALL_LOGGED_IN);
      const holders = await database.query<{ role: string }>(
        `select distinct r.role::text from pg_policy p cross join unnest(p.polroles) role_oid
         join lateral (select pg_get_userbyid(role_oid) as role) r on true order by 1`,
      );
      // The owner runs caudal.reencrypt().
      expect(holders.map(({ role }) => role)).toEqual([
        OWNER,
        ...['backup', 'batch', 'read', 'system'].map((kind) => `${database.rolePrefix}_${kind}`),
      ]);
      expect(JSON.stringify(holders)).not.toContain(other.rolePrefix);
    }
  });

  it('keep their prefix: migrate rejects another one', async () => {
    const database = await createEmptyDatabase();
    await migrate(settingsOf(database));
    const { code, stderr } = await migrate(settingsFor(database.ownerUrl));
    expect(code).toBe(1);
    expect(stderr).toContain(`set CAUDAL_DATABASE_ROLE_PREFIX=${database.rolePrefix}`);
  });
});

describe('a copy of a database in the same cluster', () => {
  it('belongs to the same deployment and is migrated', async () => {
    const copy = await cloneTemplate();
    expect(await migrate(settingsFor(copy.ownerUrl))).toMatchObject({ code: 0, stderr: '' });
  });

  it('cannot change the passwords that the original uses', async () => {
    const copy = await cloneTemplate();
    const before = await roleVersions(copy, 'caudal');
    const { code, stderr } = await migrate({ ...settingsFor(copy.ownerUrl), ...OTHER_KEY });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /password of the role caudal_read differs from the configured one.*uses the role too/,
    );
    expect(await roleVersions(copy, 'caudal')).toEqual(before);
  });
});

describe('roles that already exist', () => {
  it('are adopted when no other database uses them', async () => {
    const database = await createEmptyDatabase();
    for (const kind of ['read', 'batch', 'system', 'backup'])
      await query(database.ownerUrl, `create role ${database.rolePrefix}_${kind} login`);
    const settings = settingsOf(database);
    expect(await migrate(settings)).toMatchObject({ code: 0, stderr: '' });
    expect(await tryLogins(settings)).toEqual(ALL_LOGGED_IN);
  });

  it('are rejected when another database uses them and their deployment is unknown', async () => {
    const database = await createEmptyDatabase();
    const role = `${database.rolePrefix}_read`;
    await query(
      inject('postgres').adminUrl,
      `create role ${role} login; grant connect on database postgres to ${role}`,
    );
    cleanups.push(() =>
      query(inject('postgres').adminUrl, `revoke connect on database postgres from ${role}`),
    );
    const { code, stderr } = await migrate(settingsOf(database));
    expect(code).toBe(1);
    expect(stderr).toContain(`the role ${role} has privileges in the database "postgres" and no comment`);
    expect(await database.query("select from pg_namespace where nspname like 'caudal%'")).toEqual([]);
  });
});

async function query(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}
