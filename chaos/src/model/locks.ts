import { Client } from 'pg';

/**
 * A transaction that holds locks on rows that the server needs. It makes two workers contend for the same rows every time,
 * instead of once in a thousand runs.
 */
export class HeldLock {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  static async acquire(
    databaseUrl: string,
    statement: string,
    values: readonly unknown[] = [],
  ): Promise<HeldLock> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query('begin');
    await client.query(statement, [...values]);
    return new HeldLock(client);
  }

  async release(): Promise<void> {
    await this.#client.query('rollback');
    await this.#client.end();
  }
}

export const LOCK_BALANCE = 'select from caudal.ledger_balances where organization_id = $1 for update';
export const LOCK_PAYIN = 'select from caudal.payins where organization_id = $1 and id = $2 for update';
export const LOCK_PAYOUT = 'select from caudal.payouts where organization_id = $1 and id = $2 for update';
export const LOCK_NOTICES = 'lock table caudal.rail_notices in exclusive mode';

export const LOCK_WAITERS = `select count(*)::int as count from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;
