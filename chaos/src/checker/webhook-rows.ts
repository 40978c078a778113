import type { Query } from './query.ts';

export interface EventRow {
  readonly organizationId: string;
  readonly id: string;
  readonly event: string;
  readonly resource: string;
  /** Null: an event of an API key. */
  readonly resourceId: string | null;
  readonly createdAt: Date;
  readonly undispatched: boolean;
}

export interface DeliveryRow {
  readonly endpointId: string;
  readonly eventId: string;
  readonly status: string;
  readonly attempts: number;
}

interface EndpointRow {
  readonly organizationId: string;
  readonly id: string;
  readonly status: string;
  readonly createdAt: Date;
}

interface AttemptRow {
  readonly endpointId: string;
  readonly eventId: string;
  readonly number: number;
  readonly statusCode: number | null;
}

interface QueueRow {
  readonly endpointId: string;
  readonly leased: boolean;
  /** It holds pending deliveries but has neither a lease nor a due time. */
  readonly stalled: boolean;
}

const EVENTS = `
  select organization_id as "organizationId", id, event, resource, resource_id as "resourceId", created_at as "createdAt", undispatched
  from caudal.events`;

const ENDPOINTS = `
  select organization_id as "organizationId", id, status, created_at as "createdAt" from caudal.webhook_endpoints`;

const DELIVERIES = `
  select endpoint_id as "endpointId", event_id as "eventId", status, attempts from caudal.webhook_deliveries`;

const ATTEMPTS = `
  select endpoint_id as "endpointId", event_id as "eventId", number, status_code as "statusCode" from caudal.webhook_attempts`;

const QUEUES = `
  select l.endpoint_id as "endpointId", coalesce(l.leased_until > clock_timestamp(), false) as leased,
    l.open and l.due_at is null and l.leased_until is null and exists (
      select from caudal.webhook_deliveries d where d.endpoint_id = l.endpoint_id and d.next_attempt_at is not null) as stalled
  from caudal.webhook_queues l`;

/** Reads events, endpoints and deliveries. */
export async function readWebhookRows(query: Query) {
  const events = await query<EventRow>(EVENTS);
  const endpoints = await query<EndpointRow>(ENDPOINTS);
  return {
    events,
    eventById: new Map(events.map((event) => [event.id, event])),
    endpointById: new Map(endpoints.map((endpoint) => [endpoint.id, endpoint])),
    deliveries: await query<DeliveryRow>(DELIVERIES),
    attempts: await query<AttemptRow>(ATTEMPTS),
    queues: await query<QueueRow>(QUEUES),
  };
}
