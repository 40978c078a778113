import { type Authorization, insertAuthorization } from '../../customers/authorization.store.ts';
import { encryptCustomer } from '../../customers/customer.encryption.ts';
import type { Customer } from '../../customers/customer.ts';
import { toWriteError } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { newLeaseToken, uuidv7 } from '../../kit/ids.ts';
import type { Organization, OrganizationSecrets } from '../../organizations/organization.ts';
import { mintBrebKey } from '../../payins/breb-key.ts';
import { FIRST_STATUS } from '../../payins/payin.states.ts';
import { findPayin, insertPayins, payinFromRow } from '../../payins/payin.store.ts';
import type { Payin, PayinSource } from '../../payins/payin.ts';
import { reserveLinkForAttempt } from '../../payment-links/payment-link-outcome.store.ts';
import type { CollectionStarter } from '../payins/start-collection.ts';

/** How a payer wants to pay a link. */
export type Method =
  | { readonly rail: 'BRE_B' }
  | { readonly rail: 'PSE'; readonly bank: string; readonly personType: 'INDIVIDUAL' | 'BUSINESS' };

/** Lifetime of a Bre-B key of a link. A payer who returns later gets a new key. */
const KEY_LIFETIME_MS = 15 * 60_000;

export interface Attempt {
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
  readonly linkId: string;
  readonly method: Method;
  readonly customer: Customer | null;
  /** Set if the payer entered the customer data. */
  readonly authorization: Authorization | null;
}

/**
 * Starts an attempt to pay a link. One transaction inserts the payin and reserves the link, so that a link has at most
 * one open attempt.
 * @returns null if the link has ended or is closed, another attempt is open, or the organization is suspended
 * @throws ApiError `outcome_unknown`, `service_unavailable`
 */
export async function openAttempt(
  deps: Deps,
  collectionStarter: CollectionStarter,
  attempt: Attempt,
): Promise<Payin | null> {
  const { organization, secrets, linkId, method, customer } = attempt;
  const now = deps.clock.now();
  const id = uuidv7(now, deps.cell);
  const leaseToken = newLeaseToken();
  const source: PayinSource =
    method.rail === 'PSE'
      ? { ...method, page: null }
      : { rail: 'BRE_B', keyType: 'QR_CODE', key: mintBrebKey(deps.brebKeyPrefix, deps.cell, now) };
  const payin = await deps.batch
    .write('open attempt', new Set([organization.id]), async (tx) => {
      const link = await reserveLinkForAttempt(tx, { organizationId: organization.id, id: linkId }, id);
      if (!link) return null;
      await insertPayins(tx, [
        {
          id,
          leaseToken,
          organizationId: organization.id,
          amount: link.amount_in_cents as Payin['amount'],
          status: FIRST_STATUS[source.rail],
          reference: link.reference,
          encryptedCustomer: encryptCustomer(secrets.dataKey, customer, {
            table: 'payins',
            organizationId: organization.id,
            id,
          }),
          callbackUrl: link.callback_url,
          source,
          railDue: source.rail === 'PSE' && customer !== null,
          paymentLinkId: linkId,
          expiresAt:
            source.rail === 'BRE_B'
              ? new Date(Math.min(link.now.getTime() + KEY_LIFETIME_MS, link.closes_at.getTime()))
              : null,
        },
      ]);
      if (attempt.authorization)
        await insertAuthorization(
          tx,
          secrets.dataKey,
          { organizationId: organization.id, id },
          attempt.authorization,
        );
      return findPayin(tx, organization.id, id);
    })
    .catch((error: unknown) => Promise.reject(toWriteError(error)));
  if (!payin) return null;
  return collectionStarter.start({
    payin: payinFromRow(payin, secrets.dataKey),
    organization,
    secrets,
    leaseToken,
  });
}
