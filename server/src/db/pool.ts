import { Pool, type PoolClient, types } from 'pg';
import { errorFields, type Log } from '../kit/log.ts';
import { CommitUnknown, ConnectionLost, isDatabaseError } from './failures.ts';
import type { Statement, Tx } from './tx.ts';

export interface PoolOptions {
  readonly url: string;
  readonly role: 'read' | 'batch' | 'system';
  readonly connections: number;
  /** The longest any single statement, COMMIT included, may take before its connection is given up. */
  readonly deadlineMs: number;
  readonly log: Log;
}

/**
 * PostgreSQL waits no longer than this for another transaction's row: longer than its own search for deadlocks (one
 * second), so that a deadlock is called by its name, and well within the deadline of a statement.
 */
const LOCK_TIMEOUT_MS = 1500;

const INT8 = 20;

/** A pool of one login role. A client that failed in any way but by a statement's own error is destroyed, never reused. */
export class RolePool {
  readonly #pool: Pool;
  readonly #unacknowledged = new WeakSet<PoolClient>();

  constructor(options: PoolOptions) {
    this.#pool = new Pool({
      connectionString: options.url,
      max: options.connections,
      application_name: `caudal-${options.role}`,
      // The client's own deadline: statement_timeout does not fire while a COMMIT waits for its standby.
      query_timeout: options.deadlineMs,
      connectionTimeoutMillis: options.deadlineMs,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      pipeline: true,
      options: [
        `lock_timeout=${Math.min(LOCK_TIMEOUT_MS, options.deadlineMs / 2)}`,
        // A transaction whose client is gone gives its rows back soon: whoever repeats is waiting for them.
        `idle_in_transaction_session_timeout=${2 * options.deadlineMs}`,
        'timezone=UTC',
      ]
        .map((setting) => `-c ${setting}`)
        .join(' '),
      types: { getTypeParser: typeParser },
    });
    this.#pool.on('error', (error) =>
      options.log.warn(errorFields(error), 'an idle database connection was lost'),
    );
    this.#pool.on('connect', (client) => {
      client.on('notice', (notice) => {
        // A COMMIT whose wait for the standby was cut short resolves as success; only this notice tells (ha.md).
        if (/synchronous replication/.test(notice.message ?? '')) this.#unacknowledged.add(client);
      });
      client.on('error', () => {});
    });
  }

  /**
   * One transaction. Throws `ConnectionLost` when it failed before COMMIT was sent, `CommitUnknown` after, and the
   * database's own error when a statement was refused.
   * @param begin the text that opens it, settings included; built from checked values only
   */
  async transaction<T>(begin: string, work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await this.#connect();
    let result: T;
    try {
      // Sent together with the first statement of the work: one round trip less. If it fails, so does that statement.
      const begun = client.query(begin);
      begun.catch(() => {});
      result = await work(txOver(client));
      await begun;
    } catch (error) {
      await abandon(client, error);
      throw isDatabaseError(error) || !isTransportError(error) ? error : new ConnectionLost(error);
    }
    await this.#commit(client);
    return result;
  }

  async #commit(client: PoolClient): Promise<void> {
    try {
      await client.query('commit');
    } catch (error) {
      // An ERROR at COMMIT (a deferred constraint, a serialization failure) is a rollback; all else may have committed.
      if (isDatabaseError(error) && error.severity === 'ERROR') {
        await abandon(client, error);
        throw error;
      }
      destroy(client);
      throw new CommitUnknown('no answer to COMMIT', error);
    }
    if (this.#unacknowledged.has(client)) {
      destroy(client);
      throw new CommitUnknown('the standby has not confirmed it');
    }
    client.release();
  }

  /** One statement on its own: for reads that need no setting and writes whose repetition is harmless. */
  async query<Row extends object>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    const client = await this.#connect();
    try {
      const rows = await txOver(client).query<Row>(statement, values);
      if (this.#unacknowledged.has(client)) throw new CommitUnknown('the standby has not confirmed it');
      client.release();
      return rows;
    } catch (error) {
      if (isDatabaseError(error)) client.release();
      else destroy(client);
      throw isDatabaseError(error) || !isTransportError(error) ? error : new ConnectionLost(error);
    }
  }

  async #connect(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw isDatabaseError(error) ? error : new ConnectionLost(error);
    }
  }

  get waiting(): number {
    return this.#pool.waitingCount;
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

function txOver(client: PoolClient): Tx {
  return {
    query: async <Row extends object>(statement: Statement, values: readonly unknown[] = []) => {
      const result = await client.query<Row>({
        name: statement.name,
        text: statement.text,
        values: [...values],
      });
      return result.rows;
    },
  } as Tx;
}

async function abandon(client: PoolClient, error: unknown): Promise<void> {
  if (isTransportError(error) || (isDatabaseError(error) && error.severity !== 'ERROR'))
    return destroy(client);
  try {
    await client.query('rollback');
    client.release();
  } catch {
    destroy(client);
  }
}

/** Not by asking it to end: on silent network loss a polite goodbye is never answered and the socket would stay. */
function destroy(client: PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  stream.destroy();
  client.release(true);
}

/** node-postgres reports lost connections and its own deadline as plain errors; ours carry a name of their own. */
function isTransportError(error: unknown): boolean {
  if (!(error instanceof Error) || isDatabaseError(error)) return false;
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return /^E[A-Z]+$/.test(code) || /timeout|terminated|not queryable|Connection/.test(error.message);
}

function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8) return BigInt;
  return types.getTypeParser(oid, format);
}
