import { recordAction } from '../../audit/operator-action.store.ts';
import type { ActionDetails, OperatorAction } from '../../audit/operator-action.ts';
import type { SystemDeps } from '../../deps.ts';

type AuditDeps = Pick<SystemDeps, 'system'>;

/** How the work ended when it did not throw. */
export interface AuditedEnd {
  readonly phase: 'finished' | 'failed';
  readonly details?: ActionDetails;
}

/**
 * Runs work that cannot run in one transaction, and writes an audit row before and after it. The first row commits before
 * the work starts, so that the author is recorded even when the process crashes.
 */
export async function auditAround<T>(
  deps: AuditDeps,
  action: OperatorAction,
  work: () => Promise<T>,
  toEnd: (result: T) => AuditedEnd = () => ({ phase: 'finished' }),
): Promise<T> {
  const startedId = await recordAlone(deps, { ...action, phase: 'started' });
  const result = await work().catch(async (error: unknown) => {
    await recordFailure(deps, action, startedId, error);
    throw error;
  });
  const end = toEnd(result);
  await recordAlone(deps, withDetails({ ...action, phase: end.phase }, { startedId, ...end.details }));
  return result;
}

/** Writes an audit row in a separate transaction. @returns the id of the row */
export function recordAlone(deps: AuditDeps, action: OperatorAction): Promise<string> {
  return deps.system.transaction('record action', (tx) => recordAction(tx, action));
}

/** Does not throw: a failure to write the audit row must not replace the error that ended the work. */
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

/** The SQLSTATE or the name of the error class, never the message, which might contain personal data. */
function errorName(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'unknown';
}
