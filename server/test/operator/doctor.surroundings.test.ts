import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { PATIENT_SETTINGS, PRODUCTION_DEADLINES } from '../../../scripts/testing/patient-settings.ts';
import type { TestDatabase } from '../harness/database.ts';
import { startOwnCluster } from '../harness/own-cluster.ts';
import { until } from '../harness/until.ts';
import { runDoctor } from './doctor-report.ts';

let folder: string;
let database: TestDatabase;
let settings: Record<string, string>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'caudal-archive-'));
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o755);
  database = await startOwnCluster({ archive_mode: 'on', archive_command: `test ! -e ${folder}/full` });
  const nowhere = 'http://127.0.0.1:1';
  settings = {
    ...serverSettings({ databaseUrl: database.ownerUrl, simulatorUrl: nowhere, baseUrl: nowhere }),
    ...PATIENT_SETTINGS,
    CAUDAL_LOG_LEVEL: 'warn',
  };
});
afterAll(async () => {
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Ends a segment and waits until the archiver has tried it. */
async function archived(condition: string): Promise<void> {
  await database.query("select pg_logical_emit_message(true, 'test', 'test')");
  await database.query('select pg_switch_wal()');
  await until(
    `pg_stat_archiver has ${condition}`,
    async () => (await database.query(`select from pg_stat_archiver where ${condition}`)).length > 0,
  );
}

describe('the surroundings of the database', () => {
  it('a failing archive is a warning and a metric, and the process stays ready', async () => {
    await archived('archived_count > 0');
    expect((await runDoctor(settings)).check('archive')).toMatchObject({ status: 'ok' });
    writeFileSync(join(folder, 'full'), '');
    await archived('last_failed_time > last_archived_time');
    const server = await startServer('api', { ...settings, CAUDAL_PORT: '0' });
    const ops = `http://127.0.0.1:${String(server.ready['opsPort'])}`;
    expect((await fetch(`${ops}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${ops}/metrics`)).text();
    expect(metrics).toContain('\ncaudal_database_archive_failing 1\n');
    expect(metrics).toMatch(/^caudal_database_archive_last_success_timestamp_seconds [1-9]/m);
    expect(await server.stop()).toBe(0);
    expect((await runDoctor(settings)).check('archive')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(
        /^the last attempt to archive a WAL segment failed \(archived: the last/,
      ),
    });
  });

  it('a synchronous standby that is required and not connected is a warning', async () => {
    await database.query("alter system set synchronous_standby_names = 'absent'");
    await database.query('select pg_reload_conf()');
    const report = await until('doctor sees the setting', async () => {
      // Its test write waits for the standby until the deadline.
      const found = (await runDoctor({ ...settings, ...PRODUCTION_DEADLINES })).check('standby');
      return found.status === 'warn' && found;
    });
    expect(report.message).toContain('no synchronous standby is connected');
    await database.query('alter system reset synchronous_standby_names');
    await database.query('select pg_reload_conf()');
  });
});
