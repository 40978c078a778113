import type { Deps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import { apiKeyActor } from '../../kit/actor.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Principal } from '../../organizations/organization.ts';
import { payoutFromRow } from '../../payouts/payout.store.ts';
import type { Payout } from '../../payouts/payout.ts';
import { cancelUnsent, lockPayouts } from '../../payouts/payout-outcome.store.ts';
import { recordMerchantAction } from '../shared/record-merchant-action.ts';
import { writeForMerchant } from '../shared/write-for-merchant.ts';
import { payoutEvents, payoutTransfers, postEnded } from './end-payouts.ts';

/**
 * Cancels a payout whose order the rail certainly does not have. Idempotent. State, history, event and the release of the
 * held money commit together.
 * @throws ApiError `not_found`, `payout_already_sent`, `payout_ended`, `outcome_unknown`, `service_unavailable`
 */
export async function cancelPayout(deps: Deps, principal: Principal, id: string): Promise<Payout> {
  const organizationId = principal.organization.id;
  const { dataKey } = principal.secrets;
  const rowId = { organizationId, id };
  const payout = await writeForMerchant(
    deps,
    'cancel payout',
    organizationId,
    async (tx): Promise<Payout | ApiError> => {
      const canceled = await cancelUnsent(tx, rowId);
      if (canceled) {
        await recordFinalEvents(
          tx,
          payoutEvents(deps, [canceled], () => dataKey),
          () => dataKey,
        );
        await recordMerchantAction(deps, tx, principal, 'payout.cancel', id);
        await postEnded(
          tx,
          payoutTransfers(
            deps,
            [{ ...canceled, anomaly_id: null, anomaly_organization_id: null }],
            apiKeyActor(principal.keyId),
          ),
        );
        return payoutFromRow(canceled, dataKey);
      }
      // The lock is a write, so the commit of a rejection also waits for the synchronous standby.
      const [locked] = await lockPayouts(tx, [rowId]);
      if (!locked) return new ApiError('not_found');
      if (locked.status === 'CANCELED') return payoutFromRow(locked, dataKey);
      return new ApiError(locked.sent_attempts > 0 ? 'payout_already_sent' : 'payout_ended');
    },
  );
  deps.signals.raise('event_dispatch');
  return payout;
}
