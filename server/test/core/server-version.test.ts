import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { versionFault } from '../../src/db/server-version.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { runToEnd } from '../harness/run-server.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database?.drop());

/** The database reports this version from now on: a function found before PostgreSQL's own. */
async function pretendVersion(versionNumber: number): Promise<void> {
  await database.query(`
    create schema if not exists pretended;
    grant usage on schema pretended to public;
    create or replace function pretended.current_setting(name text) returns text language sql stable as
      $$ select case when name = 'server_version_num' then '${versionNumber}' else pg_catalog.current_setting(name) end $$;
    alter database ${database.name} set search_path = pretended, pg_catalog`);
}

describe('a version of PostgreSQL', () => {
  it('from 15 to 18 is supported, and no other', () => {
    expect([150_000, 150_018, 160_004, 170_002, 180_004].map(versionFault)).toEqual(
      Array.from({ length: 5 }, () => null),
    );
    expect(versionFault(140_012)).toBe('PostgreSQL 14 is not supported: use a version from 15 to 18');
    expect(versionFault(190_000)).toContain('PostgreSQL 19 is not supported');
  });

  it('that is not supported is refused by migrate, by a starting process and by doctor', async () => {
    const settings = settingsFor(database.ownerUrl);
    await pretendVersion(140_012);
    const [migrate, api] = await Promise.all([runToEnd(['migrate'], settings), runToEnd(['api'], settings)]);
    for (const { code, stderr } of [migrate, api]) {
      expect(code).toBe(1);
      expect(stderr).toContain('PostgreSQL 14 is not supported: use a version from 15 to 18');
    }
    const doctor = await runOperatorCommand(settings, 'doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/fail {2}version +PostgreSQL 14 is not supported/);
  }, 60_000);
});
