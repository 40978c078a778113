import { Keyset } from '../db/keyset.ts';
import type { Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';
import type { PayoutStatus } from './payout.states.ts';
import { PAYOUT_LIST, type PayoutRow } from './payout.store.ts';

export interface PayoutFilters {
  readonly status?: PayoutStatus | undefined;
  readonly rail?: 'BRE_B' | undefined;
  readonly reference?: string | undefined;
  /** The blind index of the receiver's Bre-B key. */
  readonly receiver?: Buffer | undefined;
  /** Created at or after. */
  readonly createdFrom?: Date | undefined;
  /** Created before. */
  readonly createdTo?: Date | undefined;
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
    .where('p.status = ?', filters.status)
    .where('p.rail = ?', filters.rail)
    .where('p.receiver_index = ?', filters.receiver)
    .where(
      "p.id = (select r.resource_id from caudal.resource_references r where r.organization_id = $1 and r.kind = 'payout' and r.reference = ?)",
      filters.reference,
    )
    .between('created_at', filters.createdFrom, filters.createdTo)
    .read<PayoutRow>(tx, 'payout.list', `select ${PAYOUT_LIST} from caudal.payouts p`, limit);
}
