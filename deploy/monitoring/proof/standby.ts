import { Client, type ClientConfig } from 'pg';
import { waitFor } from './wait-for.ts';

/** Receives WAL as an asynchronous standby does, and discards it. */
export class Standby {
  readonly #url: string;
  #client: Client | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async connect(): Promise<void> {
    // The types of pg lack the parameter.
    const config: ClientConfig & { readonly replication: 'true' } = {
      connectionString: this.#url,
      replication: 'true',
    };
    const client = new Client(config);
    // A fault of the database may close the connection.
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ xlogpos: string }>('IDENTIFY_SYSTEM');
    // Without a response until the connection is closed.
    client.query(`START_REPLICATION PHYSICAL ${rows[0]?.xlogpos}`).catch(() => undefined);
    this.#client = client;
    await this.#waitUntilStreaming();
  }

  async disconnect(): Promise<void> {
    await this.#client?.end();
    this.#client = null;
  }

  async #waitUntilStreaming(): Promise<void> {
    const observer = new Client({ connectionString: this.#url });
    await observer.connect();
    try {
      await waitFor('the standby receives WAL', async () => {
        const sql = "select from pg_stat_replication where state = 'streaming'";
        return (await observer.query(sql)).rowCount === 1 ? true : null;
      });
    } finally {
      await observer.end();
    }
  }
}
