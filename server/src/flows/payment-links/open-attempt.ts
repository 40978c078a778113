import { type Authorization, insertAuthorization } from '../../customers/authorization.store.ts';
import type { Customer } from '../../customers/customer.ts';
import { toWriteError } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { PAYER } from '../../kit/actor.ts';
import { newLeaseToken, uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import { activeTrace, packTraceContext } from '../../kit/trace-context.ts';
import type { Organization, OrganizationSecrets } from '../../organizations/organization.ts';
import { newSource } from '../../payins/breb-key.ts';
import { insertPayins } from '../../payins/payin.store.ts';
import type { Payin, PayinMethod } from '../../payins/payin.ts';
import { reserveLinkForAttempt } from '../../payment-links/payment-link-outcome.store.ts';
import type { CollectionStarter } from '../payins/start-collection.ts';

/** How a payer wants to pay a link. */
export type Method = { readonly rail: 'BRE_B' } | Extract<PayinMethod, { rail: 'PSE' }>;

/** Lifetime of a Bre-B key of a link. A payer who returns later gets a new key. */
const KEY_LIFETIME_MS = 15 * 60_000;

export interface Attempt {
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
  readonly linkId: string;
  /** What the link is for. */
  readonly description: string | null;
  readonly method: Method;
  readonly customer: Customer | null;
  /** Set if the payer entered the customer data. */
  readonly authorization: Authorization | null;
}

/**
 * Starts an attempt to pay what is missing to the amount of a link. One transaction inserts the payin and reserves the
 * link, so that a link has at most one open attempt per rail.
 * @returns null if the link has ended or is closed, another attempt on this rail is open, or the organization is suspended
 * @throws ApiError `outcome_unknown`, `service_unavailable`
 */
export async function openAttempt(
  deps: Deps,
  collectionStarter: CollectionStarter,
  attempt: Attempt,
): Promise<Payin | null> {
  const { organization, secrets, linkId, description, method, customer } = attempt;
  const id = uuidv7(deps.clock.now(), deps.cell);
  const leaseToken = newLeaseToken();
  const source = newSource(deps, method.rail === 'PSE' ? method : { ...method, keyType: 'QR_CODE' });
  const payin = await deps.batch
    .write('open attempt', new Set([organization.id]), async (tx) => {
      const link = await reserveLinkForAttempt(
        tx,
        { organizationId: organization.id, id: linkId },
        method.rail,
        id,
      );
      if (!link) return null;
      const keyExpiry = new Date(Math.min(link.now.getTime() + KEY_LIFETIME_MS, link.closes_at.getTime()));
      const [inserted] = await insertPayins(tx, [
        {
          id,
          leaseToken,
          organizationId: organization.id,
          dataKey: secrets.dataKey,
          hashKey: secrets.hashKey,
          amount: cents(link.amount_in_cents - link.paid_in_cents),
          reference: link.reference,
          customer,
          metadata: null,
          // A payment continues the trace of its link; without one, that of the payer's request.
          traceContext: link.trace_context ?? packTraceContext(activeTrace()),
          callbackUrl: link.callback_url,
          source,
          paymentLinkId: linkId,
          createdBy: PAYER,
          expiresAt: source.rail === 'BRE_B' ? keyExpiry : null,
        },
      ]);
      if (attempt.authorization)
        await insertAuthorization(
          tx,
          secrets.dataKey,
          { organizationId: organization.id, id },
          attempt.authorization,
        );
      return inserted;
    })
    .catch((error: unknown) => Promise.reject(toWriteError(error)));
  if (!payin) return null;
  return collectionStarter.start({ payin, organization, secrets, leaseToken, description });
}
