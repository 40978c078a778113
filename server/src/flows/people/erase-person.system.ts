import type { SystemDeps } from '../../deps.ts';
import { readStates } from '../../people/erasure.store.ts';
import type { PersonIdentifier } from '../../people/person.ts';
import { type EraseDeps, eraseResource, findNotices } from './erase-resource.system.ts';
import { type FoundResource, findPerson } from './find-person.system.ts';
import { isHeld, operatorSecrets, readHolds } from './legal-holds.system.ts';
import { railReference, toRowId } from './person-resources.system.ts';

/** What an erasure does with a resource now. */
export type ErasureStatus = 'erasable' | 'erased' | 'held' | 'in_progress' | 'retained';

export interface AssessedResource extends FoundResource {
  readonly status: ErasureStatus;
  /** When the legal retention of a retained resource ends; null while its money is in suspense. */
  readonly retainedUntil: Date | null;
}

/** States whether each resource could be erased now. A legal hold precedes everything else. */
export async function assessResources(
  deps: EraseDeps,
  found: readonly FoundResource[],
): Promise<AssessedResource[]> {
  const holds = await readHolds(deps.system, await operatorSecrets(deps));
  const states = await readStates(
    deps.system,
    found.map(({ resource }) => toRowId(resource)),
    deps.legalRetentionYears,
  );
  return found.map((each, index) => {
    const state = states[index];
    if (!state || state.inProgress === null)
      throw new Error(`${each.resource.kind} ${each.resource.value.id} does not exist any more`);
    const retainedUntil = state.isRetained ? state.retainedUntil : null;
    const status = isHeld(holds, each.resource)
      ? 'held'
      : state.inProgress
        ? 'in_progress'
        : state.isRetained
          ? 'retained'
          : 'erasable';
    return { ...each, status, retainedUntil };
  });
}

/**
 * Erases the data of a person in every resource that the law does not require to keep. Each resource is a transaction of its
 * own. An erased resource is not found again, so that an interrupted erasure is continued by running it again.
 */
export async function erasePerson(
  deps: EraseDeps & Pick<SystemDeps, 'log'>,
  identifier: PersonIdentifier,
  organizationId: string | null,
  dryRun: boolean,
): Promise<AssessedResource[]> {
  const assessed = await assessResources(deps, await findPerson(deps, identifier, organizationId));
  if (dryRun) return assessed;
  const erasable = assessed.filter(({ status }) => status === 'erasable');
  const notices = await findNotices(
    deps,
    erasable.map(({ resource }) => resource),
  );
  const operator = await operatorSecrets(deps);
  const results: AssessedResource[] = assessed.filter(({ status }) => status !== 'erasable');
  for (const each of erasable) {
    const reference = railReference(each.resource);
    const ids = reference === null ? [] : (notices.get(reference) ?? []).map(({ id }) => id);
    const outcome = await eraseResource(deps, operator, each.resource, ids);
    if (outcome !== 'not_found') results.push({ ...each, status: outcome });
  }
  return results;
}
