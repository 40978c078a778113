import type { SystemDeps } from '../../deps.ts';
import { decryptPayload, encryptPayload } from '../../events/event.encryption.ts';
import { uuidFloor } from '../../kit/ids.ts';
import { OPERATOR_ORGANIZATION_ID, type OrganizationSecrets } from '../../organizations/organization.ts';
import { encryptReceiver } from '../../payouts/receiver.encryption.ts';
import {
  type Erasure,
  type ErasureOutcome,
  erasePersonalData,
  findFinalEvent,
  type NoticeOfResource,
  noticesBatch,
} from '../../people/erasure.store.ts';
import { ERASED_RECEIVER, type ResourceKind } from '../../people/person.ts';
import { SEARCH_BATCH } from '../../people/person-search.store.ts';
import { isHeld, readHolds } from './legal-holds.system.ts';
import { type PersonResource, railReference, toRowId } from './person-resources.system.ts';

export type EraseDeps = Pick<SystemDeps, 'system' | 'masterKeys' | 'legalRetentionYears'>;

/** A rotation of data keys may encrypt the event again between the read and the erasure. */
const MAX_TRIES = 5;

/**
 * Erases the personal data of one resource in one transaction: its customer, metadata, receiver, final event, responses of
 * webhook endpoints, raw rail notices, evidence of the authorization and queued e-mails. The database refuses while the
 * resource is in progress or within the legal retention.
 * @param notices the ids of the rail notices about it
 */
export async function eraseResource(
  deps: EraseDeps,
  operator: OrganizationSecrets,
  resource: PersonResource,
  notices: readonly string[],
): Promise<Exclude<ErasureOutcome, 'changed'> | 'held'> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const outcome = await deps.system.transaction('erase personal data', async (tx) => {
      if (isHeld(await readHolds(tx, operator), resource)) return 'held';
      const erasure = { ...describeErasure(resource, notices), event: null };
      const event = await findFinalEvent(tx, erasure);
      return erasePersonalData(
        tx,
        { ...erasure, event: event && eraseEvent(resource, event) },
        deps.legalRetentionYears,
      );
    });
    if (outcome !== 'changed') return outcome;
  }
  throw new Error(`the event of ${resource.kind} ${resource.value.id} keeps changing; run the command again`);
}

function describeErasure(resource: PersonResource, notices: readonly string[]): Omit<Erasure, 'event'> {
  const rowId = toRowId(resource);
  const { dataKey } = resource.secrets;
  return {
    ...rowId,
    receiver:
      resource.kind === 'payout'
        ? encryptReceiver(dataKey, ERASED_RECEIVER, rowId.organizationId, rowId.id)
        : null,
    railReference: railReference(resource),
    notices,
  };
}

function eraseEvent(
  { kind, organization, secrets: { dataKey } }: PersonResource,
  { id, payload }: { readonly id: string; readonly payload: Buffer },
): Erasure['event'] {
  const body = decryptPayload(dataKey, payload, organization.id, id).toString('utf8');
  const erased = withoutPersonalData(kind, body);
  return { id, was: payload, becomes: encryptPayload(dataKey, erased, organization.id, id) };
}

/** Events contain no customer: the personal data in them is the merchant's metadata and the receiver's key. */
function withoutPersonalData(kind: ResourceKind, body: string): string {
  const event = JSON.parse(body) as { data: Record<string, unknown> };
  const data: Record<string, unknown> = { ...event.data, metadata: {} };
  if (kind === 'payout')
    data['sourceData'] = { ...(data['sourceData'] as object), keyString: ERASED_RECEIVER };
  return JSON.stringify({ ...event, data });
}

/** The rail notices about the resources, by the reference of the resource at its rail. */
export async function findNotices(
  { system }: Pick<SystemDeps, 'system'>,
  resources: readonly PersonResource[],
): Promise<ReadonlyMap<string, readonly NoticeOfResource[]>> {
  const references = resources.flatMap((resource) => railReference(resource) ?? []);
  if (references.length === 0) return new Map();
  const oldest = Math.min(...resources.map(({ value }) => value.createdAt.getTime()));
  const found: NoticeOfResource[] = [];
  // A minute earlier, for clock differences between processes.
  let after: string | null = uuidFloor(oldest - 60_000);
  while (after !== null) {
    const batch: Awaited<ReturnType<typeof noticesBatch>> = await noticesBatch(
      system,
      OPERATOR_ORGANIZATION_ID,
      after,
      references,
      SEARCH_BATCH,
    );
    found.push(...batch.notices);
    after = batch.after;
  }
  return Map.groupBy(found, ({ reference }) => reference);
}
