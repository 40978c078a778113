import { monotonicMs } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { CommitUnknown, ConnectionLost, isDatabaseError } from './failures.ts';

const SUMMARY_EVERY_MS = 30_000;
/** A success ends an incident only after this long without a failure: connections recover one by one. */
const QUIET_FOR_MS = 2000;

/** Incident key of a lost database connection; other incidents are keyed by operation name. */
const DATABASE_INCIDENT = '';

interface Codes {
  readonly first: readonly [code: string, message: string];
  readonly summary: readonly [code: string, message: string];
  readonly over: readonly [code: string, message: string];
}

const DATABASE: Codes = {
  first: ['database_connection_lost', 'database connection failed'],
  summary: ['database_connection_failing', 'database connections keep failing'],
  over: ['database_connection_restored', 'database connection restored'],
};

const OPERATION: Codes = {
  first: ['operation_failed', 'background operation failed; retrying'],
  summary: ['operation_failing', 'background operation keeps failing'],
  over: ['operation_recovered', 'background operation recovered'],
};

/**
 * Logs failures of background operations that are retried until they succeed: one line when an incident starts, a summary
 * every 30 seconds while it lasts, one line when it ends. A lost database connection is a single incident, no matter how
 * many operations it stops.
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
    const key = isConnectionFailure(error) ? DATABASE_INCIDENT : operation;
    const now = monotonicMs();
    const incident = this.#incidents.get(key);
    if (!incident) {
      this.#incidents.set(key, {
        startedAt: now,
        failedAt: now,
        loggedAt: now,
        failures: 1,
        operations: new Set([operation]),
      });
      const [code, message] = getCodes(key).first;
      this.#log.warn({ code, operation, ...errorFields(error) }, message);
      return;
    }
    incident.failures += 1;
    incident.failedAt = now;
    incident.operations.add(operation);
    if (now - incident.loggedAt < this.#summaryEveryMs) return;
    incident.loggedAt = now;
    const [code, message] = getCodes(key).summary;
    this.#log.warn({ code, ...summarize(incident, now), ...errorFields(error) }, message);
  }

  /** Call after an operation that reached the database. */
  succeeded(operation: string): void {
    for (const key of [DATABASE_INCIDENT, operation]) {
      const incident = this.#incidents.get(key);
      const now = monotonicMs();
      if (!incident || now - incident.failedAt < this.#quietForMs) continue;
      this.#incidents.delete(key);
      const [code, message] = getCodes(key).over;
      this.#log.info({ code, ...summarize(incident, now) }, message);
    }
  }
}

interface Incident {
  readonly startedAt: number;
  failedAt: number;
  loggedAt: number;
  failures: number;
  readonly operations: Set<string>;
}

function getCodes(incidentKey: string): Codes {
  return incidentKey === DATABASE_INCIDENT ? DATABASE : OPERATION;
}

function summarize({ startedAt, failures, operations }: Incident, now: number) {
  return {
    count: failures,
    durationMs: Math.round(now - startedAt),
    operation: [...operations].toSorted().join(', '),
  };
}

/** PostgreSQL was unreachable or rejected the client. A rejected statement is not a connection failure. */
function isConnectionFailure(error: unknown): boolean {
  if (error instanceof ConnectionLost || error instanceof CommitUnknown) return true;
  return isDatabaseError(error) && /^(?:08|53|57P|25006|28)/.test(error.code ?? '');
}
