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
let idle: Client;
let pid: number;
let idlePid: number;
beforeAll(async () => {
  database = await cloneDatabase();
  const config = readConfig('api', settingsFor(database.ownerUrl));
  composed = compose(config, log);
  client = new Client({ connectionString: config.database.batchUrl });
  idle = new Client({ connectionString: config.database.batchUrl });
  [pid, idlePid] = await Promise.all([connect(client), connect(idle)]);
});
afterAll(async () => {
  await client?.end();
  await idle?.end();
  await composed?.close();
  await database?.drop();
});

describe('a commit without an answer', () => {
  it('is pending while its backend executes it, and no longer once the backend is idle', async () => {
    const { pendingCommits } = composed;
    const executing = client.query('select pg_sleep(600)').catch((error: unknown) => error);
    await until('the backend executes it', async () => {
      const rows = await database.query(
        "select from pg_stat_activity where pid = $1 and wait_event = 'PgSleep'",
        [pid],
      );
      return rows.length > 0;
    });
    pendingCommits.add('batch', pid);
    for (let check = 1; check <= 3; check += 1) {
      pendingCommits.add('batch', idlePid);
      await until('a check has found only the idle backend', async () => pendingCommits.count === 1);
    }
    await database.query('select pg_cancel_backend($1)', [pid]);
    expect(await executing).toMatchObject({ code: '57014' });
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

/** @returns the process ID of its backend */
async function connect(connecting: Client): Promise<number> {
  await connecting.connect();
  const { rows } = await connecting.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}
