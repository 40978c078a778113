import { Keyset, type ResourceFilters } from '../db/keyset.ts';
import type { Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';
import type { PayoutStatus } from './payout.states.ts';
import { PAYOUT_LIST, type PayoutRow } from './payout.store.ts';

export interface PayoutFilters extends ResourceFilters<PayoutStatus> {
  /** The blind index of the receiver's Bre-B key. */
  readonly receiver?: Buffer | undefined;
}

/** Up to `limit` payouts after a position, newest first. */
export function listPayouts(
  tx: Tx,
  organizationId: string,
  filters: PayoutFilters,
  position: Position | null,
  limit: number,
): Promise<PayoutRow[]> {
  return new Keyset('p', organizationId, position)
    .matching('payout', filters)
    .where('p.receiver_index = ?', filters.receiver)
    .read<PayoutRow>(tx, 'payout.list', `select ${PAYOUT_LIST} from caudal.payouts p`, limit);
}
