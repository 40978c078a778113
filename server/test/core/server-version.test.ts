import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { versionError } from '../../src/db/server-version.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { runToEnd } from '../harness/run-server.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database?.drop());

/** Makes the database report this version, with a function that shadows PostgreSQL's own. */
async function fakeVersion(versionNumber: number): Promise<void> {
  await database.query(`
    create schema if not exists pretended;
    grant usage on schema pretended to public;
    create or replace function pretended.current_setting(name text) returns text language sql stable as
      $$ select case when name = 'server_version_num' then '${versionNumber}' else pg_catalog.current_setting(name) end $$;
    alter database ${database.name} set search_path = pretended, pg_catalog`);
}

describe('a PostgreSQL version', () => {
  it('is supported from 15 to 18', () => {
    expect([150_000, 150_018, 160_004, 170_002, 180_004].map(versionError)).toEqual(
      Array.from({ length: 5 }, () => null),
    );
    expect(versionError(140_012)).toBe('PostgreSQL 14 is not supported: use a version from 15 to 18');
    expect(versionError(190_000)).toContain('PostgreSQL 19 is not supported');
  });

  it('that is unsupported is rejected by migrate, by a starting process and by doctor', async () => {
    const settings = settingsFor(database.ownerUrl);
    await fakeVersion(140_012);
    const [migrate, api] = await Promise.all([runToEnd(['migrate'], settings), runToEnd(['api'], settings)]);
    for (const { code, stderr } of [migrate, api]) {
      expect(code).toBe(1);
      expect(stderr).toContain('PostgreSQL 14 is not supported: use a version from 15 to 18');
    }
    const doctor = await runOperatorCommand(settings, 'doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/fail {2}version +PostgreSQL 14 is not supported/);
  });
});
