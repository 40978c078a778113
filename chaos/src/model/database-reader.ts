import { Client, type QueryResultRow } from 'pg';

/**
 * A separate database connection for the checks. It uses prepared statements: the checks read every monthly partition of
 * eight tables, and planning takes ten times as long as execution.
 */
export class DatabaseReader {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async at(databaseUrl: string): Promise<DatabaseReader> {
    const client = new Client({
      connectionString: databaseUrl,
      options: '-c plan_cache_mode=force_generic_plan -c timezone=UTC',
    });
    await client.connect();
    return new DatabaseReader(client);
  }

  async query<Row extends QueryResultRow>(
    name: string,
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    return (await this.#client.query<Row>({ name, text, values: [...values] })).rows;
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
