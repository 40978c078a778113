import type { RolePool } from './pool.ts';
import type { TransactionName } from './transactions.ts';
import { type Statement, statement, type Tx } from './tx.ts';

/**
 * Database access across all organizations, for workers, rail notices, authentication and operators. Merchant routes
 * cannot import this file (scripts/architecture-rules.ts).
 */
export interface SystemDb {
  transaction<T>(name: TransactionName, work: (tx: Tx) => Promise<T>): Promise<T>;
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

export function systemDb(pool: RolePool): SystemDb {
  return {
    transaction: (name, work) => pool.transaction('begin', work, name),
    query: (statement, values) => pool.query(statement, values),
  };
}

const READ_ONLY = statement('system.read-only', 'set transaction read only');

/** Wraps the database for read-only work: PostgreSQL rejects every write. */
export function readOnly(db: SystemDb): SystemDb {
  const transaction = <T>(name: TransactionName, work: (tx: Tx) => Promise<T>): Promise<T> =>
    db.transaction(name, async (tx) => {
      await tx.query(READ_ONLY);
      return work(tx);
    });
  return {
    transaction,
    query: (text, values) => transaction('read', (tx) => tx.query(text, values)),
  };
}
