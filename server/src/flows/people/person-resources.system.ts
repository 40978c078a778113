import type { Customer } from '../../customers/customer.ts';
import type { RowId } from '../../db/columns.ts';
import type { SystemDeps } from '../../deps.ts';
import type { SecretKey } from '../../kit/crypto.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import { findPayins, payinFromRow } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import { findLinks, linkFromRow } from '../../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';
import { findPayouts, payoutFromRow } from '../../payouts/payout.store.ts';
import type { Payout } from '../../payouts/payout.ts';
import { holderIndex, receiverIndex } from '../../payouts/receiver.encryption.ts';
import { readReceiverKey } from '../../payouts/receiver-key.ts';
import {
  customerHashes,
  directoryDocuments,
  isCustomer,
  type PersonIdentifier,
  type ResourceKind,
} from '../../people/person.ts';
import {
  type ReceiverHashes,
  readReceiverHashes,
  type SearchedOrganization,
  type SearchPattern,
} from '../../people/person-search.store.ts';

/** A payin, payout or payment link with its decrypted personal data. */
export type PersonResource = {
  readonly organization: SearchedOrganization;
  readonly secrets: OrganizationSecrets;
} & (
  | { readonly kind: 'payin'; readonly value: Payin }
  | { readonly kind: 'payout'; readonly value: Payout; readonly receiver: ReceiverHashes | null }
  | { readonly kind: 'payment_link'; readonly value: PaymentLink }
);

export function toRowId({ organization, value, kind }: PersonResource): RowId & {
  readonly kind: ResourceKind;
} {
  return { kind, organizationId: organization.id, id: value.id };
}

/** Loads resources that exist. @throws when a customer cannot be decrypted: an incomplete answer would look complete */
export function loadResources(
  { system }: Pick<SystemDeps, 'system'>,
  kind: ResourceKind,
  organization: SearchedOrganization,
  secrets: OrganizationSecrets,
  ids: readonly string[],
): Promise<PersonResource[]> {
  const wanted = ids.map((id) => ({ organizationId: organization.id, id }));
  const { dataKey } = secrets;
  return system.transaction('read', async (tx): Promise<PersonResource[]> => {
    switch (kind) {
      case 'payin':
        return (await findPayins(tx, wanted)).map((row) => ({
          kind,
          organization,
          secrets,
          value: payinFromRow(row, dataKey),
        }));
      case 'payout': {
        const receivers = await readReceiverHashes(tx, wanted);
        return (await findPayouts(tx, wanted)).map((row) => ({
          kind,
          organization,
          secrets,
          value: payoutFromRow(row, dataKey),
          receiver: receivers.get(row.id) ?? null,
        }));
      }
      case 'payment_link':
        return (await findLinks(tx, wanted)).map((row) => ({
          kind,
          organization,
          secrets,
          value: linkFromRow(row, dataKey),
        }));
    }
  });
}

/** The hashes of a person in the tables of one organization. */
export function searchPattern(hashKey: SecretKey, identifier: PersonIdentifier): SearchPattern {
  return {
    ...customerHashes(hashKey, identifier),
    holders: directoryDocuments(identifier).map((document) => holderIndex(hashKey, document)),
    receivers: brebKeys(identifier).map((key) => receiverIndex(hashKey, key)),
  };
}

/** The Bre-B keys that consist of the identifier itself. */
function brebKeys(identifier: PersonIdentifier): string[] {
  const typed = identifier.kind === 'email' ? identifier.email : identifier.idNumber;
  const key = readReceiverKey(typed);
  return key && key.keyType === (identifier.kind === 'email' ? 'EMAIL' : 'ID') ? [key.key] : [];
}

export type MatchedAs = 'customer' | 'receiver';

/** Compares the decrypted customer, because hashes of eight bytes can collide. @returns null: another person's */
export function matchPerson(
  identifier: PersonIdentifier,
  pattern: SearchPattern,
  resource: PersonResource,
): MatchedAs | null {
  const customer: Customer | null = resource.value.customer;
  if (customer && isCustomer(identifier, customer)) return 'customer';
  if (resource.kind !== 'payout' || resource.receiver === null) return null;
  const { holder, receiverIndex: index } = resource.receiver;
  const isHolder = holder !== null && pattern.holders.some((each) => each.equals(holder));
  return isHolder || pattern.receivers.some((each) => each.equals(index)) ? 'receiver' : null;
}

/** The resource at its rail, as rail notices name it. */
export function railReference(resource: PersonResource): string | null {
  const { organization } = resource;
  if (resource.kind === 'payin') {
    const { source, id } = resource.value;
    return source.rail === 'BRE_B' ? source.key : resourceReference(id, organization.number);
  }
  return resource.kind === 'payout' ? resource.value.endToEndId : null;
}
