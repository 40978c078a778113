import type { SystemDeps } from '../../deps.ts';
import { listKeys, type StoredKey } from '../../organizations/credential.store.ts';
import * as store from '../../organizations/organization.store.ts';
import type { Limits } from '../../organizations/organization.ts';
import { findSuspension, type Suspension } from '../../organizations/suspension.store.ts';
import { countWaitingPayouts } from '../../payouts/payout-send.store.ts';

type ReadDeps = Pick<SystemDeps, 'system'>;

export function listOrganizations(deps: ReadDeps): Promise<store.ListedOrganization[]> {
  return deps.system.transaction('read', (tx) => store.listOrganizations(tx));
}

export interface OrganizationOverview {
  readonly organization: store.ListedOrganization;
  readonly limits: Limits;
  readonly suspension: Suspension | null;
  /** Payouts without a committed attempt. */
  readonly waitingPayouts: number;
}

/** @returns null when there is no such organization */
export function readOrganization(
  deps: ReadDeps,
  organizationId: string,
): Promise<OrganizationOverview | null> {
  return deps.system.transaction('read', async (tx) => {
    const organization = await store.findOrganization(tx, organizationId);
    const limits = await store.readLimits(tx, organizationId);
    if (!organization || !limits) return null;
    return {
      organization,
      limits,
      suspension: await findSuspension(tx, organizationId),
      waitingPayouts: await countWaitingPayouts(tx, organizationId),
    };
  });
}

/** @returns null when there is no such organization */
export function readOrganizationLimits(deps: ReadDeps, organizationId: string): Promise<Limits | null> {
  return deps.system.transaction('read', (tx) => store.readLimits(tx, organizationId));
}

/** @returns null when there is no such organization */
export function listApiKeys(deps: ReadDeps, organizationId: string): Promise<StoredKey[] | null> {
  return deps.system.transaction('read', async (tx) =>
    (await store.organizationExists(tx, organizationId)) ? listKeys(tx, organizationId) : null,
  );
}
