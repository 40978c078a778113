import { Pool, type PoolClient, type QueryConfig, type QueryResult, types } from 'pg';
import { passFailpoint } from '../kit/failpoint.ts';
import type { PoolRole } from './active-backends.ts';
import type { FailureLog } from './failure-log.ts';
import { CommitUnknown, ConnectionLost, isDatabaseError, noteStatement } from './failures.ts';
import type { PendingCommits } from './pending-commits.ts';
import { commitFailpoints, type TransactionName } from './transactions.ts';
import type { Statement, Tx } from './tx.ts';

export interface PoolOptions {
  readonly url: string;
  readonly role: PoolRole;
  readonly connections: number;
  /** The longest any single statement, COMMIT included, may take before its connection is given up. */
  readonly deadlineMs: number;
  readonly failures: FailureLog;
  /** Shared by the pools of a process; without it nothing bounds commits that are never answered. */
  readonly pendingCommits?: PendingCommits;
}

/**
 * PostgreSQL waits no longer than this for another transaction's row: longer than its own search for deadlocks (one
 * second), so that a deadlock is called by its name, and well within the deadline of a statement.
 */
const LOCK_TIMEOUT_MS = 1500;

/** What every session of ours is set to, as libpq's `options`. */
export function sessionOptions(deadlineMs: number): string {
  const settings = [
    `lock_timeout=${Math.min(LOCK_TIMEOUT_MS, deadlineMs / 2)}`,
    // A transaction whose client is gone gives its rows back soon: whoever repeats is waiting for them.
    `idle_in_transaction_session_timeout=${2 * deadlineMs}`,
    // A statement whose client has given up stops, and with it what it locks.
    'client_connection_check_interval=1000',
    // Every statement of ours is a small set looked up by index. Left to its statistics, PostgreSQL plans for the empty
    // table it once saw (a new database, the first hours of each month) and keeps reading it whole as it grows.
    'enable_seqscan=off',
    'enable_hashjoin=off',
    'enable_mergejoin=off',
    // And so a plan made once is the plan for all values. Left to choose, PostgreSQL plans anew each time where that seems
    // cheaper to run: a page of payins of one state took 0.4 ms to run and at least five times as long to plan, each time.
    'plan_cache_mode=force_generic_plan',
    // Below version 18 a disabled node costs 1e10, above the threshold of JIT: compiling took 544 ms, the statement 0.2.
    'jit=off',
    'timezone=UTC',
  ];
  return settings.map((setting) => `-c ${setting}`).join(' ');
}

const INT8 = 20;

/** A pool of one login role. A client that failed in any way but by a statement's own error is destroyed, never reused. */
export class RolePool {
  readonly #pool: Pool;
  readonly #role: PoolRole;
  readonly #unacknowledged = new WeakSet<PoolClient>();
  readonly #pendingCommits: PendingCommits | null;
  #loginFailed = false;

  constructor(options: PoolOptions) {
    this.#role = options.role;
    this.#pendingCommits = options.pendingCommits ?? null;
    this.#pool = new Pool({
      connectionString: options.url,
      max: options.connections,
      application_name: `caudal-${options.role}`,
      // The client's own deadline: statement_timeout does not fire while a COMMIT waits for its standby.
      query_timeout: options.deadlineMs,
      connectionTimeoutMillis: options.deadlineMs,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      options: sessionOptions(options.deadlineMs),
      types: { getTypeParser: typeParser },
    });
    this.#pool.on('error', (error) =>
      options.failures.failed(
        'keep_idle_connections',
        isDatabaseError(error) ? error : new ConnectionLost(error),
      ),
    );
    this.#pool.on('connect', (client) => {
      this.#pendingCommits?.forget(backendOf(client));
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
  async transaction<T>(
    begin: string,
    work: (tx: Tx) => Promise<T>,
    name: TransactionName = 'read',
  ): Promise<T> {
    if (name !== 'read') this.#pendingCommits?.refuseWhenFull();
    const client = await this.#connect();
    let result: T;
    try {
      // Not sent together with the work: a BEGIN that fails would leave the first statement to commit by itself.
      await ask(client, { text: begin });
      result = await work(txOver(client));
    } catch (error) {
      await abandon(client, error);
      throw error;
    }
    const failpoints = commitFailpoints(name);
    passFailpoint(failpoints.before);
    await this.#commit(client);
    passFailpoint(failpoints.after);
    return result;
  }

  async #commit(client: PoolClient): Promise<void> {
    let tag: string;
    try {
      ({ command: tag } = await ask(client, { text: 'commit' }));
    } catch (error) {
      // An ERROR at COMMIT (a deferred constraint, a serialization failure) is a rollback; all else may have committed.
      if (isDatabaseError(error) && error.severity === 'ERROR') {
        await abandon(client, error);
        throw error;
      }
      this.#pendingCommits?.add(this.#role, backendOf(client));
      destroy(client);
      throw new CommitUnknown('no answer to COMMIT', error);
    }
    // A transaction whose statement failed is rolled back by COMMIT without an error, should its work have hidden it.
    if (tag !== 'COMMIT') {
      destroy(client);
      throw new Error(`the transaction had failed: COMMIT was answered with ${tag}`);
    }
    if (this.#unacknowledged.has(client)) {
      destroy(client);
      throw new CommitUnknown('the standby has not confirmed it');
    }
    client.release();
  }

  /** One statement on its own: for reads that need no setting and writes whose repetition is harmless. */
  async query<Row extends object>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    const writes = mayWrite(statement);
    if (writes) this.#pendingCommits?.refuseWhenFull();
    const client = await this.#connect();
    let rows: Row[];
    try {
      rows = await txOver(client).query<Row>(statement, values);
    } catch (error) {
      if (writes && error instanceof ConnectionLost) this.#pendingCommits?.add(this.#role, backendOf(client));
      if (endsTheConnection(error)) destroy(client);
      else client.release();
      throw error;
    }
    if (this.#unacknowledged.has(client)) {
      destroy(client);
      throw new CommitUnknown('the standby has not confirmed it');
    }
    client.release();
    return rows;
  }

  async #connect(): Promise<PoolClient> {
    try {
      const client = await this.#pool.connect();
      this.#loginFailed = false;
      return client;
    } catch (error) {
      this.#loginFailed = true;
      throw isDatabaseError(error) ? error : new ConnectionLost(error);
    }
  }

  /** Whether there was no connection to be had when one was last needed, for whatever reason. */
  get loginFailed(): boolean {
    return this.#loginFailed;
  }

  get waiting(): number {
    return this.#pool.waitingCount;
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** A statement on its own commits with it, and so may be kept waiting by a standby. */
function mayWrite({ text }: Statement): boolean {
  return !/^\s*select\b/i.test(text);
}

/** Process id of the client's backend, known once it has logged in. */
function backendOf(client: PoolClient): number | null {
  return (client as unknown as { readonly processID: number | null }).processID;
}

function txOver(client: PoolClient): Tx {
  return {
    query: async <Row extends object>({ name, text }: Statement, values: readonly unknown[] = []) =>
      (await ask<Row>(client, { name, text, values: [...values] })).rows,
  } as Tx;
}

/** Here and nowhere else a failure is told apart: what the database said, or that it could not be heard. */
async function ask<Row extends object>(client: PoolClient, query: QueryConfig): Promise<QueryResult<Row>> {
  try {
    return await client.query<Row>(query);
  } catch (error) {
    if (!isDatabaseError(error)) throw new ConnectionLost(error);
    noteStatement(error, query.name);
    throw error;
  }
}

/** A FATAL is the server's goodbye. */
function endsTheConnection(error: unknown): boolean {
  return error instanceof ConnectionLost || (isDatabaseError(error) && error.severity !== 'ERROR');
}

async function abandon(client: PoolClient, error: unknown): Promise<void> {
  if (endsTheConnection(error)) return destroy(client);
  try {
    await ask(client, { text: 'rollback' });
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

function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8) return BigInt;
  return types.getTypeParser(oid, format);
}
