import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { PostgresProxy } from '../harness/postgres-proxy.ts';
import { until } from '../harness/until.ts';

const REJECTED_CONNECTIONS = 40;
const LOG_LINES = 10;

let database: TestDatabase;
let proxy: PostgresProxy;
let worker: Child;
let lines: string[] = [];
beforeAll(async () => {
  database = await cloneDatabase();
  // No rail answers here, and a worker without a bank list would log that as well.
  await database.query(
    "insert into caudal.pse_banks (network_code, name, seen_at) values ('1007', 'Bancolombia', now())",
  );
  proxy = await PostgresProxy.start(database.url);
  worker = await startServer('worker', settingsFor(proxy.through(database.ownerUrl)), (line) =>
    lines.push(line),
  );
});
afterAll(async () => {
  await worker?.stop();
  await proxy?.close();
  await database?.drop();
});

const isLogged = (code: string) => lines.some((line) => line.includes(`"code":"${code}"`));

describe('a worker during a database outage', () => {
  it('logs the loss and the recovery, and not every failure in between', async () => {
    lines = [];
    proxy.rejectConnections();
    await until('the loss is logged', async () => isLogged('database_connection_lost'));
    await until(
      'many connections were rejected',
      async () => proxy.rejectedConnections >= REJECTED_CONNECTIONS,
    );
    proxy.heal();
    await until('the recovery is logged', async () => isLogged('database_connection_restored'));
    expect(lines.slice(LOG_LINES)).toEqual([]);
  });
});
