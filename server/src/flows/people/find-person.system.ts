import type { SystemDeps } from '../../deps.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { type PersonIdentifier, RESOURCE_KINDS, type ResourceKind } from '../../people/person.ts';
import {
  listSearchedOrganizations,
  type SearchedOrganization,
  type SearchPattern,
  searchBatch,
} from '../../people/person-search.store.ts';
import {
  loadResources,
  type MatchedAs,
  matchPerson,
  type PersonResource,
  searchPattern,
} from './person-resources.system.ts';

/** A resource of the person that was searched for. */
export interface FoundResource {
  readonly resource: PersonResource;
  readonly as: MatchedAs;
}

export const SMALLEST_ID = '00000000-0000-0000-0000-000000000000';

/** Rows decrypted at a time: all rows of versions without an index are candidates. */
const LOADED = 500;

type PeopleDeps = Pick<SystemDeps, 'system' | 'masterKeys'>;

/**
 * Finds the resources of a person: as the customer of a payin, payout or payment link, and as the receiver of a payout.
 * Reads every row of the organizations once, in short statements.
 * @param organizationId null: all organizations
 */
export async function findPerson(
  deps: PeopleDeps,
  identifier: PersonIdentifier,
  organizationId: string | null,
): Promise<FoundResource[]> {
  const keys = new DataKeys(deps.system, deps.masterKeys);
  const found: FoundResource[] = [];
  for (const organization of await listSearchedOrganizations(deps.system, organizationId)) {
    const secrets = (await keys.load(new Set([organization.id])))(organization.id);
    const pattern = searchPattern(secrets.hashKey, identifier);
    for (const kind of RESOURCE_KINDS)
      for await (const ids of candidates(deps, kind, organization, pattern))
        for (const resource of await loadResources(deps, kind, organization, secrets, ids)) {
          const as = matchPerson(identifier, pattern, resource);
          if (as !== null) found.push({ resource, as });
        }
  }
  return found;
}

/** Ids of rows that may belong to the person, some hundred at a time. */
async function* candidates(
  { system }: Pick<SystemDeps, 'system'>,
  kind: ResourceKind,
  { id }: SearchedOrganization,
  pattern: SearchPattern,
): AsyncGenerator<string[]> {
  let after: string | null = SMALLEST_ID;
  while (after !== null) {
    const batch = await searchBatch(system, kind, id, after, pattern);
    for (let start = 0; start < batch.candidates.length; start += LOADED)
      yield batch.candidates.slice(start, start + LOADED);
    after = batch.after;
  }
}
