import type { SystemDeps } from '../deps.ts';
import { listKeys, type StoredKey } from '../organizations/credential.store.ts';
import * as store from '../organizations/organization.store.ts';
import type { Organization } from '../organizations/organization.ts';

export function listOrganizations(deps: Pick<SystemDeps, 'system'>): Promise<Organization[]> {
  return deps.system.transaction('read', (tx) => store.listOrganizations(tx));
}

/** @returns null when there is no such organization */
export function listKeysOf(
  deps: Pick<SystemDeps, 'system'>,
  organizationId: string,
): Promise<StoredKey[] | null> {
  return deps.system.transaction('read', async (tx) =>
    (await store.organizationExists(tx, organizationId)) ? listKeys(tx, organizationId) : null,
  );
}
