import { recordAction } from '../../audit/operator-action.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { OPERATOR_ORGANIZATION_ID, type OrganizationSecrets } from '../../organizations/organization.ts';
import { RESOURCE_KINDS, type ResourceKind } from '../../people/person.ts';
import {
  expiredBatch,
  listSearchedOrganizations,
  type SearchedOrganization,
} from '../../people/person-search.store.ts';
import { type EraseDeps, eraseResource } from './erase-resource.system.ts';
import { SMALLEST_ID } from './find-person.system.ts';
import { loadResources } from './person-resources.system.ts';

/** A run ends before the timeout of its schedule; the next one continues. */
const RUN_MS = 1_800_000;
const LOADED = 200;

/**
 * Erases the personal data of resources that are older than the legal retention, without a request, except data of persons
 * under a legal hold. Raw rail notices leave with their months (`months detach`).
 * @returns the number of erased resources
 */
export async function eraseExpired(
  deps: EraseDeps & Pick<SystemDeps, 'log'>,
  signal: AbortSignal,
): Promise<number> {
  const keys = new DataKeys(deps.system, deps.masterKeys);
  const operator = (await keys.load(new Set([OPERATOR_ORGANIZATION_ID])))(OPERATOR_ORGANIZATION_ID);
  const endsAt = monotonicMs() + RUN_MS;
  const isOver = () => signal.aborted || monotonicMs() > endsAt;
  let erased = 0;
  for (const organization of await listSearchedOrganizations(deps.system, null)) {
    if (isOver()) break;
    const secrets = (await keys.load(new Set([organization.id])))(organization.id);
    for (const kind of RESOURCE_KINDS)
      erased += await eraseOfOrganization(deps, operator, { kind, organization, secrets }, isOver);
  }
  if (erased > 0) await recordRun(deps, erased);
  return erased;
}

interface Part {
  readonly kind: ResourceKind;
  readonly organization: SearchedOrganization;
  readonly secrets: OrganizationSecrets;
}

async function eraseOfOrganization(
  deps: EraseDeps & Pick<SystemDeps, 'log'>,
  operator: OrganizationSecrets,
  { kind, organization, secrets }: Part,
  isOver: () => boolean,
): Promise<number> {
  let erased = 0;
  let after: string | null = SMALLEST_ID;
  while (after !== null && !isOver()) {
    const batch: Awaited<ReturnType<typeof expiredBatch>> = await expiredBatch(
      deps.system,
      kind,
      organization.id,
      after,
      deps.legalRetentionYears,
    );
    for (let start = 0; start < batch.candidates.length && !isOver(); start += LOADED) {
      const ids = batch.candidates.slice(start, start + LOADED);
      for (const resource of await loadResources(deps, kind, organization, secrets, ids))
        if ((await eraseResource(deps, operator, resource, [])) === 'erased') erased += 1;
    }
    after = batch.after;
  }
  return erased;
}

async function recordRun({ system, log }: Pick<SystemDeps, 'system' | 'log'>, erased: number): Promise<void> {
  await system.transaction('record action', (tx) =>
    recordAction(tx, {
      operator: 'schedule personal-data',
      action: 'people.erase',
      organizationId: null,
      resource: 'legal_retention',
      details: { erased },
    }),
  );
  log.info(
    { code: 'expired_personal_data_erased', count: erased },
    'erased personal data that was older than the legal retention',
  );
}
