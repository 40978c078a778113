import { Client } from 'pg';

/**
 * A hand on rows that the server needs: another transaction that takes its time. With it two workers are made to meet at
 * the same place, every time, instead of once in a thousand runs.
 */
export class Hold {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async on(databaseUrl: string, statement: string, values: readonly unknown[] = []): Promise<Hold> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query(statement, [...values]);
    return new Hold(client);
  }

  async letGo(): Promise<void> {
    await this.#client.query('rollback');
    await this.#client.end();
  }
}

export const HOLD_BALANCE = 'select from caudal.ledger_balances where organization_id = $1 for update';
export const HOLD_PAYIN = 'select from caudal.payins where organization_id = $1 and id = $2 for update';
export const HOLD_PAYOUT = 'select from caudal.payouts where organization_id = $1 and id = $2 for update';
export const HOLD_NOTICES = 'lock table caudal.rail_notices in exclusive mode';

export const WAITERS = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;
