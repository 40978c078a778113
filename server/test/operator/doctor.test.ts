import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../scripts/stack/postgres.ts';
import { startSimulator } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { emptyDatabase } from '../harness/empty-database.ts';
import { json, type PeerReply, startFaultyPeer } from '../harness/faulty-peer.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { PostgresProxy } from '../harness/postgres-proxy.ts';
import { runToEnd } from '../harness/run-server.ts';
import { copyServer } from '../harness/server-copy.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { until } from '../harness/until.ts';
import { examined, readExamined } from './examined.ts';

const SERVER = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'caudal-doctor-'));
let database: TestDatabase;
let simulator: Awaited<ReturnType<typeof startSimulator>>;
let control: SimulatorControl;
let settings: Record<string, string>;
const later: (() => unknown)[] = [];

beforeAll(async () => {
  [database, simulator] = await Promise.all([cloneDatabase(), startSimulator(folder)]);
  control = new SimulatorControl(simulator.url);
  settings = serverSettings({
    databaseUrl: database.ownerUrl,
    simulatorUrl: simulator.url,
    baseUrl: 'http://127.0.0.1:8080',
  });
});
afterEach(async () => {
  for (const undo of later.splice(0).reverse()) await undo();
});
afterAll(async () => {
  await simulator?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Changes something in the database for one test. */
async function altered(change: string, undo: string): Promise<void> {
  await database.query(change);
  later.push(() => database.query(undo));
}

function databaseAt(change: (url: URL) => void): Record<string, string> {
  const url = new URL(database.ownerUrl);
  change(url);
  return { ...settings, DATABASE_URL: url.href };
}

const RAILS_ARE_WELL = { 'rail BRE_B': 'ok', 'rail PSE': 'ok', secrets: 'ok', configuration: 'ok' };

function statuses(checks: readonly { name: string; status: string }[]): Record<string, string> {
  return Object.fromEntries(checks.map(({ name, status }) => [name, status]));
}

describe('caudal doctor of a system that is well', () => {
  it('looks at everything, finds nothing and ends with 0', async () => {
    const { code, checks, troubled } = await examined(settings);
    expect({ code, troubled }).toEqual({ code: 0, troubled: [] });
    const looked = checks.filter(({ status }) => status === 'ok').map(({ name }) => name);
    expect(looked).toEqual([
      'configuration',
      'secrets',
      'database',
      'migrations',
      'roles',
      'durability',
      'room',
      'writes',
      'months',
      'clock',
      'rail BRE_B',
      'rail PSE',
      'pauses',
      'keys waiting',
      'notices',
      'payouts',
      'anomalies',
      'endpoints',
      'events',
      'schedules',
    ]);
  });

  it('writes nothing but its test row, and names a database that takes no writes', async () => {
    await altered(
      `alter database ${database.name} set default_transaction_read_only = on`,
      `begin read write; alter database ${database.name} reset default_transaction_read_only; commit`,
    );
    const { code, troubled, of } = await examined(settings);
    expect({ code, troubled }).toEqual({ code: 1, troubled: ['writes'] });
    expect(of('writes')).toMatchObject({
      says: expect.stringContaining('25006'),
      todo: expect.stringContaining('address of the primary'),
    });
  });

  it('prints a line for each in words, and never a secret', async () => {
    const { code, stdout } = await runOperatorCommand(settings, 'doctor');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {4}database +PostgreSQL at 127\.0\.0\.1:\d+\/test_/m);
    expect(stdout).toMatch(/^nothing has failed, 20 well \(\d+ ms\)$/m);
    for (const hidden of ['dev-master', 'dev-pse', 'dev-postgres', 'dev-breb'])
      expect(stdout).not.toContain(hidden);
  });
});

describe('no database', () => {
  it('is named with its address, its role and the cause, and the rest is looked at all the same', async () => {
    const port = await freePort();
    const ended = await runToEnd(
      ['doctor', '--json'],
      databaseAt((url) => (url.port = String(port))),
    );
    const { code, of, checks } = readExamined(ended);
    expect(code).toBe(1);
    expect(of('database').says).toBe(
      `PostgreSQL at 127.0.0.1:${port}/${database.name} as caudal_read, caudal_batch, caudal_system, caudal_owner: connection refused: nothing listens there`,
    );
    expect(of('database').todo).toContain('start PostgreSQL, or correct the address (DATABASE_URL)');
    expect(statuses(checks)).toMatchObject(RAILS_ARE_WELL);
    expect(of('clock').status).toBe('ok');

    // Whoever meets it with another command is led here.
    const list = await runOperatorCommand(
      databaseAt((url) => (url.port = String(port))),
      'org',
      'list',
    );
    expect(list.code).toBe(1);
    expect(list.stderr).toMatch(/connection to the database failed.*Try: caudal doctor/);
  });

  it('is told apart by its cause', async () => {
    const password = await examined(databaseAt((url) => (url.password = 'guess')));
    expect(password.of('database')).toMatchObject({
      status: 'fail',
      says: expect.stringMatching(/as caudal_owner: wrong password, or there is no such role/),
    });
    const name = await examined(databaseAt((url) => (url.pathname = '/nowhere')));
    expect(name.of('database').says).toMatch(/database "nowhere" does not exist/);
    const host = await examined(databaseAt((url) => (url.hostname = 'database.invalid')));
    expect(host.of('database').says).toMatch(/the name of the host|no answer within 3 s/);
    const master = await examined({
      ...settings,
      CAUDAL_MASTER_KEY: 'dev-another-master-key-of-one-machine',
    });
    expect(master.of('database').says).toMatch(/as caudal_read, caudal_batch, caudal_system: wrong password/);
    expect(master.of('database').todo).toMatch(/CAUDAL_MASTER_KEY.*caudal migrate/);
    for (const { code, checks } of [password, name, host, master]) {
      expect(code).toBe(1);
      expect(statuses(checks)).toMatchObject(RAILS_ARE_WELL);
    }
  });

  it('that swallows everything is given up within ten seconds, process and all', async () => {
    const proxy = await PostgresProxy.start(database.url);
    later.push(() => proxy.close());
    proxy.goSilent();
    const began = performance.now();
    const ended = await runToEnd(['doctor', '--json'], {
      ...settings,
      DATABASE_URL: proxy.through(database.ownerUrl),
    });
    expect(performance.now() - began).toBeLessThan(15_000);
    const { code, tookMs, of, checks } = readExamined(ended);
    expect(code).toBe(1);
    expect(tookMs).toBeLessThan(10_000);
    expect(of('database').says).toContain('no answer within 3 s');
    expect(statuses(checks)).toMatchObject(RAILS_ARE_WELL);
  }, 20_000);

  it('that falls silent while it is asked is given up within ten seconds too', async () => {
    const proxy = await PostgresProxy.start(database.url);
    later.push(() => proxy.close());
    proxy.trouble('caudal_system', 'swallow');
    const began = performance.now();
    const through = { ...settings, DATABASE_URL: proxy.through(database.ownerUrl) };
    const { code, tookMs, of } = readExamined(await runToEnd(['doctor', '--json'], through));
    expect(performance.now() - began).toBeLessThan(15_000);
    expect(code).toBe(1);
    expect(tookMs).toBeLessThan(10_000);
    expect(of('notices').says).toContain('could not be looked at');
    expect(of('months').status).toBe('ok');
  }, 20_000);

  it('that hangs in one table costs that answer and no other', async () => {
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    later.push(() => holder.end());
    await holder.query('begin; lock table caudal.webhook_queues in access exclusive mode');
    const { code, tookMs, of, troubled } = await examined(settings);
    expect(code).toBe(1);
    expect(tookMs).toBeLessThan(10_000);
    expect(troubled).toEqual(['endpoints', 'events']);
    expect(of('endpoints').says).toContain('could not be looked at');
  }, 20_000);
});

describe('migrations', () => {
  it('that are pending are named, with the command that applies them', async () => {
    const copy = copyServer();
    later.push(() => copy.remove());
    copy.writeMigration('0999_colours.sql', 'create table caudal.colours (name text);');
    const { code, of } = readExamined(await runToEnd(['doctor', '--json'], settings, copy.main));
    expect(code).toBe(1);
    expect(of('migrations')).toEqual({
      name: 'migrations',
      status: 'fail',
      says: '1 pending: 0999_colours.sql',
      todo: 'caudal migrate',
    });
  });

  it('of a newer version, and changed ones, are named', async () => {
    await altered(
      "insert into caudal_meta.migrations (name, checksum) values ('0998_future.sql', 'x')",
      "delete from caudal_meta.migrations where name = '0998_future.sql'",
    );
    expect((await examined(settings)).of('migrations').says).toBe(
      'the database is newer than this program: it has 0998_future.sql',
    );
    await later.pop()?.();
    await altered(
      "update caudal_meta.migrations set checksum = 'x' || checksum where name = '0002_outcomes.sql'",
      "update caudal_meta.migrations set checksum = substr(checksum, 2) where name = '0002_outcomes.sql'",
    );
    expect((await examined(settings)).of('migrations').says).toBe(
      '0002_outcomes.sql was changed after it was applied',
    );
  });

  it('of an empty database are all of them: it says what to type', async () => {
    const empty = await emptyDatabase();
    later.push(() => empty.drop());
    const { code, of } = await examined({ ...settings, DATABASE_URL: empty.url, CAUDAL_CELL: '2' });
    expect(code).toBe(1);
    expect(of('database')).toMatchObject({
      status: 'fail',
      says: expect.stringMatching(/never been migrated/),
      todo: 'caudal migrate',
    });
  });
});

describe('a database that is not as it should be', () => {
  it('is named: rights too many, a wall that is down, a month that is missing, commits that do not last', async () => {
    await altered(
      'grant insert on caudal.payins to caudal_read',
      'revoke insert on caudal.payins from caudal_read',
    );
    await altered(
      'alter table caudal.payouts no force row level security',
      'alter table caudal.payouts force row level security',
    );
    await altered(
      `alter database ${database.name} set synchronous_commit = off`,
      `alter database ${database.name} reset synchronous_commit`,
    );
    const [month] = await database.query<{ name: string }>(
      "select 'payins_' || to_char(caudal.now() + interval '1 month', 'YYYYMM') as name",
    );
    await altered(
      `alter table caudal.${month?.name} rename to somewhere_else`,
      `alter table caudal.somewhere_else rename to ${month?.name}`,
    );
    const { code, of, troubled } = await examined({ ...settings, CAUDAL_CELL: '7' });
    expect(code).toBe(1);
    expect(troubled).toEqual(['roles', 'deployment', 'durability', 'months']);
    expect(of('roles').says).toContain('caudal_read may write, though it is for reading');
    expect(of('roles').says).toContain('payouts is without forced row-level security');
    expect(of('deployment').says).toContain(
      'belongs to development, cell 1; the configuration says development, cell 7',
    );
    expect(of('durability').says).toContain('synchronous_commit = off');
    expect(of('months').todo).toBe('caudal schedules run housekeeping --by NAME');
  });

  it('without any work by the clock for five minutes has no worker', async () => {
    await altered(
      "update caudal_meta.migrations set applied_at = now() - interval '6 minutes'",
      'update caudal_meta.migrations set applied_at = now()',
    );
    const { of } = await examined(settings);
    expect(of('schedules')).toMatchObject({ status: 'fail', todo: 'start one: caudal worker' });
    expect(of('schedules').says).toContain('no worker seems to be alive');
  });
});

describe('the clock', () => {
  /** A Bre-B node whose clock is off by so many seconds. */
  async function nodeOffBy(seconds: number): Promise<Record<string, string>> {
    const peer = await startFaultyPeer(({ path }): PeerReply => {
      const body = path.endsWith('/token') ? { access_token: 'x', expires_in: 60 } : { results: [] };
      return { ...json(body), headers: { date: new Date(Date.now() + seconds * 1000).toUTCString() } };
    });
    later.push(() => peer.stop());
    return { ...settings, BREB_URL: peer.url };
  }

  it('warns from two seconds on and fails from thirty, with who is ahead of whom', async () => {
    const [near, off, far] = await Promise.all([nodeOffBy(1), nodeOffBy(-10), nodeOffBy(45)]);
    expect((await examined(near)).of('clock').status).toBe('ok');
    const warned = await examined(off);
    expect(warned.code).toBe(0);
    expect(warned.of('clock')).toMatchObject({
      status: 'warn',
      says: expect.stringMatching(/^BRE_B is (?:9|10) s behind this machine$/),
      todo: expect.stringContaining('chronyc'),
    });
    const failed = await examined(far);
    expect(failed.code).toBe(1);
    expect(failed.of('clock').says).toMatch(/^BRE_B is 4[56] s ahead of this machine$/);
  });

  it('names business time that was shifted for a test', async () => {
    await altered(
      "update caudal.deployment set time_shift = interval '3 hours'",
      "update caudal.deployment set time_shift = interval '0'",
    );
    const { of } = await examined(settings);
    expect(of('clock')).toMatchObject({
      status: 'warn',
      says: expect.stringContaining('business time is shifted by 3 h forward'),
    });
  });
});

describe('a rail', () => {
  it('that nobody answers for is named with the cause, and so is one that is down or silent', async () => {
    const port = await freePort();
    const gone = await examined({ ...settings, BREB_URL: `http://127.0.0.1:${port}/breb` });
    expect(gone.code).toBe(1);
    expect(gone.of('rail BRE_B').says).toBe(
      `http://127.0.0.1:${port}/breb cannot be used: connection refused: nothing listens there`,
    );
    expect(gone.of('rail BRE_B').todo).toMatch(/BREB_URL.*caudal rails pause --rail BRE_B/);
    expect(gone.of('rail PSE').status).toBe('ok');

    await control.addFault({ rail: 'PSE', operation: 'banks', fault: 'down' });
    later.push(() => control.clearFaults());
    expect((await examined(settings)).of('rail PSE').says).toMatch(/cannot be used: it answered 50\d/);
    await control.clearFaults();

    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    later.push(() => silent.close());
    const { port: silentPort } = silent.address() as { port: number };
    const hanging = await examined({ ...settings, PSE_URL: `http://127.0.0.1:${silentPort}` });
    expect(hanging.tookMs).toBeLessThan(10_000);
    expect(hanging.of('rail PSE').says).toContain('no answer in time');
  }, 20_000);

  it('that refuses our credentials is told apart from one that is away', async () => {
    const { code, of } = await examined({
      ...settings,
      BREB_CLIENT_SECRET: 'another',
      PSE_SECRET: 'another',
    });
    expect(code).toBe(1);
    expect(of('rail BRE_B').says).toMatch(/refuses our credentials \(401\)/);
    expect(of('rail BRE_B').todo).toContain('BREB_CLIENT_SECRET');
    expect(of('rail PSE').todo).toContain('PSE_SECRET');
  });
});

describe('settings', () => {
  it('with a weak secret are named, by its name and never by its value', async () => {
    const value = 'abcdefghijklmnopqrstuvwxyz0123456789';
    const { code, of, checks } = await examined({ ...settings, CAUDAL_TOKEN_KEY: value });
    expect(code).toBe(0);
    expect(of('secrets')).toMatchObject({
      status: 'warn',
      says: expect.stringMatching(/^CAUDAL_TOKEN_KEY goes through the alphabet/),
      todo: expect.stringContaining('openssl rand'),
    });
    expect(JSON.stringify(checks)).not.toContain(value);
  });

  it('that cannot be read are named all at once, and weak secrets all the same', async () => {
    const { code, of } = await examined({ CAUDAL_ENV: 'staging', CAUDAL_KEY_PEPPER: 'a'.repeat(32) });
    expect(code).toBe(1);
    expect(of('configuration').says).toMatch(/^15 faults:\nCAUDAL_BASE_URL is not set\n/);
    expect(of('secrets')).toMatchObject({
      status: 'warn',
      says: expect.stringContaining('CAUDAL_KEY_PEPPER'),
    });
    expect(of('not looked at').status).toBe('skip');
  });
});

describe('caudal doctor --watch', () => {
  it('looks again and again, a JSON document each time, until it is interrupted', async () => {
    const child = spawn(process.execPath, [SERVER, 'doctor', '--json', '--watch', '1'], {
      env: { PATH: process.env['PATH'] ?? '', ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
    later.push(() => child.kill('SIGKILL'));
    await until('it has looked twice', () => Promise.resolve(printed.split('\n').length > 2), 20_000);
    child.kill('SIGINT');
    expect(await ended).toBe('SIGINT');
    for (const line of printed.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ ok: true });
  }, 30_000);

  it('refuses what is no number of seconds', async () => {
    for (const seconds of ['0', 'often', '4000']) {
      const { code, stderr } = await runOperatorCommand(settings, 'doctor', '--watch', seconds);
      expect({ seconds, code }).toEqual({ seconds, code: 2 });
      expect(stderr).toContain('--watch must be a number of seconds, 1 to 3600');
    }
  });
});
