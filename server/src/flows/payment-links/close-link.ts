import type { Deps } from '../../deps.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Principal } from '../../organizations/organization.ts';
import { closeEarly } from '../../payins/payin-closing.store.ts';
import { linkFromRow } from '../../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';
import { closeLinkToAttempts } from '../../payment-links/payment-link-outcome.store.ts';
import { recordMerchantAction } from '../shared/record-merchant-action.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';

/**
 * Closes a link before it expires: no new attempt can start. An open Bre-B key is closed at the network; a payment at the
 * bank is allowed to finish. When no attempt is open any more, the link becomes EXPIRED and emits its event.
 * @throws ApiError `not_found`, `payment_link_completed`, `outcome_unknown`, `service_unavailable`
 */
export async function closeLink(deps: Deps, principal: Principal, id: string): Promise<PaymentLink> {
  const { organization, secrets } = principal;
  const linkId = { organizationId: organization.id, id };
  const row = await writeForMerchant(deps, 'close link', organization.id, async (tx) => {
    const closed = await closeLinkToAttempts(tx, linkId);
    if (!closed) return new ApiError('not_found');
    if (closed.status === 'COMPLETED') return new ApiError('payment_link_completed');
    await recordMerchantAction(deps, tx, principal, 'payment_link.expire', id);
    return closed;
  });
  // A separate transaction, because everywhere else payins are locked before links. If it fails, the key expires
  // within 15 minutes anyway.
  const attempt = row.open_breb_payin_id;
  if (attempt !== null)
    await writeForMerchant(deps, 'close link', organization.id, (tx) =>
      closeEarly(tx, { organizationId: organization.id, id: attempt }),
    );
  deps.signals.raise('link_expiry', 'breb_polling', 'pse_polling');
  return linkFromRow(row, secrets.dataKey);
}
