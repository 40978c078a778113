import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { readConfig } from '../../src/config.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { composeInProcess, settingsFor } from '../harness/in-process.ts';
import { PostgresProxy } from '../harness/postgres-proxy.ts';
import { runToEnd } from '../harness/run-server.ts';
import { until } from '../harness/until.ts';

let database: TestDatabase;
let other: TestDatabase;
let settings: Record<string, string>;
beforeAll(async () => {
  [database, other] = await Promise.all([cloneDatabase(), cloneDatabase()]);
  settings = { ...settingsFor(database.ownerUrl), CAUDAL_DATABASE_START_WAIT_MS: '1500' };
});
afterAll(async () => {
  await database?.drop();
  await other?.drop();
});

function roleUrl(role: 'read' | 'batch', change: (parsed: URL) => void): string {
  const { readUrl, batchUrl } = readConfig('api', settings).database;
  const parsed = new URL(role === 'read' ? readUrl : batchUrl);
  change(parsed);
  return parsed.href;
}

describe('a process does not start when the URL', () => {
  it('of the read role is unreachable', async () => {
    const readUrl = roleUrl('read', (parsed) => {
      parsed.port = '1';
    });
    const result = await runToEnd(['api'], { ...settings, DATABASE_READ_URL: readUrl });
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/did not answer within 1\.5 s: .*caudal_read at .*:1\//);
  });

  it('of the batch role names a database that does not exist', async () => {
    const batchUrl = roleUrl('batch', (parsed) => {
      parsed.pathname = '/missing';
    });
    const result = await runToEnd(['api'], { ...settings, DATABASE_BATCH_URL: batchUrl });
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/database "missing" does not exist \(caudal_batch at .*\/missing\)/);
  });

  it('of the batch role leads to another database', async () => {
    const batchUrl = roleUrl('batch', (parsed) => {
      parsed.pathname = `/${other.name}`;
    });
    const result = await runToEnd(['api'], { ...settings, DATABASE_BATCH_URL: batchUrl });
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/the address of caudal_batch at .* is of another database/);
  });
});

it('a process does not start when a migration other than the newest is missing or unknown', async () => {
  await other.query("update caudal_meta.migrations set name = '0000_unknown.sql' where name like '0002%'");
  const result = await runToEnd(['api'], settingsFor(other.ownerUrl));
  expect(result.code).toBe(1);
  expect(result.stderr).toContain('migrations that this version does not know (0000_unknown.sql)');
  expect(result.stderr).toMatch(/lacks migrations of this version \(0002_\w+\.sql\)/);
});

it('a process is not ready while the URL of the read role is unreachable, and names it', async () => {
  const proxy = await PostgresProxy.start(database.url);
  const organizations = await composeInProcess(settings);
  const { apiKey } = await organizations.newOrganization();
  await organizations.close();
  const readUrl = proxy.through(roleUrl('read', () => undefined));
  const api = await startServer('api', { ...settings, DATABASE_READ_URL: readUrl });
  const readiness = async () => {
    const answer = await fetch(`http://127.0.0.1:${String(api.ready['opsPort'])}/readyz`);
    return { status: answer.status, text: await answer.text() };
  };
  try {
    expect((await readiness()).status).toBe(200);
    proxy.rejectConnections();
    const rejected = await fetch(`http://127.0.0.1:${String(api.ready['port'])}/payins`, {
      headers: { 'x-api-key': apiKey },
    });
    expect(rejected.status).toBe(503);
    const unready = await until('the process is not ready', async () => {
      const current = await readiness();
      return current.status === 503 && current.text.includes('login_failed') && current;
    });
    expect(unready.text).toContain('caudal_read at ');
    proxy.heal();
    await until('the process is ready again', async () => (await readiness()).status === 200);
  } finally {
    await api.stop();
    await proxy.close();
  }
});
