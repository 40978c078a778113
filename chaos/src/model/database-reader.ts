import { Client, type QueryResultRow } from 'pg';

/**
 * A connection of our own to the database. Its statements are prepared: judging goes through every month of eight
 * tables, and planning that anew each time takes ten times as long as doing it.
 */
export class Witness {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async at(databaseUrl: string): Promise<Witness> {
    const client = new Client({
      connectionString: databaseUrl,
      options: '-c plan_cache_mode=force_generic_plan -c timezone=UTC',
    });
    await client.connect();
    return new Witness(client);
  }

  async ask<Row extends QueryResultRow>(
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
