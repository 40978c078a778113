import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startSimulator } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { expectWithin, within } from '../../../scripts/testing/expect-within.ts';
import { PRODUCTION_DEADLINES } from '../../../scripts/testing/patient-settings.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { PostgresProxy } from '../harness/postgres-proxy.ts';
import { runToEnd } from '../harness/run-server.ts';
import { until } from '../harness/until.ts';
import { parseDoctorReport, runDoctor } from './doctor-report.ts';

const SERVER = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'caudal-doctor-'));
let database: TestDatabase;
let simulator: Awaited<ReturnType<typeof startSimulator>>;
let settings: Record<string, string>;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  [database, simulator] = await Promise.all([cloneDatabase(), startSimulator(folder)]);
  settings = {
    ...serverSettings({
      databaseUrl: database.ownerUrl,
      simulatorUrl: simulator.url,
      baseUrl: 'http://127.0.0.1:8080',
    }),
    ...PRODUCTION_DEADLINES,
  };
});
afterEach(async () => {
  for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
});
afterAll(async () => {
  await simulator?.stop();
  await database?.drop();
  rmSync(folder, { recursive: true, force: true });
});

describe('an unreachable database', () => {
  it('that never answers is abandoned within ten seconds', async () => {
    const proxy = await PostgresProxy.start(database.url);
    cleanups.push(() => proxy.close());
    proxy.goSilent();
    const through = { ...settings, DATABASE_URL: proxy.through(database.ownerUrl) };
    const result = await within('doctor', 15_000, () => runToEnd(['doctor', '--json'], through));
    const { code, tookMs, check, checks } = parseDoctorReport(result);
    expect(code).toBe(1);
    expectWithin('doctor by its report', tookMs, 10_000);
    expect(check('database').message).toContain('no answer within 3 s');
    const statuses = Object.fromEntries(checks.map(({ name, status }) => [name, status]));
    expect(statuses).toMatchObject({
      'rail BRE_B': 'ok',
      'rail PSE': 'ok',
      secrets: 'ok',
      configuration: 'ok',
    });
  });

  it('that stops answering during the checks is abandoned within ten seconds too', async () => {
    const proxy = await PostgresProxy.start(database.url);
    cleanups.push(() => proxy.close());
    proxy.injectCommitFault('caudal_system', 'swallow');
    const through = { ...settings, DATABASE_URL: proxy.through(database.ownerUrl) };
    const result = await within('doctor', 15_000, () => runToEnd(['doctor', '--json'], through));
    const { code, tookMs, check } = parseDoctorReport(result);
    expect(code).toBe(1);
    expectWithin('doctor by its report', tookMs, 10_000);
    expect(check('notices').message).toContain('check failed with an error');
    expect(check('months').status).toBe('ok');
  });

  it('that hangs on one table costs only the checks of that table', async () => {
    const holder = new Client({ connectionString: database.url });
    await holder.connect();
    cleanups.push(() => holder.end());
    await holder.query('begin; lock table caudal.webhook_queues in access exclusive mode');
    const { code, tookMs, check, problems } = await runDoctor(settings);
    expect(code).toBe(1);
    expectWithin('doctor by its report', tookMs, 10_000);
    expect(problems).toEqual(['endpoints', 'events']);
    expect(check('endpoints').message).toContain('check failed with an error');
  });
});

describe('a rail', () => {
  it('that does not answer is abandoned within ten seconds', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => silent.close());
    const { port } = silent.address() as { port: number };
    const hanging = await runDoctor({ ...settings, PSE_URL: `http://127.0.0.1:${port}` });
    expectWithin('doctor by its report', hanging.tookMs, 10_000);
    expect(hanging.check('rail PSE').message).toContain('no response in time');
  });
});

describe('caudal doctor --watch', () => {
  it('repeats with one JSON document each time until it is interrupted', async () => {
    const child = spawn(process.execPath, [SERVER, 'doctor', '--json', '--watch', '1'], {
      env: { PATH: process.env['PATH'] ?? '', ...settings },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const result = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));
    cleanups.push(() => child.kill('SIGKILL'));
    await until('it has run twice', () => Promise.resolve(printed.split('\n').length > 2));
    child.kill('SIGINT');
    expect(await result).toBe('SIGINT');
    // It may be interrupted in the middle of another line.
    for (const line of printed.split('\n').slice(0, -1)) expect(JSON.parse(line)).toMatchObject({ ok: true });
  });
});
