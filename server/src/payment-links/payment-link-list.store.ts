import { Keyset } from '../db/keyset.ts';
import type { Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';
import type { Rail } from '../rails/contract.ts';
import type { LinkStatus } from './payment-link.states.ts';
import { LINK_LIST, type LinkRow } from './payment-link.store.ts';

export interface LinkFilters {
  readonly status?: LinkStatus | undefined;
  readonly rail?: Rail | undefined;
  readonly reference?: string | undefined;
  /** Created at or after. */
  readonly createdFrom?: Date | undefined;
  /** Created before. */
  readonly createdTo?: Date | undefined;
}

/** Up to `limit` links beyond a position, newest first. */
export function listLinks(
  tx: Tx,
  organizationId: string,
  filters: LinkFilters,
  position: Position | null,
  limit: number,
): Promise<LinkRow[]> {
  return new Keyset('l', organizationId, position)
    .where('l.status = ?', filters.status)
    .where('l.rail = ?', filters.rail)
    .where(
      "l.id = (select r.resource_id from caudal.resource_references r where r.organization_id = $1 and r.kind = 'payment_link' and r.reference = ?)",
      filters.reference,
    )
    .between('created_at', filters.createdFrom, filters.createdTo)
    .read<LinkRow>(tx, 'payment-link.list', `select ${LINK_LIST} from caudal.payment_links l`, limit);
}
