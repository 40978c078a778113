import { auditIsReady } from '../../audit/operator-action.store.ts';
import type { OperatorAction } from '../../audit/operator-action.ts';
import type { SystemDeps } from '../../deps.ts';
import { recordAlone, recordFailure, withDetails } from './audit-around.ts';

type BeforeChanges = (pending: readonly string[]) => Promise<void>;

/**
 * Runs a migration between two audit rows. The table may not exist yet: the first migration of a database, and the one
 * that brings the audit its present columns, have the second row alone.
 */
export async function auditMigration(
  deps: Pick<SystemDeps, 'system'>,
  operator: string,
  work: (beforeChanges: BeforeChanges) => Promise<void>,
): Promise<void> {
  const action: OperatorAction = { operator, action: 'migrate', organizationId: null, resource: null };
  let startedId: string | null = null;
  let applied: readonly string[] = [];
  const beforeChanges: BeforeChanges = async (pending) => {
    applied = pending;
    if (await auditIsReady(deps.system))
      startedId = await recordAlone(deps, withDetails({ ...action, phase: 'started' }, { pending }));
  };
  try {
    await work(beforeChanges);
  } catch (error) {
    await recordFailure(deps, action, startedId, error);
    throw error;
  }
  await recordAlone(deps, withDetails({ ...action, phase: 'finished' }, { startedId, applied }));
}
