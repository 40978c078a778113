import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compose } from '../../src/compose.ts';
import { readConfig } from '../../src/config.ts';
import { PendingCommits } from '../../src/db/pending-commits.ts';
import { makeLog } from '../../src/kit/log.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';
import { settingsFor } from '../harness/in-process.ts';
import { until } from '../harness/until.ts';

const log = makeLog({ level: 'silent', base: {} });

let database: TestDatabase;
let composed: ReturnType<typeof compose>;
let client: Client;
let pid: number;
beforeAll(async () => {
  database = await cloneDatabase();
  const config = readConfig('api', settingsFor(database.ownerUrl));
  composed = compose(config, log);
  client = new Client({ connectionString: config.database.batchUrl });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  pid = rows[0]?.pid ?? 0;
});
afterAll(async () => {
  await client?.end();
  await composed?.close();
  await database?.drop();
});

describe('a commit without an answer', () => {
  it('is pending while its backend executes it, and no longer once the backend is idle', async () => {
    const { pendingCommits } = composed;
    const executing = client.query('select pg_sleep(3)');
    pendingCommits.add('batch', pid);
    const counts: number[] = [];
    const ended = executing.then(() => true);
    while (!(await Promise.race([ended, waitBriefly()]))) counts.push(pendingCommits.count);
    expect(Math.min(...counts)).toBe(1);
    await until('an idle backend is not counted', async () => pendingCommits.count === 0);
  });

  it('is not pending on a server that started after it', async () => {
    let serverStartedAt = 'first';
    let checks = 0;
    const pendingCommits = new PendingCommits({
      limit: 1,
      activeBackends: async (_role, pids) => {
        checks += 1;
        return { serverStartedAt, pids };
      },
      log,
    });
    pendingCommits.add('batch', pid);
    await until('the server was queried', async () => checks > 0);
    expect(pendingCommits.full).toBe(true);
    serverStartedAt = 'second';
    await until('the commits of the previous server are not counted', async () => !pendingCommits.full);
    pendingCommits.close();
  });
});

/** Resolves to false after 100 ms. */
function waitBriefly(): Promise<boolean> {
  return new Promise((resolve) => setTimeout(() => resolve(false), 100));
}
