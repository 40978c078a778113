import { recordAction } from '../../audit/operator-action.store.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { announceChange } from '../../organizations/organization.store.ts';
import { resume, type Suspension, suspend } from '../../organizations/suspension.store.ts';

type SuspendDeps = Pick<SystemDeps, 'system'>;

interface Decision {
  readonly by: string;
  readonly reason: string;
}

/**
 * Suspends a merchant. After the commit no worker commits an attempt of its payouts, and every API process rejects its
 * creations and lookups within a second. Sent payouts and open payins continue to their final state.
 * @returns null when there is no such organization
 */
export async function suspendOrganization(
  deps: SuspendDeps,
  organizationId: string,
  decision: Decision,
): Promise<Suspension | null> {
  return deps.system.transaction('manage organizations', async (tx) => {
    const suspension = await suspend(tx, organizationId, decision);
    if (suspension) await recordChange(tx, 'org.suspend', organizationId, decision);
    return suspension;
  });
}

/** Lifts a suspension; waiting payouts are sent. @returns whether the organization was suspended */
export async function resumeOrganization(
  deps: SuspendDeps,
  organizationId: string,
  decision: Decision,
): Promise<boolean> {
  return deps.system.transaction('manage organizations', async (tx) => {
    if (!(await resume(tx, organizationId))) return false;
    await recordChange(tx, 'org.resume', organizationId, decision);
    return true;
  });
}

async function recordChange(
  tx: Tx,
  action: 'org.suspend' | 'org.resume',
  organizationId: string,
  { by, reason }: Decision,
): Promise<void> {
  await announceChange(tx, organizationId);
  await recordAction(tx, { operator: by, action, organizationId, resource: organizationId, note: reason });
}
