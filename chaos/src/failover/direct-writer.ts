/**
 * Writes to one PostgreSQL directly, past HAProxy, by the rules of the server's processes: a commit counts as acknowledged
 * when it is answered without the notice that its wait for the standby was canceled. Prints one JSON line per write.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from 'pg';

const WRITE_EVERY_MS = 200;
const DEADLINE_MS = 2000;
const SESSION = '-c lock_timeout=1500 -c client_connection_check_interval=1000 -c timezone=UTC';

/** Result of one write. */
export interface DirectWrite {
  readonly startedAt: number;
  readonly acknowledged: boolean;
  readonly cause: string;
}

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    table: { type: 'string' },
    node: { type: 'string' },
    ms: { type: 'string' },
  },
  strict: true,
});

async function write(): Promise<DirectWrite> {
  const startedAt = Date.now();
  const client = new Client({
    connectionString: values.url ?? '',
    connectionTimeoutMillis: DEADLINE_MS,
    query_timeout: DEADLINE_MS,
    options: SESSION,
  });
  let canceled = false;
  client.on('error', () => undefined);
  client.on('notice', ({ message }) => {
    if (/synchronous replication/.test(message ?? '')) canceled = true;
  });
  try {
    await client.connect();
    await client.query('begin');
    await client.query(`insert into ${values.table} (node) values ($1)`, [values.node]);
    const { command } = await client.query('commit');
    const acknowledged = command === 'COMMIT' && !canceled;
    return { startedAt, acknowledged, cause: canceled ? 'not confirmed by the standby' : command };
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    return { startedAt, acknowledged: false, cause: code ?? message ?? String(error) };
  } finally {
    void client.end().catch(() => undefined);
  }
}

async function lane(until: number): Promise<void> {
  while (Date.now() < until) {
    console.log(JSON.stringify(await write()));
    await sleep(WRITE_EVERY_MS);
  }
}

const until = Date.now() + Number(values.ms);
await Promise.all([lane(until), lane(until)]);
// A connection that waits for an answer would keep the process.
process.exit();
