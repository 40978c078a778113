import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { within } from '../../../scripts/testing/expect-within.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { PostgresProxy } from '../harness/postgres-proxy.ts';
import { runToEnd } from '../harness/run-server.ts';
import { until } from '../harness/until.ts';

let database: TestDatabase;
let proxy: PostgresProxy;
beforeAll(async () => {
  database = await cloneDatabase();
  proxy = await PostgresProxy.start(inject('postgres').adminUrl);
});
afterAll(async () => {
  await proxy?.close();
  await database?.drop();
});

function settings(): Record<string, string> {
  return settingsFor(proxy.through(database.ownerUrl));
}

function logLines(output: string): Record<string, unknown>[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a process that starts while PostgreSQL is down', () => {
  it.each(['api', 'worker'] as const)('waits and serves when PostgreSQL answers: %s', async (role) => {
    proxy.rejectConnections();
    const lines: string[] = [];
    const starting = startServer(role, settings(), (line) => {
      lines.push(line);
      if (line.includes('waiting_for_database')) proxy.heal();
    });
    const server = await starting;
    const codes = () => logLines(lines.join('\n')).map(({ code }) => code);
    // The process reports readiness over another channel than its log.
    await until('the log reports that the database answers', () =>
      Promise.resolve(codes().includes('database_reachable')),
    );
    expect(codes().filter((code) => code === 'waiting_for_database')).toHaveLength(1);
    expect(codes().filter((code) => code === 'database_reachable')).toHaveLength(1);
    expect((await fetch(`http://127.0.0.1:${String(server.ready['opsPort'])}/readyz`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });

  it.each(['api', 'migrate'])(
    'exits with 1, an error message and a log line with a code when the wait ends: %s',
    async (role) => {
      proxy.rejectConnections();
      const result = await runToEnd([role], { ...settings(), CAUDAL_DATABASE_START_WAIT_MS: '1500' });
      proxy.heal();
      expect(result.code).toBe(1);
      expect(result.stderr).toMatch(
        /the database did not answer within 1\.5 s: connection closed by the peer/,
      );
      expect(logLines(result.stdout).map(({ code }) => code)).toEqual([
        'waiting_for_database',
        'start_failed',
      ]);
      expect(logLines(result.stdout).at(-1)).toMatchObject({
        level: 'fatal',
        role,
        reason: expect.stringContaining('did not answer within 1.5 s'),
      });
    },
  );
});

it('a process whose login is rejected exits immediately', async () => {
  const result = await within('the exit', 15_000, () =>
    runToEnd(['api'], {
      ...settingsFor(database.ownerUrl),
      CAUDAL_MASTER_KEY: 'dev-another-master-key-of-one-machine',
    }),
  );
  expect(result.code).toBe(1);
  expect(logLines(result.stdout).map(({ code }) => code)).toEqual(['start_failed']);
  expect(result.stderr).toContain('run `caudal migrate` first');
});

it('an invalid configuration produces a log line with a code', async () => {
  const result = await runToEnd(['worker'], { CAUDAL_ENV: 'staging' });
  expect(result.code).toBe(1);
  expect(result.stderr).toContain('CAUDAL_BASE_URL is not set');
  expect(logLines(result.stdout)).toMatchObject([
    { code: 'configuration_invalid', reason: expect.stringContaining('CAUDAL_BASE_URL is not set') },
  ]);
});
