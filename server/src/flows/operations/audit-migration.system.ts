import { auditIsReady } from '../../audit/operator-action.store.ts';
import type { OperatorAction } from '../../audit/operator-action.ts';
import type { SystemDeps } from '../../deps.ts';
import { recordAlone, recordFailure, withDetails } from './audit-around.system.ts';

type BeforeChanges = (pending: readonly string[]) => Promise<void>;

/**
 * Runs a migration and writes an audit row before and after it. The first migration of a database, and the one that adds
 * the current audit columns, have only the second row, because the table does not exist in its current form before.
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
