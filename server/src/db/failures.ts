import { DatabaseError } from 'pg';
import type { Verdict } from '../kit/batch/batcher.ts';
import { ApiError } from '../kit/errors.ts';

/** COMMIT was sent and nobody can say what became of it. Never told as yes nor as no. */
export class CommitUnknown extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`the outcome of a commit is not known: ${reason}`, { cause });
    this.name = 'CommitUnknown';
  }
}

/** The connection failed or a deadline passed before COMMIT was sent: nothing was committed. */
export class ConnectionLost extends Error {
  /** The statement was still being worked on when its deadline passed: asking again would only add to the load. */
  readonly late: boolean;

  constructor(cause: unknown) {
    super(
      `the connection to the database failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
    this.name = 'ConnectionLost';
    this.late = cause instanceof Error && cause.message === 'Query read timeout';
  }
}

const statements = new WeakMap<DatabaseError, string>();

/** Remembers which statement PostgreSQL refused: what a lock timeout means depends on who waited for what. */
export function noteStatement(error: DatabaseError, name: string | undefined): void {
  if (name !== undefined) statements.set(error, name);
}

export function statementOf(error: unknown): string | null {
  return isDatabaseError(error) ? (statements.get(error) ?? null) : null;
}

export function isLockTimeout(error: unknown): boolean {
  return isDatabaseError(error) && error.code === '55P03';
}

export function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}

/** The role, its password or the database's name is not accepted: nothing was done, and an operator must act. */
function isLoginRefusal(error: unknown): boolean {
  return isDatabaseError(error) && error.severity === 'FATAL' && /^(?:28|3D000|42501)/.test(error.code ?? '');
}

/** What the failure of a transaction means for the commands in it (see kit/batch). */
export function verdictOf(error: unknown): Verdict {
  if (error instanceof CommitUnknown) return 'unknown';
  if (error instanceof ConnectionLost) return 'again';
  // Ours, and transient: the database has not been heard for too long, so no id can be stamped.
  if (error instanceof ApiError && error.code === 'service_unavailable') return 'again';
  if (isLoginRefusal(error)) return 'again';
  if (!isDatabaseError(error)) return 'fault';
  const state = error.code ?? '';
  // A row outside all partitions is reported in class 23, but the missing month is the server's fault.
  if (state === '23514' && error.constraint === undefined) return 'fault';
  if (state.startsWith('22') || state.startsWith('23')) return 'command';
  // lock_timeout: another transaction has held what a command needs for too long.
  if (state === '55P03') return 'held';
  if (state === '40003') return 'unknown';
  return NOTHING_DONE.has(state) || /^(?:08|53)/.test(state) ? 'again' : 'fault';
}

/**
 * Nothing was committed and it may go better: serialization, deadlock, a new primary that is still read-only, shutting
 * down or starting up, a statement cancelled, a transaction that idled too long. With them classes 08 (connection) and
 * 53 (no slot, memory or disk).
 */
const NOTHING_DONE: ReadonlySet<string> = new Set([
  '40001',
  '40P01',
  '25006',
  '57P01',
  '57P02',
  '57P03',
  '57014',
  '25P03',
]);

/** The database is away, or somebody is in the way: nothing is wrong with what was to be written. */
export function isPassing(error: unknown): boolean {
  return ['again', 'unknown', 'held'].includes(verdictOf(error));
}

/** For a write on its own, outside any batch: the same meanings, told to the one who asked. */
export function writeFailure(error: unknown): unknown {
  const verdict = verdictOf(error);
  if (verdict === 'unknown') return new ApiError('outcome_unknown', { cause: error });
  return verdict === 'again' || verdict === 'held'
    ? new ApiError('service_unavailable', { cause: error, reason: 'the database is away or busy' })
    : error;
}

/** Nothing hangs on the COMMIT of a read: an answer lost there is as harmless as any other lost connection. */
function databaseIsAway(error: unknown): boolean {
  return ['again', 'unknown'].includes(verdictOf(error));
}

/** A read whose connection broke may be tried on a fresh one; a read that took too long would take too long again. */
export function readMayBeRepeated(error: unknown): boolean {
  return databaseIsAway(error) && !(error instanceof ConnectionLost && error.late);
}

/** For reads: a database that is away is a 503 with the time to come back, not a fault of ours. */
export function readFailure(error: unknown): unknown {
  return databaseIsAway(error)
    ? new ApiError('service_unavailable', { cause: error, reason: 'the database is away' })
    : error;
}
