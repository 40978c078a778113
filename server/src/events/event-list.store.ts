import { type RowId } from '../db/columns.ts';
import { type CreatedSpan, Keyset } from '../db/keyset.ts';
import { queryRecords, queryRow, ROW_IDS } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';

export interface EventRow {
  organization_id: string;
  id: string;
  event: string;
  resource_id: string | null;
  payload: Buffer;
  created_at: Date;
}

export interface EventFilters extends CreatedSpan {
  readonly event?: string | undefined;
  readonly resourceId?: string | undefined;
}

const SELECT =
  'select e.organization_id, e.id, e.event, e.resource_id, e.payload, e.created_at from caudal.events e';

/** Lists up to `limit` events beyond a position, newest first. */
export function listEvents(
  tx: Tx,
  organizationId: string,
  filters: EventFilters,
  position: Position | null,
  limit: number,
): Promise<EventRow[]> {
  return (
    new Keyset('e', organizationId, position)
      .where('e.event = ?', filters.event)
      // Through final_events, which is keyed by resource: filtering events by resource_id would scan the organization.
      .where(
        'e.id = (select f.event_id from caudal.final_events f where f.organization_id = $1 and f.resource_id = ?)',
        filters.resourceId,
      )
      .between('created_at', filters)
      .read<EventRow>(tx, 'event.list', SELECT, limit)
  );
}

const FIND = statement('event.find', `${SELECT} where e.organization_id = $1 and e.id = $2`);

export function findEvent(tx: Tx, organizationId: string, id: string): Promise<EventRow | null> {
  return queryRow(tx, FIND, [organizationId, id]);
}

const IDS_SINCE = statement(
  'event.ids-since',
  'select e.id from caudal.events e where e.organization_id = $1 and e.id > $2 order by e.id limit $3',
);
const IDS_OF_NAME_SINCE = statement(
  'event.ids-of-name-since',
  'select e.id from caudal.events e where e.organization_id = $1 and e.id > $2 and e.event = $4 order by e.id limit $3',
);

/** Lists ids after `afterId`, oldest first. An id is assigned before its transaction commits, so earlier ids may still appear. */
export async function listEventIdsAfter(
  tx: Tx,
  organizationId: string,
  afterId: string,
  event: string | null,
  limit: number,
): Promise<string[]> {
  const values = [organizationId, afterId, limit];
  const [query, parameters] = event === null ? [IDS_SINCE, values] : [IDS_OF_NAME_SINCE, [...values, event]];
  return (await tx.query<{ id: string }>(query, parameters)).map(({ id }) => id);
}

const BY_IDS = statement(
  'event.by-ids',
  `select e.* from unnest($2::uuid[]) as w (id)
   cross join lateral (${SELECT} where e.organization_id = $1 and e.id = w.id limit 1) as e order by e.id`,
);

export function findEventsByIds(tx: Tx, organizationId: string, ids: readonly string[]): Promise<EventRow[]> {
  return tx.query<EventRow>(BY_IDS, [organizationId, ids]);
}

/** An event with its encrypted payload. */
export interface EncryptedEvent extends RowId {
  readonly resource: string;
  readonly payload: Buffer;
  readonly traceContext: Buffer | null;
}

const ENCRYPTED = statement(
  'event.encrypted',
  `select e.organization_id, e.id, e.resource, e.payload, e.trace_context from ${ROW_IDS.as('w')}
   cross join lateral (
     select e.organization_id, e.id, e.resource, e.payload, e.trace_context from caudal.events e
     where e.organization_id = w.organization_id and e.id = w.id limit 1) as e`,
);

/** Reads events of several organizations. */
export async function findEncryptedEvents(
  tx: Tx,
  wanted: readonly { readonly organizationId: string; readonly eventId: string }[],
): Promise<EncryptedEvent[]> {
  if (wanted.length === 0) return [];
  const ids = wanted.map(({ organizationId, eventId: id }) => ({ organizationId, id }));
  return queryRecords(tx, ENCRYPTED, ROW_IDS.parameters(ids));
}
