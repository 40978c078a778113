import { recordAction } from '../../audit/operator-action.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { organizationExists } from '../../organizations/organization.store.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { listPauses, pause, resume, type StoredPause } from '../../organizations/rail-pause.store.ts';
import type { Rail } from '../../rails/contract.ts';

/** The rail, and the organization it is paused for; null is every organization. */
interface PauseScope {
  readonly rail: Rail;
  readonly organizationId: string | null;
}

/**
 * Within a second of the commit every process rejects new payins on the rail and sends no new orders. Notices are still
 * accepted, and polling and closing of existing orders continue.
 * @returns false when there is no such organization
 */
export async function pauseRail(
  deps: SystemDeps,
  { rail, organizationId }: PauseScope,
  cause: { readonly reason: string; readonly pausedBy: string },
): Promise<boolean> {
  return deps.system.transaction('pause rail', async (tx) => {
    if (organizationId !== null && !(await organizationExists(tx, organizationId))) return false;
    await pause(tx, { rail, organizationId: organizationId ?? OPERATOR_ORGANIZATION_ID, ...cause });
    const { pausedBy: operator, reason: note } = cause;
    await recordAction(tx, { operator, action: 'rails.pause', organizationId, resource: rail, note });
    return true;
  });
}

/** @returns false when it was not paused */
export async function resumeRail(
  deps: SystemDeps,
  { rail, organizationId }: PauseScope,
  operator: string,
): Promise<boolean> {
  return deps.system.transaction('pause rail', async (tx) => {
    const resumed = await resume(tx, { rail, organizationId: organizationId ?? OPERATOR_ORGANIZATION_ID });
    if (resumed) await recordAction(tx, { operator, action: 'rails.resume', organizationId, resource: rail });
    return resumed;
  });
}

export type RailPause = Omit<StoredPause, 'organizationId'> & PauseScope;

export async function listRailPauses(deps: SystemDeps): Promise<RailPause[]> {
  return (await listPauses(deps.system)).map((each) => ({
    ...each,
    organizationId: each.organizationId === OPERATOR_ORGANIZATION_ID ? null : each.organizationId,
  }));
}
