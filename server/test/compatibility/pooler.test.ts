import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { runToEnd } from '../harness/run-server.ts';
import { HAS_PGBOUNCER, type Pgbouncer, startPgbouncer } from './pgbouncer.ts';

let database: TestDatabase;
let pooler: Pgbouncer | null = null;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterEach(async () => {
  await pooler?.stop();
  pooler = null;
});
afterAll(() => database?.drop());

const REJECTION = 'a connection pooler such as pgbouncer answers instead of PostgreSQL';

// CI installs pgbouncer for the compatibility tests; a developer machine may not have it.
describe.skipIf(!HAS_PGBOUNCER)('pgbouncer in front of PostgreSQL', () => {
  it.each([
    ['with its defaults', {}],
    [
      'in transaction mode that ignores options',
      { pool_mode: 'transaction', ignore_startup_parameters: 'options' },
    ],
    ['in session mode that ignores options', { pool_mode: 'session', ignore_startup_parameters: 'options' }],
  ])('%s is rejected by name by migrate, a starting process and doctor', async (_, mode) => {
    const direct = settingsFor(database.ownerUrl);
    const { readUrl, batchUrl, systemUrl } = readConfig('operator', direct).database;
    pooler = await startPgbouncer([database.ownerUrl, readUrl, batchUrl, systemUrl], mode);
    const settings = { ...direct, DATABASE_URL: pooler.through(database.ownerUrl) };
    const results = await Promise.all(['migrate', 'api', 'worker'].map((role) => runToEnd([role], settings)));
    for (const { code, stderr } of results) {
      expect(stderr).toContain(REJECTION);
      expect(code).toBe(1);
    }
    const doctor = await runOperatorCommand(settings, 'doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(REJECTION);
  });
});
