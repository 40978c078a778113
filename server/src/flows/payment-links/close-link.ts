import type { Deps } from '../../deps.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Principal } from '../../organizations/organization.ts';
import { closeEarly } from '../../payins/payin-closing.store.ts';
import { linkOf } from '../../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';
import { shutLink } from '../../payment-links/payment-link-outcome.store.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';

/**
 * Closes a link before its time: no attempt is begun any more. A Bre-B key that waits to be paid is closed at the network;
 * whoever is at the bank is awaited. When nothing is under way any more the link is EXPIRED, and its event tells.
 * @throws Fault `not_found`, `payment_link_completed`, `outcome_unknown`, `service_unavailable`
 */
export async function closeLink(
  deps: Deps,
  { organization, secrets }: Principal,
  id: string,
): Promise<PaymentLink> {
  const key = { organizationId: organization.id, id };
  const row = await writeForMerchant(deps, 'close link', organization.id, async (tx) => {
    const shut = await shutLink(tx, key);
    if (!shut) return new ApiError('not_found');
    return shut.status === 'COMPLETED' ? new ApiError('payment_link_completed') : shut;
  });
  // A transaction of its own: payins are locked before links everywhere else. Should it be lost, the key ends by its own
  // time, within a quarter of an hour.
  const attempt = row.open_payin_id;
  if (attempt !== null)
    await writeForMerchant(deps, 'close link', organization.id, (tx) =>
      closeEarly(tx, { organizationId: organization.id, id: attempt }),
    );
  deps.signals.raise('link_expiry', 'breb_polling', 'pse_polling');
  return linkOf(row, secrets.dataKey);
}
