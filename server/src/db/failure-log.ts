import { monotonicMs } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { CommitUnknown, ConnectionLost, isDatabaseError } from './failures.ts';

const SUMMARY_EVERY_MS = 30_000;
/** A success ends an incident only after this long without a failure: connections come back one after the other. */
const QUIET_FOR_MS = 2000;

interface Codes {
  readonly first: readonly [code: string, message: string];
  readonly summary: readonly [code: string, message: string];
  readonly over: readonly [code: string, message: string];
}

const DATABASE: Codes = {
  first: ['database_connection_lost', 'the connection to the database failed'],
  summary: ['database_connection_failing', 'connections to the database keep failing'],
  over: ['database_connection_restored', 'the connection to the database is restored'],
};

const OPERATION: Codes = {
  first: ['operation_failed', 'a background operation failed and is retried'],
  summary: ['operation_failing', 'a background operation keeps failing'],
  over: ['operation_recovered', 'a background operation succeeds again'],
};

/**
 * The log of background operations that are retried until they succeed: one line when failures begin, a summary every half
 * minute while they last, one line when they are over. A lost database is one incident, whichever operations it stops.
 */
export class FailureLog {
  readonly #log: Log;
  readonly #summaryEveryMs: number;
  readonly #quietForMs: number;
  readonly #incidents = new Map<string, Incident>();

  constructor(log: Log, { summaryEveryMs = SUMMARY_EVERY_MS, quietForMs = QUIET_FOR_MS } = {}) {
    this.#log = log;
    this.#summaryEveryMs = summaryEveryMs;
    this.#quietForMs = quietForMs;
  }

  failed(operation: string, error: unknown): void {
    const key = isConnectionFailure(error) ? '' : operation;
    const now = monotonicMs();
    const incident = this.#incidents.get(key);
    if (!incident) {
      this.#incidents.set(key, {
        beganAt: now,
        failedAt: now,
        toldAt: now,
        failures: 1,
        operations: new Set([operation]),
      });
      const [code, message] = codesOf(key).first;
      this.#log.warn({ code, operation, ...errorFields(error) }, message);
      return;
    }
    incident.failures += 1;
    incident.failedAt = now;
    incident.operations.add(operation);
    if (now - incident.toldAt < this.#summaryEveryMs) return;
    incident.toldAt = now;
    const [code, message] = codesOf(key).summary;
    this.#log.warn({ code, ...summaryOf(incident, now), ...errorFields(error) }, message);
  }

  /** Of an operation that reached the database. */
  succeeded(operation: string): void {
    for (const key of ['', operation]) {
      const incident = this.#incidents.get(key);
      const now = monotonicMs();
      if (!incident || now - incident.failedAt < this.#quietForMs) continue;
      this.#incidents.delete(key);
      const [code, message] = codesOf(key).over;
      this.#log.info({ code, ...summaryOf(incident, now) }, message);
    }
  }
}

interface Incident {
  readonly beganAt: number;
  failedAt: number;
  toldAt: number;
  failures: number;
  readonly operations: Set<string>;
}

function codesOf(key: string): Codes {
  return key === '' ? DATABASE : OPERATION;
}

function summaryOf({ beganAt, failures, operations }: Incident, now: number) {
  return {
    count: failures,
    durationMs: Math.round(now - beganAt),
    operation: [...operations].toSorted().join(', '),
  };
}

/** The database could not be reached or sent the client away; a statement that it refused is not among them. */
function isConnectionFailure(error: unknown): boolean {
  if (error instanceof ConnectionLost || error instanceof CommitUnknown) return true;
  return isDatabaseError(error) && /^(?:08|53|57P|25006|28)/.test(error.code ?? '');
}
