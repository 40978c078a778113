import { Keyset, type ResourceFilters } from '../db/keyset.ts';
import type { Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';
import { RAILS } from '../rails/contract.ts';
import { PAYIN_STATUSES, type PayinStatus } from './payin.states.ts';
import { PAYIN_LIST, type PayinRow } from './payin.store.ts';

export interface PayinFilters extends ResourceFilters<PayinStatus> {
  readonly paymentLinkId?: string | undefined;
}

/** Lists up to `limit` payins after a position, newest first. */
export function listPayins(
  tx: Tx,
  organizationId: string,
  filters: PayinFilters,
  position: Position | null,
  limit: number,
): Promise<PayinRow[]> {
  return new Keyset('p', organizationId, position)
    .matching('payin', filters)
    .where('p.payment_link_id = ?', filters.paymentLinkId)
    .ofKinds(enumeratedConditions(filters))
    .read<PayinRow>(tx, 'payin.list', `select ${PAYIN_LIST} from caudal.payins p`, limit);
}

/**
 * The index has the status before the rail, so a filter on only one of them enumerates the values of the other. A filter
 * by reference or link matches few rows and needs no enumeration.
 */
function enumeratedConditions({ status, rail, reference, paymentLinkId }: PayinFilters): string[] {
  if (reference !== undefined || paymentLinkId !== undefined) return [];
  if (status !== undefined && rail === undefined) return RAILS.map((each) => `p.rail = '${each}'`);
  if (rail !== undefined && status === undefined) return PAYIN_STATUSES.map((each) => `p.status = '${each}'`);
  return [];
}
