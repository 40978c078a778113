import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
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

describe('a process that starts while PostgreSQL is away', () => {
  it.each(['api', 'worker'] as const)('waits for it and serves when it answers: %s', async (role) => {
    proxy.refuse();
    const lines: string[] = [];
    const starting = startServer(role, settings(), (line) => {
      lines.push(line);
      if (line.includes('database_awaited')) proxy.heal();
    });
    const server = await starting;
    const codes = () => logLines(lines.join('\n')).map(({ code }) => code);
    // The process reports its readiness by another channel than its log.
    await until('its log says that the database answers', () =>
      Promise.resolve(codes().includes('database_reachable')),
    );
    expect(codes().filter((code) => code === 'database_awaited')).toHaveLength(1);
    expect(codes().filter((code) => code === 'database_reachable')).toHaveLength(1);
    expect((await fetch(`http://127.0.0.1:${String(server.ready['opsPort'])}/readyz`)).status).toBe(200);
    expect(await server.stop()).toBe(0);
  });

  it.each(['api', 'migrate'])(
    'ends with 1 and says why, in words and as a log line with a code, when the wait is over: %s',
    async (role) => {
      proxy.refuse();
      const ended = await runToEnd([role], { ...settings(), CAUDAL_DATABASE_START_WAIT_MS: '1500' });
      proxy.heal();
      expect(ended.code).toBe(1);
      expect(ended.stderr).toMatch(/the database did not answer within 1\.5 s: the connection was cut/);
      expect(logLines(ended.stdout).map(({ code }) => code)).toEqual(['database_awaited', 'start_failed']);
      expect(logLines(ended.stdout).at(-1)).toMatchObject({
        level: 'fatal',
        role,
        reason: expect.stringContaining('did not answer within 1.5 s'),
      });
    },
  );
});

it('a process whose login is refused ends at once', async () => {
  const began = performance.now();
  const ended = await runToEnd(['api'], {
    ...settingsFor(database.ownerUrl),
    CAUDAL_MASTER_KEY: 'dev-another-master-key-of-one-machine',
  });
  expect(ended.code).toBe(1);
  expect(performance.now() - began).toBeLessThan(15_000);
  expect(logLines(ended.stdout).map(({ code }) => code)).toEqual(['start_failed']);
  expect(ended.stderr).toContain('run the role "migrate" first');
});

it('an invalid configuration is a log line with a code too', async () => {
  const ended = await runToEnd(['worker'], { CAUDAL_ENV: 'staging' });
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain('CAUDAL_BASE_URL is not set');
  expect(logLines(ended.stdout)).toMatchObject([
    { code: 'configuration_invalid', reason: expect.stringContaining('CAUDAL_BASE_URL is not set') },
  ]);
});
