import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { runServerCommand, startServer } from '../../../scripts/stack/processes.ts';
import { type EmptyDatabase, emptyDatabase } from '../harness/empty-database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { runToEnd } from '../harness/run-server.ts';
import { until } from '../harness/until.ts';

let database: EmptyDatabase;
let settings: Record<string, string>;
let api: Child;
beforeAll(async () => {
  // A separate deployment, because other tests use the roles of the template.
  database = await emptyDatabase();
  settings = { ...settingsFor(database.ownerUrl), CAUDAL_DATABASE_ROLE_PREFIX: database.rolePrefix };
  await runServerCommand(['migrate'], settings);
  api = await startServer('api', settings);
});
afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

async function readiness(): Promise<{ status: number; reasons: readonly unknown[] }> {
  const answer = await fetch(`http://127.0.0.1:${String(api.ready['opsPort'])}/readyz`);
  const { reasons } = (await answer.json()) as { reasons: readonly unknown[] };
  return { status: answer.status, reasons };
}

describe('a login that PostgreSQL rejects', () => {
  it('is reported by /readyz, by doctor and by a starting process', async () => {
    expect(await readiness()).toEqual({ status: 200, reasons: [] });
    await database.query(`alter role ${database.rolePrefix}_system password 'changed by somebody'`);
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${database.rolePrefix}_system'`,
    );
    await until('the process is unready because of the login', async () => {
      const { status, reasons } = await readiness();
      return (
        status === 503 &&
        JSON.stringify(reasons).includes(`rejects the login of ${database.rolePrefix}_system`)
      );
    });
    const doctor = await runOperatorCommand(settings, 'doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(`as ${database.rolePrefix}_system: wrong password`);
    const starting = await runToEnd(['api'], settings);
    expect(starting.code).toBe(1);
    expect(starting.stderr).toContain('its roles have other passwords');
  });

  it('of a role other than the system role prevents a start', async () => {
    const { rolePrefix } = database;
    await runServerCommand(['migrate'], settings);
    await database.query(`alter role ${rolePrefix}_read password 'changed by somebody'`);
    const starting = await runToEnd(['api'], settings);
    expect(starting.code).toBe(1);
    expect(starting.stderr).toContain(`PostgreSQL rejects the login of ${rolePrefix}_read`);
    await runServerCommand(['migrate'], settings);
    await until('the process is ready', async () => (await readiness()).status === 200);
  });
});
