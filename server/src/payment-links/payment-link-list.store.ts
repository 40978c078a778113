import { Keyset, type ResourceFilters } from '../db/keyset.ts';
import type { Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';
import type { LinkStatus } from './payment-link.states.ts';
import { LINK_LIST, type LinkRow } from './payment-link.store.ts';

export type LinkFilters = ResourceFilters<LinkStatus>;

/** Up to `limit` links beyond a position, newest first. */
export function listLinks(
  tx: Tx,
  organizationId: string,
  filters: LinkFilters,
  position: Position | null,
  limit: number,
): Promise<LinkRow[]> {
  return new Keyset('l', organizationId, position)
    .matching('payment_link', filters)
    .read<LinkRow>(tx, 'payment-link.list', `select ${LINK_LIST} from caudal.payment_links l`, limit);
}
