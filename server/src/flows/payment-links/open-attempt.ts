import { type Authorization, insertAuthorization } from '../../customers/authorization.store.ts';
import { sealCustomer } from '../../customers/customer.seal.ts';
import type { Customer } from '../../customers/customer.ts';
import { writeFailure } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { freshToken, uuidv7 } from '../../kit/ids.ts';
import type { Organization, OrganizationSecrets } from '../../organizations/organization.ts';
import { mintBrebKey } from '../../payins/breb-key.ts';
import { FIRST_STATUS } from '../../payins/payin.states.ts';
import { findPayin, insertPayins, payinOf } from '../../payins/payin.store.ts';
import type { Payin, PayinSource } from '../../payins/payin.ts';
import { takeLink } from '../../payment-links/payment-link-outcome.store.ts';
import type { CollectionStarter } from '../payins/start-collection.ts';

/** How a payer wants to pay a link. */
export type Method =
  | { readonly rail: 'BRE_B' }
  | { readonly rail: 'PSE'; readonly bank: string; readonly personType: 'INDIVIDUAL' | 'BUSINESS' };

/** A Bre-B key of a link waits so long: a payer who comes back later gets a fresh one. */
const KEY_LIVES_MS = 15 * 60_000;

export interface Attempt {
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
  readonly linkId: string;
  readonly method: Method;
  readonly customer: Customer | null;
  /** Where the payer typed the customer's data. */
  readonly authorization: Authorization | null;
}

/**
 * Begins an attempt to pay a link: the payin and its place on the link in one transaction, so that there is one at a time.
 * @returns null when the link has ended, is shut, another attempt is under way, or its organization is suspended
 * @throws Fault `outcome_unknown`, `service_unavailable`
 */
export async function openAttempt(
  deps: Deps,
  collecting: CollectionStarter,
  attempt: Attempt,
): Promise<Payin | null> {
  const { organization, secrets, linkId, method, customer } = attempt;
  const now = deps.clock.now();
  const id = uuidv7(now, deps.cell);
  const leaseToken = freshToken();
  const source: PayinSource =
    method.rail === 'PSE'
      ? { ...method, page: null }
      : { rail: 'BRE_B', keyType: 'QR_CODE', key: mintBrebKey(deps.brebKeyPrefix, deps.cell, now) };
  const payin = await deps.batch
    .write('open attempt', new Set([organization.id]), async (tx) => {
      const link = await takeLink(tx, { organizationId: organization.id, id: linkId }, id);
      if (!link) return null;
      await insertPayins(tx, [
        {
          id,
          leaseToken,
          organizationId: organization.id,
          amount: link.amount_in_cents as Payin['amount'],
          status: FIRST_STATUS[source.rail],
          reference: link.reference,
          sealedCustomer: sealCustomer(secrets.dataKey, customer, {
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
              ? new Date(Math.min(link.now.getTime() + KEY_LIVES_MS, link.shuts_at.getTime()))
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
    .catch((error: unknown) => Promise.reject(writeFailure(error)));
  if (!payin) return null;
  return collecting.begin({ payin: payinOf(payin, secrets.dataKey), organization, secrets, leaseToken });
}
