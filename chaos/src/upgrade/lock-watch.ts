import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';

const POLL_MS = 50;

/** Sessions that wait for a lock of a migration, and since when their statement has run. */
const BLOCKED = `select pid, left(query, 60) as query,
    extract(epoch from clock_timestamp() - coalesce(
      (select min(waitstart) from pg_locks l where l.pid = a.pid and not l.granted), clock_timestamp()))::float8 * 1000 as waited_ms
  from pg_stat_activity a
  where datname = current_database() and wait_event_type = 'Lock' and application_name <> 'caudal-migrate'
    and pg_blocking_pids(pid) && array(
      select pid from pg_stat_activity where datname = current_database() and application_name = 'caudal-migrate')`;

/** Measures how long statements wait for locks that a migration holds or waits for. */
export class LockWatch {
  /** Zero when no statement waited. */
  longestMs = 0;
  query = '';
  readonly #client: Client;
  #running: Promise<void> | null = null;
  #ending = false;

  /** @param url of a superuser, who sees the statements of all roles */
  constructor(url: string) {
    this.#client = new Client({ connectionString: url });
  }

  async start(): Promise<void> {
    await this.#client.connect();
    this.#running = this.#watch();
  }

  async stop(): Promise<void> {
    this.#ending = true;
    await this.#running;
    await this.#client.end();
  }

  async #watch(): Promise<void> {
    while (!this.#ending) {
      const { rows } = await this.#client.query<{ query: string; waited_ms: number }>(BLOCKED);
      for (const row of rows)
        if (row.waited_ms > this.longestMs) {
          this.longestMs = row.waited_ms;
          this.query = row.query;
        }
      await sleep(POLL_MS);
    }
  }
}
