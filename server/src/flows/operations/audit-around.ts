import { recordAction } from '../../audit/operator-action.store.ts';
import type { ActionDetails, OperatorAction } from '../../audit/operator-action.ts';
import type { SystemDeps } from '../../deps.ts';

type AuditDeps = Pick<SystemDeps, 'system'>;

/** How work ended, where it did not throw. */
export interface AuditedEnd {
  readonly phase: 'finished' | 'failed';
  readonly details?: ActionDetails;
}

/**
 * Runs work that cannot run in one transaction between two audit rows. The first commits before the work begins, so
 * that a process that dies in between leaves its author behind.
 */
export async function auditAround<T>(
  deps: AuditDeps,
  action: OperatorAction,
  work: () => Promise<T>,
  endOf: (result: T) => AuditedEnd = () => ({ phase: 'finished' }),
): Promise<T> {
  const startedId = await recordAlone(deps, { ...action, phase: 'started' });
  const result = await work().catch(async (error: unknown) => {
    await recordFailure(deps, action, startedId, error);
    throw error;
  });
  const end = endOf(result);
  await recordAlone(deps, withDetails({ ...action, phase: end.phase }, { startedId, ...end.details }));
  return result;
}

/** In a transaction of its own. @returns the id of the row */
export function recordAlone(deps: AuditDeps, action: OperatorAction): Promise<string> {
  return deps.system.transaction('record action', (tx) => recordAction(tx, action));
}

/** The error that ended the work is the one to report: a failure to record it does not replace it. */
export async function recordFailure(
  deps: AuditDeps,
  action: OperatorAction,
  startedId: string | null,
  error: unknown,
): Promise<void> {
  const failed = withDetails({ ...action, phase: 'failed' }, { startedId, error: errorName(error) });
  await recordAlone(deps, failed).catch(() => undefined);
}

export function withDetails(action: OperatorAction, details: ActionDetails): OperatorAction {
  return { ...action, details: { ...action.details, ...details } };
}

/** An SQLSTATE or the name of its class; a message might quote data. */
function errorName(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'unknown';
}
