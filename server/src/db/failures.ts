import { DatabaseError } from 'pg';
import type { Verdict } from '../kit/batch/batcher.ts';
import { ApiError } from '../kit/errors.ts';

/** COMMIT was sent and its outcome is unknown. Never reported as a success or a failure. */
export class CommitUnknown extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`commit outcome unknown: ${reason}`, { cause });
    this.name = 'CommitUnknown';
  }
}

/** The connection failed or a deadline passed before COMMIT was sent: nothing was committed. */
export class ConnectionLost extends Error {
  /** The statement was still running at its deadline: retrying would only add load. */
  readonly timedOut: boolean;

  constructor(cause: unknown) {
    super(`database connection failed: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'ConnectionLost';
    this.timedOut = cause instanceof Error && cause.message === 'Query read timeout';
  }
}

/**
 * Records which statement PostgreSQL rejected: the log shows it (kit/log.ts), and the meaning of a lock timeout depends on
 * it.
 */
export function recordStatement(
  error: DatabaseError & { statement?: string },
  name: string | undefined,
): void {
  if (name !== undefined) error.statement = name;
}

export function failedStatement(error: unknown): string | null {
  return isDatabaseError(error) ? ((error as { statement?: string }).statement ?? null) : null;
}

export function isLockTimeout(error: unknown): boolean {
  return isDatabaseError(error) && error.code === '55P03';
}

export function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}

/** PostgreSQL rejected the role, its password or the database name: nothing was executed, and an operator must act. */
function isLoginRejection(error: unknown): boolean {
  return isDatabaseError(error) && error.severity === 'FATAL' && /^(?:28|3D000|42501)/.test(error.code ?? '');
}

/** Maps the failure of a transaction to the handling of its commands (see kit/batch). */
export function classifyFailure(error: unknown): Verdict {
  if (error instanceof CommitUnknown) return 'unknown';
  if (error instanceof ConnectionLost) return 'retry';
  // Transient, from our own clock: the last heartbeat is too old, so no id can be generated.
  if (error instanceof ApiError && error.code === 'service_unavailable') return 'retry';
  if (isLoginRejection(error)) return 'retry';
  if (!isDatabaseError(error)) return 'internal_error';
  const state = error.code ?? '';
  // PostgreSQL reports a row outside all partitions as class 23, but a missing partition is a server error.
  if (state === '23514' && error.constraint === undefined) return 'internal_error';
  if (state.startsWith('22') || state.startsWith('23')) return 'command';
  // lock_timeout: another transaction holds a lock that a command needs.
  if (state === '55P03') return 'lock_timeout';
  if (state === '40003') return 'unknown';
  return RETRYABLE.has(state) || /^(?:08|53)/.test(state) ? 'retry' : 'internal_error';
}

/**
 * Nothing was committed and a retry may succeed: serialization failure, deadlock, a new primary that is still read-only,
 * shutdown or startup, canceled statement, idle-in-transaction timeout. Classes 08 (connection) and 53 (no connection
 * slot, memory or disk) are retryable as well.
 */
const RETRYABLE: ReadonlySet<string> = new Set([
  '40001',
  '40P01',
  '25006',
  '57P01',
  '57P02',
  '57P03',
  '57014',
  '25P03',
]);

/** The database is unavailable or a lock is held by another transaction; the data itself is valid. */
export function isTransient(error: unknown): boolean {
  return ['retry', 'unknown', 'lock_timeout'].includes(classifyFailure(error));
}

/** Maps the failure of a single write outside a batch to an API error. */
export function toWriteError(error: unknown): unknown {
  const verdict = classifyFailure(error);
  if (verdict === 'unknown') return new ApiError('outcome_unknown', { cause: error });
  return verdict === 'retry' || verdict === 'lock_timeout'
    ? new ApiError('service_unavailable', { cause: error, reason: 'the database is unavailable or busy' })
    : error;
}

/** Includes an unknown COMMIT: losing the answer to the COMMIT of a read is harmless. */
function isDatabaseUnavailable(error: unknown): boolean {
  return ['retry', 'unknown'].includes(classifyFailure(error));
}

/** A read whose connection broke is retried on a new one; a read that timed out would time out again. */
export function isReadRetryable(error: unknown): boolean {
  return isDatabaseUnavailable(error) && !(error instanceof ConnectionLost && error.timedOut);
}

/** Maps the failure of a read: an unavailable database is a 503 with Retry-After, not a 500. */
export function toReadError(error: unknown): unknown {
  return isDatabaseUnavailable(error)
    ? new ApiError('service_unavailable', { cause: error, reason: 'the database is unavailable' })
    : error;
}
