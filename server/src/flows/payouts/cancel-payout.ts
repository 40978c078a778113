import type { Deps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import { ApiError } from '../../kit/errors.ts';
import { post } from '../../ledger/ledger.store.ts';
import type { Principal } from '../../organizations/organization.ts';
import { payoutOf } from '../../payouts/payout.store.ts';
import type { Payout } from '../../payouts/payout.ts';
import { cancelUnsent, lockPayouts } from '../../payouts/payout-outcome.store.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';
import { payoutEvents, payoutTransfers } from './end-payouts.ts';

/**
 * Cancels a payout of which no attempt is committed; repeated, it answers the same. Its state, history, event and the
 * money set aside for it change together.
 * @throws Fault `not_found`, `payout_already_sent`, `payout_ended`, `outcome_unknown`, `service_unavailable`
 */
export async function cancelPayout(deps: Deps, principal: Principal, id: string): Promise<Payout> {
  const organizationId = principal.organization.id;
  const { dataKey } = principal.secrets;
  const key = { organizationId, id };
  const payout = await writeForMerchant(
    deps,
    'cancel payout',
    organizationId,
    async (tx): Promise<Payout | ApiError> => {
      const canceled = await cancelUnsent(tx, key);
      if (canceled) {
        await recordFinalEvents(
          tx,
          payoutEvents(deps, [canceled], () => dataKey),
          () => dataKey,
        );
        await post(
          tx,
          payoutTransfers(deps, [{ ...canceled, anomaly_id: null, anomaly_organization_id: null }]),
        );
        return payoutOf(canceled, dataKey);
      }
      // The lock is a write, so that the refusal waits for the standby too.
      const [railStatus] = await lockPayouts(tx, [key]);
      if (!railStatus) return new ApiError('not_found');
      if (railStatus.status === 'CANCELED') return payoutOf(railStatus, dataKey);
      return new ApiError(railStatus.attempts > 0 ? 'payout_already_sent' : 'payout_ended');
    },
  );
  deps.signals.raise('event_dispatch');
  return payout;
}
