import { Keyset } from '../db/keyset.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';

export interface EventRow {
  organization_id: string;
  id: string;
  event: string;
  resource_id: string;
  payload: Buffer;
  created_at: Date;
}

export interface EventFilters {
  readonly event?: string | undefined;
  readonly resourceId?: string | undefined;
  /** Created at or after. */
  readonly createdFrom?: Date | undefined;
  /** Created before. */
  readonly createdTo?: Date | undefined;
}

const SELECT =
  'select e.organization_id, e.id, e.event, e.resource_id, e.payload, e.created_at from caudal.events e';

/** Up to `most` events beyond a position, newest first. */
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
      // By the key of its one final event: by the resource's own id it would be all events of the organization.
      .where(
        'e.id = (select f.event_id from caudal.final_events f where f.organization_id = $1 and f.resource_id = ?)',
        filters.resourceId,
      )
      .between('created_at', filters.createdFrom, filters.createdTo)
      .read<EventRow>(tx, 'event.list', SELECT, limit)
  );
}

const FIND = statement('event.find', `${SELECT} where e.organization_id = $1 and e.id = $2`);

export async function findEvent(tx: Tx, organizationId: string, id: string): Promise<EventRow | null> {
  const [row] = await tx.query<EventRow>(FIND, [organizationId, id]);
  return row ?? null;
}

const IDS_SINCE = statement(
  'event.ids-since',
  'select e.id from caudal.events e where e.organization_id = $1 and e.id > $2 order by e.id limit $3',
);
const IDS_OF_NAME_SINCE = statement(
  'event.ids-of-name-since',
  'select e.id from caudal.events e where e.organization_id = $1 and e.id > $2 and e.event = $4 order by e.id limit $3',
);

/** Of those with a later id, oldest first. An id is stamped before its transaction commits: earlier ones may still appear. */
export async function eventIdsSince(
  tx: Tx,
  organizationId: string,
  afterId: string,
  event: string | null,
  limit: number,
): Promise<string[]> {
  const values = [organizationId, afterId, limit];
  const rows =
    event === null
      ? await tx.query<{ id: string }>(IDS_SINCE, values)
      : await tx.query<{ id: string }>(IDS_OF_NAME_SINCE, [...values, event]);
  return rows.map(({ id }) => id);
}

const OF_IDS = statement(
  'event.of-ids',
  `select e.* from unnest($2::uuid[]) as w (id)
   cross join lateral (${SELECT} where e.organization_id = $1 and e.id = w.id limit 1) as e order by e.id`,
);

export function eventsOfIds(tx: Tx, organizationId: string, ids: readonly string[]): Promise<EventRow[]> {
  return tx.query<EventRow>(OF_IDS, [organizationId, ids]);
}

/** An event as it is to be sent, still sealed. */
export interface SealedEvent {
  readonly organizationId: string;
  readonly id: string;
  readonly resource: string;
  readonly payload: Buffer;
}

const SEALED = statement(
  'event.sealed',
  `select e.organization_id, e.id, e.resource, e.payload from unnest($1::uuid[], $2::uuid[]) as w (organization_id, id)
   cross join lateral (
     select e.organization_id, e.id, e.resource, e.payload from caudal.events e
     where e.organization_id = w.organization_id and e.id = w.id limit 1) as e`,
);

/** Of several organizations. */
export async function sealedEvents(
  tx: Tx,
  wanted: readonly { readonly organizationId: string; readonly eventId: string }[],
): Promise<SealedEvent[]> {
  if (wanted.length === 0) return [];
  const rows = await tx.query<{ organization_id: string; id: string; resource: string; payload: Buffer }>(
    SEALED,
    [wanted.map(({ organizationId }) => organizationId), wanted.map(({ eventId }) => eventId)],
  );
  return rows.map(({ organization_id, ...row }) => ({ organizationId: organization_id, ...row }));
}
