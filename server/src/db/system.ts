import type { RolePool } from './pool.ts';
import type { TransactionName } from './transactions.ts';
import type { Statement, Tx } from './tx.ts';

/**
 * The database as workers, rail notices, authentication and operators see it: every organization. Routes of merchants
 * cannot import this file (scripts/house-rules.ts).
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
