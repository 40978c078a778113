import { DatabaseError } from 'pg';
import type { Verdict } from '../kit/batch/batcher.ts';
import { Fault } from '../kit/errors.ts';

/** COMMIT was sent and nobody can say what became of it. Never told as yes nor as no. */
export class CommitUnknown extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`the outcome of a commit is not known: ${reason}`, { cause });
    this.name = 'CommitUnknown';
  }
}

/** The connection failed or a deadline passed before COMMIT was sent: nothing was committed. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super(
      `the connection to the database failed: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
    this.name = 'ConnectionLost';
  }
}

export function isDatabaseError(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError;
}

/** What the failure of a transaction means for the commands in it (see kit/batch). */
export function verdictOf(error: unknown): Verdict {
  if (error instanceof CommitUnknown) return 'unknown';
  if (error instanceof ConnectionLost) return 'again';
  if (!isDatabaseError(error)) return 'fault';
  const state = error.code ?? '';
  // A row outside all partitions is reported in class 23, but the missing month is the server's fault.
  if (state === '23514' && error.constraint === undefined) return 'fault';
  if (state.startsWith('22') || state.startsWith('23')) return 'command';
  // lock_timeout: somebody else has held this command's key for too long.
  if (state === '55P03') return 'held';
  // 25006: a new primary that is still read-only; 57P01 to 57P03: shutting down or starting up; 53300: no slot.
  return ['40001', '40P01', '25006', '57P01', '57P02', '57P03', '53300'].includes(state) ||
    state.startsWith('08')
    ? 'again'
    : 'fault';
}

/** For a write on its own, outside any batch: the same meanings, told to the one who asked. */
export function writeFailure(error: unknown): unknown {
  const verdict = verdictOf(error);
  if (verdict === 'unknown') return new Fault('outcome_unknown', { cause: error });
  return verdict === 'again'
    ? new Fault('service_unavailable', { cause: error, reason: 'the database is away' })
    : error;
}

/** Nothing hangs on the COMMIT of a read: an answer lost there is as harmless as any other lost connection. */
export function readMayBeRepeated(error: unknown): boolean {
  return ['again', 'unknown'].includes(verdictOf(error));
}

/** For reads: a database that is away is a 503 with the time to come back, not a fault of ours. */
export function readFailure(error: unknown): unknown {
  return readMayBeRepeated(error)
    ? new Fault('service_unavailable', { cause: error, reason: 'the database is away' })
    : error;
}
