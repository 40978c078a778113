import type { SystemDeps } from '../deps.ts';
import { type KeyRow, listKeys } from '../organizations/credential.store.ts';
import * as store from '../organizations/organization.store.ts';
import type { Organization } from '../organizations/organization.ts';

export function listOrganizations(deps: Pick<SystemDeps, 'system'>): Promise<Organization[]> {
  return deps.system.transaction((tx) => store.listOrganizations(tx));
}

export function listKeysOf(deps: Pick<SystemDeps, 'system'>, organizationId: string): Promise<KeyRow[]> {
  return deps.system.transaction((tx) => listKeys(tx, organizationId));
}
