import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { PATIENT_SETTINGS } from '../../../scripts/testing/patient-settings.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { emptyDatabase } from '../harness/empty-database.ts';
import { json, type PeerReply, startFaultyPeer } from '../harness/faulty-peer.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { runToEnd } from '../harness/run-server.ts';
import { copyServer } from '../harness/server-copy.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { until } from '../harness/until.ts';
import { type DoctorReport, parseDoctorReport, runDoctor } from './doctor-report.ts';

/** No process listens on it. */
const CLOSED_PORT = 1;

const folder = mkdtempSync(join(tmpdir(), 'caudal-doctor-'));
let database: TestDatabase;
let simulator: Awaited<ReturnType<typeof startSimulator>>;
let control: SimulatorControl;
let settings: Record<string, string>;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  [database, simulator] = await Promise.all([cloneDatabase(), startSimulator(folder)]);
  control = new SimulatorControl(simulator.url);
  settings = {
    ...serverSettings({
      databaseUrl: database.ownerUrl,
      simulatorUrl: simulator.url,
      baseUrl: 'http://127.0.0.1:8080',
    }),
    ...PATIENT_SETTINGS,
  };
});
// Doctor expects the first runs of the schedules within five minutes.
beforeEach(() => database.query('update caudal_meta.migrations set applied_at = now()'));
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});
afterAll(async () => {
  await simulator?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Changes the database for one test. */
async function alterDatabase(change: string, undo: string): Promise<void> {
  await database.query(change);
  cleanups.push(() => database.query(undo));
}

function withDatabaseUrl(change: (url: URL) => void): Record<string, string> {
  const url = new URL(database.ownerUrl);
  change(url);
  return { ...settings, DATABASE_URL: url.href };
}

const HEALTHY_RAILS = { 'rail BRE_B': 'ok', 'rail PSE': 'ok', secrets: 'ok', configuration: 'ok' };

function statuses(checks: readonly { name: string; status: string }[]): Record<string, string> {
  return Object.fromEntries(checks.map(({ name, status }) => [name, status]));
}

describe('caudal doctor on a healthy system', () => {
  it('runs all checks, finds nothing and exits with 0', async () => {
    const { code, checks, problems } = await runDoctor(settings);
    expect({ code, problems }).toEqual({ code: 0, problems: [] });
    const passed = checks.filter(({ status }) => status === 'ok').map(({ name }) => name);
    expect(passed).toEqual([
      'sending',
      'configuration',
      'secrets',
      'database',
      'migrations',
      'roles',
      'durability',
      'room',
      'writes',
      'months',
      'standby',
      'archive',
      'clock',
      'rail BRE_B',
      'rail PSE',
      'pauses',
      'keys waiting',
      'notices',
      'payouts',
      'anomalies',
      'ledger',
      'endpoints',
      'events',
      'schedules',
    ]);
  });

  it('writes only its test row, and reports a database that rejects writes', async () => {
    await alterDatabase(
      `alter database ${database.name} set default_transaction_read_only = on`,
      `begin read write; alter database ${database.name} reset default_transaction_read_only; commit`,
    );
    const { code, problems, check } = await runDoctor(settings);
    expect({ code, problems }).toEqual({ code: 1, problems: ['writes'] });
    expect(check('writes')).toMatchObject({
      message: expect.stringContaining('25006'),
      todo: expect.stringContaining('address of the primary'),
    });
  });

  it('prints a line per check and never a secret', async () => {
    const { code, stdout } = await runOperatorCommand(settings, 'doctor');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {4}database +PostgreSQL at 127\.0\.0\.1:\d+\/test_/m);
    expect(stdout).toMatch(/^no check failed, 24 ok \(\d+ ms\)$/m);
    for (const hidden of ['dev-master', 'dev-pse', 'dev-postgres', 'dev-breb'])
      expect(stdout).not.toContain(hidden);
  });
});

describe('an unreachable database', () => {
  it('is reported with address, role and cause, and the other checks still run', async () => {
    const result = await runToEnd(
      ['doctor', '--json'],
      withDatabaseUrl((url) => (url.port = String(CLOSED_PORT))),
    );
    const { code, check, checks } = parseDoctorReport(result);
    expect(code).toBe(1);
    expect(check('database').message).toBe(
      `PostgreSQL at 127.0.0.1:${CLOSED_PORT}/${database.name} as caudal_read, caudal_batch, caudal_system, caudal_owner: connection refused: no process is listening`,
    );
    expect(check('database').todo).toContain('start PostgreSQL, or correct the address (DATABASE_URL)');
    expect(statuses(checks)).toMatchObject(HEALTHY_RAILS);
    expect(check('clock').status).toBe('ok');

    // Other commands refer to doctor.
    const list = await runOperatorCommand(
      withDatabaseUrl((url) => (url.port = String(CLOSED_PORT))),
      'org',
      'list',
    );
    expect(list.code).toBe(1);
    expect(list.stderr).toMatch(/database connection failed.*Try: caudal doctor/);
  });

  it('is reported with its cause', async () => {
    const password = await runDoctor(withDatabaseUrl((url) => (url.password = 'guess')));
    expect(password.check('database')).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/as caudal_owner: wrong password, or there is no such role/),
    });
    const name = await runDoctor(withDatabaseUrl((url) => (url.pathname = '/nowhere')));
    expect(name.check('database').message).toMatch(/database "nowhere" does not exist/);
    const host = await runDoctor(withDatabaseUrl((url) => (url.hostname = 'database.invalid')));
    expect(host.check('database').message).toMatch(/host name|no answer within 30? s/);
    const master = await runDoctor({
      ...settings,
      CAUDAL_MASTER_KEY: 'dev-another-master-key-of-one-machine',
    });
    expect(master.check('database').message).toMatch(
      /as caudal_read, caudal_batch, caudal_system: wrong password/,
    );
    expect(master.check('database').todo).toMatch(/CAUDAL_MASTER_KEY.*caudal migrate/);
    for (const { code, checks } of [password, name, host, master]) {
      expect(code).toBe(1);
      expect(statuses(checks)).toMatchObject(HEALTHY_RAILS);
    }
  });
});

describe('migrations', () => {
  it('that are pending are reported with the command that applies them', async () => {
    const copy = copyServer();
    cleanups.push(() => copy.remove());
    copy.writeMigration('0999_colours.sql', '-- schema: expand\ncreate table caudal.colours (name text);');
    copy.setSchemaRange({ oldest: 999, newest: 999 });
    const { code, check } = parseDoctorReport(await runToEnd(['doctor', '--json'], settings, copy.main));
    expect(code).toBe(1);
    expect(check('migrations')).toEqual({
      name: 'migrations',
      status: 'fail',
      message: '1 pending: 0999_colours.sql',
      todo: 'caudal migrate',
    });
    copy.setSchemaRange({ oldest: 16, newest: 999 });
    const optional = parseDoctorReport(await runToEnd(['doctor', '--json'], settings, copy.main));
    expect(optional.check('migrations').status).toBe('warn');
  });

  it('of a newer version and changed ones are reported', async () => {
    await alterDatabase(
      "insert into caudal_meta.migrations (name, checksum) values ('0998_future.sql', 'x')",
      "delete from caudal_meta.migrations where name = '0998_future.sql'",
    );
    expect((await runDoctor(settings)).check('migrations').message).toBe(
      'the database is newer than this program, which cannot run on it: it has 0998_future.sql',
    );
    await cleanups.pop()?.();
    await alterDatabase(
      "update caudal_meta.migrations set checksum = 'x' || checksum where name = '0002_organizations.sql'",
      "update caudal_meta.migrations set checksum = substr(checksum, 2) where name = '0002_organizations.sql'",
    );
    expect((await runDoctor(settings)).check('migrations').message).toBe(
      '0002_organizations.sql was changed after it was applied',
    );
  });

  it('missing in an empty database are reported with the command to run', async () => {
    const empty = await emptyDatabase();
    cleanups.push(() => empty.drop());
    const { code, check } = await runDoctor({ ...settings, DATABASE_URL: empty.url, CAUDAL_CELL: '2' });
    expect(code).toBe(1);
    expect(check('database')).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/never been migrated/),
      todo: 'caudal migrate',
    });
  });
});

describe('a misconfigured database', () => {
  it('is reported: excess grants, disabled row-level security, a missing month, non-durable commits', async () => {
    await alterDatabase(
      'grant insert on caudal.payins to caudal_read',
      'revoke insert on caudal.payins from caudal_read',
    );
    await alterDatabase(
      'alter table caudal.payouts no force row level security',
      'alter table caudal.payouts force row level security',
    );
    await alterDatabase(
      `alter database ${database.name} set synchronous_commit = off`,
      `alter database ${database.name} reset synchronous_commit`,
    );
    const [month] = await database.query<{ name: string }>(
      "select 'payins_' || to_char(caudal.now() at time zone 'UTC' + interval '1 month', 'YYYYMM') as name",
    );
    await alterDatabase(
      `alter table caudal.${month?.name} rename to somewhere_else`,
      `alter table caudal.somewhere_else rename to ${month?.name}`,
    );
    const { code, check, problems } = await runDoctor({ ...settings, CAUDAL_CELL: '7' });
    expect(code).toBe(1);
    expect(problems).toEqual(['roles', 'deployment', 'durability', 'months']);
    expect(check('roles').message).toContain('caudal_read may write, but must be read-only');
    expect(check('roles').message).toContain('payouts has no forced row-level security');
    expect(check('deployment').message).toContain(
      'belongs to development, cell 1; the configuration says development, cell 7',
    );
    expect(check('durability').message).toContain('synchronous_commit = off');
    expect(check('months').todo).toBe('caudal schedules run housekeeping --by NAME');
  });

  it('without a schedule run for five minutes is reported as having no worker', async () => {
    await alterDatabase(
      "update caudal_meta.migrations set applied_at = now() - interval '6 minutes'",
      'update caudal_meta.migrations set applied_at = now()',
    );
    const { check } = await runDoctor(settings);
    expect(check('schedules')).toMatchObject({ status: 'fail', todo: 'start a worker: caudal worker' });
    expect(check('schedules').message).toContain('no worker seems to be running');
  });
});

describe('the clock', () => {
  /** A Bre-B node whose clock differs by this many seconds. */
  async function startNodeWithClockOffset(seconds: number): Promise<Record<string, string>> {
    const peer = await startFaultyPeer(({ path }): PeerReply => {
      const body = path.endsWith('/token') ? { access_token: 'x', expires_in: 60 } : { results: [] };
      return { ...json(body), headers: { date: new Date(Date.now() + seconds * 1000).toUTCString() } };
    });
    cleanups.push(() => peer.stop());
    return { ...settings, BREB_URL: peer.url };
  }

  /** A slow answer makes the measurement inexact, so it repeats doctor until it reports this difference. */
  function waitForClock(of: Record<string, string>, difference: RegExp): Promise<DoctorReport> {
    return until(`the clock differs as ${difference}`, async () => {
      const report = await runDoctor(of);
      if (!difference.test(report.check('clock').message)) throw new Error(report.check('clock').message);
      return report;
    });
  }

  it('warns from two seconds and fails from thirty, with the direction of the difference', async () => {
    const [near, off, far] = await Promise.all([
      startNodeWithClockOffset(1),
      startNodeWithClockOffset(-10),
      startNodeWithClockOffset(45),
    ]);
    expect((await runDoctor(near)).check('clock').status).toBe('ok');
    const warned = await waitForClock(off, /^BRE_B is (?:9|10) s behind this machine$/);
    expect(warned.code).toBe(0);
    expect(warned.check('clock')).toMatchObject({
      status: 'warn',
      todo: expect.stringContaining('chronyc'),
    });
    const failed = await waitForClock(far, /^BRE_B is 4[56] s ahead of this machine$/);
    expect(failed.code).toBe(1);
    expect(failed.check('clock').status).toBe('fail');
  });

  it('reports shifted business time', async () => {
    await alterDatabase(
      "update caudal.deployment set time_shift = interval '3 hours'",
      "update caudal.deployment set time_shift = interval '0'",
    );
    const { check } = await runDoctor(settings);
    expect(check('clock')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('business time is shifted by 3 h forward'),
    });
  });
});

describe('a rail', () => {
  it('that refuses connections or is down is reported with the cause', async () => {
    const gone = await runDoctor({ ...settings, BREB_URL: `http://127.0.0.1:${CLOSED_PORT}/breb` });
    expect(gone.code).toBe(1);
    expect(gone.check('rail BRE_B').message).toBe(
      `http://127.0.0.1:${CLOSED_PORT}/breb is unavailable: connection refused: no process is listening`,
    );
    expect(gone.check('rail BRE_B').todo).toMatch(/BREB_URL.*caudal rails pause --rail BRE_B/);
    expect(gone.check('rail PSE').status).toBe('ok');

    await control.addFault({ rail: 'PSE', operation: 'banks', fault: 'down' });
    cleanups.push(() => control.clearFaults());
    expect((await runDoctor(settings)).check('rail PSE').message).toMatch(/is unavailable: it answered 50\d/);
    await control.clearFaults();
  });

  it('that rejects our credentials is distinguished from an unreachable one', async () => {
    const { code, check } = await runDoctor({
      ...settings,
      BREB_CLIENT_SECRET: 'another',
      PSE_SECRET: 'another',
    });
    expect(code).toBe(1);
    expect(check('rail BRE_B').message).toMatch(/rejects our credentials \(401\)/);
    expect(check('rail BRE_B').todo).toContain('BREB_CLIENT_SECRET');
    expect(check('rail PSE').todo).toContain('PSE_SECRET');
  });
});

describe('settings', () => {
  it('with a weak secret are reported by name and never by value', async () => {
    const value = 'abcdefghijklmnopqrstuvwxyz0123456789';
    const { code, check, checks } = await runDoctor({ ...settings, CAUDAL_TOKEN_KEY: value });
    expect(code).toBe(0);
    expect(check('secrets')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^CAUDAL_TOKEN_KEY is a sequence of characters/),
      todo: expect.stringContaining('openssl rand'),
    });
    expect(JSON.stringify(checks)).not.toContain(value);
  });

  it('that are invalid are reported together, with weak secrets', async () => {
    const { code, check } = await runDoctor({ CAUDAL_ENV: 'staging', CAUDAL_KEY_PEPPER: 'a'.repeat(32) });
    expect(code).toBe(1);
    expect(check('configuration').message).toMatch(/^10 problems:\nCAUDAL_BASE_URL is not set\n/);
    expect(check('secrets')).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('CAUDAL_KEY_PEPPER'),
    });
    expect(check('not looked at').status).toBe('skip');
  });
});

describe('caudal doctor --watch', () => {
  it('rejects an invalid number of seconds', async () => {
    for (const seconds of ['0', 'often', '4000']) {
      const { code, stderr } = await runOperatorCommand(settings, 'doctor', '--watch', seconds);
      expect({ seconds, code }).toEqual({ seconds, code: 2 });
      expect(stderr).toContain('--watch must be a number of seconds, 1 to 3600');
    }
  });
});
