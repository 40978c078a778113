import { statement, type Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';
import { uuidFloor } from '../kit/ids.ts';
import type { Rail } from '../rails/contract.ts';
import type { PayinStatus } from './payin.states.ts';
import { PAYIN_COLUMNS, type PayinRow } from './payin.store.ts';

export interface PayinFilters {
  readonly status?: PayinStatus | undefined;
  readonly rail?: Rail | undefined;
  readonly reference?: string | undefined;
  readonly paymentLinkId?: string | undefined;
  /** Created at or after. */
  readonly createdFrom?: Date | undefined;
  /** Created before. */
  readonly createdTo?: Date | undefined;
}

/** An id is stamped by a process that hears the database's time twice a second; a minute covers what they may differ. */
const MARGIN_MS = 60_000;

/**
 * Up to `most` payins beyond a position, newest first. Keyset on the id: the primary key gives the order, months are
 * read one after the other and the scan stops as soon as the page is full, however large the table is.
 */
export async function listPayins(
  tx: Tx,
  organizationId: string,
  filters: PayinFilters,
  position: Position | null,
  most: number,
): Promise<PayinRow[]> {
  const values: unknown[] = [organizationId];
  const conditions = ['p.organization_id = $1'];
  const add = (condition: string, value: unknown) => {
    values.push(value);
    conditions.push(condition.replace('?', `$${values.length}`));
  };
  const newer = position?.direction === 'newer';
  if (position) add(newer ? 'p.id > ?' : 'p.id < ?', position.id);
  if (filters.status) add('p.status = ?', filters.status);
  if (filters.rail) add('p.rail = ?', filters.rail);
  if (filters.paymentLinkId) add('p.payment_link_id = ?', filters.paymentLinkId);
  if (filters.reference !== undefined) {
    add(
      "p.id = (select r.resource_id from caudal.resource_references r where r.organization_id = $1 and r.kind = 'payin' and r.reference = ?)",
      filters.reference,
    );
  }
  if (filters.createdFrom) {
    add('p.created_at >= ?', filters.createdFrom);
    add('p.id >= ?', uuidFloor(filters.createdFrom.getTime() - MARGIN_MS));
  }
  if (filters.createdTo) {
    add('p.created_at < ?', filters.createdTo);
    add('p.id < ?', uuidFloor(filters.createdTo.getTime() + MARGIN_MS));
  }
  values.push(most);
  const text = `select ${PAYIN_COLUMNS} from caudal.payins p where ${conditions.join(' and ')}
    order by p.id ${newer ? 'asc' : 'desc'} limit $${values.length}`;
  const rows = await tx.query<PayinRow>(statement(shapeName(filters, position), text), values);
  return newer ? rows.toReversed() : rows;
}

const FILTER_NAMES = ['status', 'rail', 'reference', 'paymentLinkId', 'createdFrom', 'createdTo'] as const;

/** One prepared statement for each shape of the question. Short: PostgreSQL reads only 63 characters of a name. */
function shapeName(filters: PayinFilters, position: Position | null): string {
  const bits = FILTER_NAMES.map((name) => (filters[name] === undefined ? '0' : '1')).join('');
  return `payin.list:${position?.direction ?? 'first'}:${bits}`;
}
