import { smallint, uuid } from '../db/columns.ts';
import { RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Position } from '../kit/cursor.ts';

export interface DeliveryRow {
  /** Sort key: deliveries of an endpoint are ordered by event id. */
  event_id: string;
  delivery_id: string;
  endpoint_id: string;
  event: string;
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  next_attempt_at: Date | null;
  created_at: Date;
  /** Read in the same row as `status`: an attempt recorded during the read is either fully shown or not at all. */
  attempts: number;
}

export interface AttemptRow {
  endpoint_id: string;
  event_id: string;
  number: number;
  at: Date;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  answer: Buffer | null;
}

/**
 * A disabled endpoint has no next attempt, a resting queue has none before `rest_until`, and pending deliveries of a
 * deleted endpoint are shown as FAILED.
 */
const SELECT = `select d.event_id, d.id as delivery_id, d.endpoint_id, e.event, d.created_at, d.attempts,
    case when d.status = 'PENDING' and w.deleted_at is not null then 'FAILED' else d.status end as status,
    case when d.status = 'PENDING' and w.deleted_at is null and w.status = 'ENABLED' then greatest(d.next_attempt_at, d.created_at, w.rest_until) end as next_attempt_at
  from caudal.webhook_deliveries d
  join caudal.events e on e.organization_id = d.organization_id and e.id = d.event_id
  cross join lateral (
    select w.status, w.deleted_at, l.rest_until from caudal.webhook_endpoints w
    join caudal.webhook_queues l on l.organization_id = w.organization_id and l.endpoint_id = w.id
    where w.organization_id = d.organization_id and w.id = d.endpoint_id limit 1
  ) as w`;

const NEWEST = statement(
  'webhook-delivery.newest',
  `${SELECT} where d.organization_id = $1 and d.endpoint_id = $2 order by d.event_id desc limit $3`,
);
const OLDER = statement(
  'webhook-delivery.older',
  `${SELECT} where d.organization_id = $1 and d.endpoint_id = $2 and d.event_id < $4 order by d.event_id desc limit $3`,
);
const NEWER = statement(
  'webhook-delivery.newer',
  `${SELECT} where d.organization_id = $1 and d.endpoint_id = $2 and d.event_id > $4 order by d.event_id limit $3`,
);

/** Lists up to `limit` deliveries of an endpoint beyond a position, newest event first. */
export async function listDeliveries(
  tx: Tx,
  organizationId: string,
  endpointId: string,
  position: Position | null,
  limit: number,
): Promise<DeliveryRow[]> {
  if (!position) return tx.query<DeliveryRow>(NEWEST, [organizationId, endpointId, limit]);
  const values = [organizationId, endpointId, limit, position.id];
  if (position.direction === 'older') return tx.query<DeliveryRow>(OLDER, values);
  return (await tx.query<DeliveryRow>(NEWER, values)).toReversed();
}

const OF_EVENT = statement(
  'webhook-delivery.of-event',
  `${SELECT} where d.organization_id = $1 and d.event_id = $2 order by d.endpoint_id`,
);

export function listEventDeliveries(tx: Tx, organizationId: string, eventId: string): Promise<DeliveryRow[]> {
  return tx.query<DeliveryRow>(OF_EVENT, [organizationId, eventId]);
}

/** Per delivery; a month of retries makes about forty. */
const MAX_ATTEMPTS = 1000;

const DELIVERIES = new RowSet({ endpoint_id: uuid, event_id: uuid, attempts: smallint });

const ATTEMPTS = statement(
  'webhook-delivery.attempts',
  `select a.* from ${DELIVERIES.as('w')}
   cross join lateral (
     select a.endpoint_id, a.event_id, a.number, a.at, a.status_code, a.duration_ms, a.error, a.answer from caudal.webhook_attempts a
     where a.organization_id = ${DELIVERIES.scalar(1)} and a.endpoint_id = w.endpoint_id and a.event_id = w.event_id and a.number <= w.attempts order by a.number limit ${MAX_ATTEMPTS}
   ) as a
   order by a.event_id, a.endpoint_id, a.number`,
);

/** Lists the attempts of all given deliveries, oldest first per delivery. */
export async function listAttempts(
  tx: Tx,
  organizationId: string,
  deliveries: readonly DeliveryRow[],
): Promise<AttemptRow[]> {
  if (deliveries.length === 0) return [];
  const shown = deliveries.map((row) => ({ ...row, endpointId: row.endpoint_id, eventId: row.event_id }));
  return tx.query<AttemptRow>(ATTEMPTS, [...DELIVERIES.parameters(shown), organizationId]);
}
