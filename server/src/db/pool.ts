import { Pool, type PoolClient, type QueryConfig, type QueryResult, types } from 'pg';
import { monotonicMs } from '../kit/clock.ts';
import { deadline } from '../kit/deadline.ts';
import { passFailpoint } from '../kit/failpoint.ts';
import type { HistogramSeries } from '../kit/metrics.ts';
import type { PoolRole } from './active-backends.ts';
import type { FailureLog } from './failure-log.ts';
import { CommitUnknown, ConnectionLost, isDatabaseError, recordStatement } from './failures.ts';
import type { PendingCommits } from './pending-commits.ts';
import { commitFailpoints, type TransactionName } from './transactions.ts';
import type { StateChange, Statement, Tx } from './tx.ts';

/** Where a pool reports the duration of its statements and of its waits for a connection. */
export interface PoolTimes {
  readonly wait: HistogramSeries;
  readonly statement: HistogramSeries;
}

export interface PoolOptions {
  readonly url: string;
  readonly role: PoolRole;
  readonly connections: number;
  /** Maximum duration of a single statement, including COMMIT, before its connection is closed. */
  readonly deadlineMs: number;
  readonly failures: FailureLog;
  /** Shared by the pools of a process; without it, unanswered commits have no limit. */
  readonly pendingCommits?: PendingCommits;
  readonly times?: PoolTimes;
  /** Receives the changes of each transaction after its commit; must not throw. */
  readonly onStateChanges?: (changes: readonly StateChange[]) => void;
}

/**
 * Longer than deadlock_timeout (one second), so that a deadlock is reported as a deadlock, and well within the deadline
 * of a statement.
 */
const LOCK_TIMEOUT_MS = 1500;

/** Settings of every session, in the format of libpq's `options`. */
export function sessionOptions(deadlineMs: number): string {
  const settings = [
    `lock_timeout=${Math.min(deadline(LOCK_TIMEOUT_MS), deadlineMs / 2)}`,
    // Releases the row locks of a transaction whose client is gone: retries wait for them.
    `idle_in_transaction_session_timeout=${2 * deadlineMs}`,
    // Cancels a statement, and releases its locks, soon after its client disconnects.
    'client_connection_check_interval=1000',
    // Every statement looks up a small set by index. With its statistics, PostgreSQL plans for an empty table (a new
    // database, the first hours of each month) and keeps scanning the whole table as it grows.
    'enable_seqscan=off',
    'enable_hashjoin=off',
    'enable_mergejoin=off',
    // One generic plan is therefore good for all values. By default PostgreSQL re-plans each execution where a custom plan
    // looks cheaper: a page of payins of one state took 0.4 ms to run and at least five times as long to plan, each time.
    'plan_cache_mode=force_generic_plan',
    // Before version 18 a disabled node costs 1e10, above the JIT threshold: compiling took 544 ms, the statement 0.2 ms.
    'jit=off',
    'timezone=UTC',
  ];
  return settings.map((setting) => `-c ${setting}`).join(' ');
}

const INT8 = 20;

/** Connection pool of one login role. After any failure other than a statement error, the client is destroyed. */
export class RolePool {
  readonly #pool: Pool;
  readonly #role: PoolRole;
  readonly #unacknowledged = new WeakSet<PoolClient>();
  readonly #pendingCommits: PendingCommits | null;
  readonly #times: PoolTimes | null;
  readonly #onStateChanges: (changes: readonly StateChange[]) => void;
  #loginFailed = false;

  constructor(options: PoolOptions) {
    this.#role = options.role;
    this.#pendingCommits = options.pendingCommits ?? null;
    this.#times = options.times ?? null;
    this.#onStateChanges = options.onStateChanges ?? (() => {});
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
      this.#pendingCommits?.forget(getBackendPid(client));
      client.on('notice', (notice) => {
        // A COMMIT whose wait for the standby was canceled resolves as success; only this notice reveals it.
        if (/synchronous replication/.test(notice.message ?? '')) this.#unacknowledged.add(client);
      });
      client.on('error', () => {});
    });
  }

  /**
   * Runs one transaction. Throws `ConnectionLost` when the connection fails before COMMIT is sent, `CommitUnknown` when it
   * fails after, and the database error when a statement is rejected.
   * @param begin SQL that starts the transaction, including settings; built from validated values only
   */
  async transaction<T>(
    begin: string,
    work: (tx: Tx) => Promise<T>,
    name: TransactionName = 'read',
  ): Promise<T> {
    if (name !== 'read') this.#pendingCommits?.rejectWhenFull();
    const client = await this.#connect();
    const changes: StateChange[] = [];
    let result: T;
    try {
      // Not pipelined with the work: after a failed BEGIN, the first statement would autocommit.
      await this.#execute(client, { text: begin });
      result = await work(this.#createTx(client, changes));
    } catch (error) {
      await this.#rollBack(client, error);
      throw error;
    }
    const failpoints = commitFailpoints(name);
    passFailpoint(failpoints.before);
    await this.#commit(client);
    if (changes.length > 0) this.#onStateChanges(changes);
    passFailpoint(failpoints.after);
    return result;
  }

  async #commit(client: PoolClient): Promise<void> {
    let tag: string;
    try {
      ({ command: tag } = await this.#execute(client, { text: 'commit' }));
    } catch (error) {
      // An ERROR at COMMIT (deferred constraint, serialization failure) means rollback; any other failure may have
      // committed.
      if (isDatabaseError(error) && error.severity === 'ERROR') {
        await this.#rollBack(client, error);
        throw error;
      }
      this.#pendingCommits?.add(this.#role, getBackendPid(client));
      destroy(client);
      throw new CommitUnknown('no answer to COMMIT', error);
    }
    // If the work swallowed a statement error, COMMIT rolls back without an error and answers ROLLBACK.
    if (tag !== 'COMMIT') {
      destroy(client);
      throw new Error(`the transaction had already failed: PostgreSQL answered COMMIT with ${tag}`);
    }
    if (this.#unacknowledged.has(client)) {
      destroy(client);
      throw new CommitUnknown('the synchronous standby did not confirm it');
    }
    client.release();
  }

  /** Runs one statement outside a transaction: for reads that need no session setting, and for idempotent writes. */
  async query<Row extends object>(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    const writes = mayWrite(statement);
    if (writes) this.#pendingCommits?.rejectWhenFull();
    const client = await this.#connect();
    let rows: Row[];
    try {
      rows = await this.#createTx(client, []).query<Row>(statement, values);
    } catch (error) {
      if (writes && error instanceof ConnectionLost)
        this.#pendingCommits?.add(this.#role, getBackendPid(client));
      if (isConnectionUnusable(error)) destroy(client);
      else client.release();
      throw error;
    }
    if (this.#unacknowledged.has(client)) {
      destroy(client);
      throw new CommitUnknown('the synchronous standby did not confirm it');
    }
    client.release();
    return rows;
  }

  async #connect(): Promise<PoolClient> {
    const startedAt = monotonicMs();
    try {
      const client = await this.#pool.connect();
      this.#loginFailed = false;
      return client;
    } catch (error) {
      this.#loginFailed = true;
      throw isDatabaseError(error) ? error : new ConnectionLost(error);
    } finally {
      this.#times?.wait.observe((monotonicMs() - startedAt) / 1000);
    }
  }

  #createTx(client: PoolClient, changes: StateChange[]): Tx {
    return {
      query: async <Row extends object>({ name, text }: Statement, values: readonly unknown[] = []) =>
        (await this.#execute<Row>(client, { name, text, values: [...values] })).rows,
      report: (reported: readonly StateChange[]) => void changes.push(...reported),
    } as Tx;
  }

  /** The only place that separates errors reported by PostgreSQL from lost connections. */
  async #execute<Row extends object>(client: PoolClient, query: QueryConfig): Promise<QueryResult<Row>> {
    const startedAt = monotonicMs();
    try {
      return await client.query<Row>(query);
    } catch (error) {
      if (!isDatabaseError(error)) throw new ConnectionLost(error);
      recordStatement(error, query.name);
      throw error;
    } finally {
      this.#times?.statement.observe((monotonicMs() - startedAt) / 1000);
    }
  }

  async #rollBack(client: PoolClient, error: unknown): Promise<void> {
    if (isConnectionUnusable(error)) return destroy(client);
    try {
      await this.#execute(client, { text: 'rollback' });
      client.release();
    } catch {
      destroy(client);
    }
  }

  /** Whether the last attempt to get a connection failed, for any reason. */
  get loginFailed(): boolean {
    return this.#loginFailed;
  }

  get usage(): {
    readonly inUse: number;
    readonly idle: number;
    readonly limit: number;
    readonly waiting: number;
  } {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    return { inUse: totalCount - idleCount, idle: idleCount, limit: options.max, waiting: waitingCount };
  }

  close(): Promise<void> {
    return this.#pool.end();
  }
}

/** A single statement autocommits, so a write may wait for the synchronous standby. */
function mayWrite({ text }: Statement): boolean {
  return !/^\s*select\b/i.test(text);
}

/** Process id of the client's backend; known after login. */
function getBackendPid(client: PoolClient): number | null {
  return (client as unknown as { readonly processID: number | null }).processID;
}

/** PostgreSQL closes the connection after a FATAL error. */
function isConnectionUnusable(error: unknown): boolean {
  return error instanceof ConnectionLost || (isDatabaseError(error) && error.severity !== 'ERROR');
}

/** Destroys the socket: after a silent network loss, a graceful disconnect is never answered and would leak it. */
function destroy(client: PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  stream.destroy();
  client.release(true);
}

function typeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === INT8) return BigInt;
  return types.getTypeParser(oid, format);
}
