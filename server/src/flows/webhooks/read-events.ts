import type { Deps } from '../../deps.ts';
import { decryptPayload } from '../../events/event.encryption.ts';
import { type EventFilters, type EventRow, findEvent, listEvents } from '../../events/event-list.store.ts';
import type { Position } from '../../kit/cursor.ts';
import { ApiError } from '../../kit/errors.ts';
import type { KeyRing } from '../../kit/key-ring.ts';
import type { Page } from '../../kit/page.ts';
import type { Principal } from '../../organizations/organization.ts';
import {
  type AttemptRow,
  type DeliveryRow,
  listAttempts,
  listDeliveries,
  listEventDeliveries,
} from '../../webhooks/delivery-list.store.ts';
import { decryptPart } from '../../webhooks/endpoint.encryption.ts';
import { findEndpoint } from '../../webhooks/endpoint.store.ts';
import { readPage } from '../shared/read-page.ts';

/** An event with its recorded body, which is never rendered again. */
export interface RecordedEvent {
  readonly id: string;
  readonly body: object;
}

export interface Delivery {
  /** Event id: the sort key of the list. */
  readonly id: string;
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly event: string;
  readonly status: DeliveryRow['status'];
  readonly nextAttemptAt: Date | null;
  readonly attempts: readonly {
    readonly at: Date;
    readonly statusCode: number | null;
    readonly durationMs: number;
    readonly error: string | null;
    readonly answer: string | null;
  }[];
}

export function readEventPage(
  deps: Deps,
  { organization, secrets }: Principal,
  filters: EventFilters,
  position: Position | null,
  pageSize: number,
): Promise<Page<RecordedEvent>> {
  return readPage(deps, organization.id, position, pageSize, async (tx, limit) => {
    const rows = await listEvents(tx, organization.id, filters, position, limit);
    return rows.map((row) => recordedEventFromRow(row, secrets.dataKey));
  });
}

/** @throws ApiError `not_found` */
export async function readEvent(
  deps: Deps,
  { organization, secrets }: Principal,
  id: string,
): Promise<{ readonly event: RecordedEvent; readonly deliveries: readonly Delivery[] }> {
  return deps.read.read(organization.id, async (tx) => {
    const row = await findEvent(tx, organization.id, id);
    if (!row) throw new ApiError('not_found');
    const deliveries = await listEventDeliveries(tx, organization.id, id);
    const attempts = await listAttempts(tx, organization.id, deliveries);
    return {
      event: recordedEventFromRow(row, secrets.dataKey),
      deliveries: deliveriesFromRows(deliveries, attempts, organization.id, secrets.dataKey),
    };
  });
}

/** @throws ApiError `not_found` when the endpoint is unknown, deleted or belongs to another organization */
export function readDeliveryPage(
  deps: Deps,
  { organization, secrets }: Principal,
  endpointId: string,
  position: Position | null,
  pageSize: number,
): Promise<Page<Delivery>> {
  return readPage(deps, organization.id, position, pageSize, async (tx, limit) => {
    if (!(await findEndpoint(tx, organization.id, endpointId))) throw new ApiError('not_found');
    const rows = await listDeliveries(tx, organization.id, endpointId, position, limit);
    const attempts = await listAttempts(tx, organization.id, rows);
    return deliveriesFromRows(rows, attempts, organization.id, secrets.dataKey);
  });
}

export function recordedEventFromRow(row: EventRow, dataKey: KeyRing): RecordedEvent {
  const text = decryptPayload(dataKey, row.payload, row.organization_id, row.id).toString('utf8');
  return { id: row.id, body: JSON.parse(text) as object };
}

function deliveriesFromRows(
  rows: readonly DeliveryRow[],
  attempts: readonly AttemptRow[],
  organizationId: string,
  dataKey: KeyRing,
): Delivery[] {
  const byDelivery = Map.groupBy(attempts, (attempt) => `${attempt.endpoint_id}/${attempt.event_id}`);
  return rows.map((row) => ({
    id: row.event_id,
    deliveryId: row.delivery_id,
    endpointId: row.endpoint_id,
    event: row.event,
    status: row.status,
    nextAttemptAt: row.next_attempt_at,
    attempts: (byDelivery.get(`${row.endpoint_id}/${row.event_id}`) ?? []).map((attempt) => ({
      at: attempt.at,
      statusCode: attempt.status_code,
      durationMs: attempt.duration_ms,
      error: attempt.error,
      answer:
        attempt.answer === null
          ? null
          : decryptPart(dataKey, 'answer', attempt.answer, organizationId, row.endpoint_id).toString('utf8'),
    })),
  }));
}
