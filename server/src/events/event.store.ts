import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { encryptPayload } from './event.encryption.ts';
import { eventBody, type NewEvent, TEST_EVENT } from './event.ts';

const INSERT = statement(
  'event.insert',
  `with new as (
     select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::bytea[], $7::timestamptz[])
       as new (organization_id, id, event, resource, resource_id, payload, created_at)
   ),
   final as (
     insert into caudal.final_events (organization_id, resource_id, event_id, event)
     select organization_id, resource_id, id, event from new
   )
   insert into caudal.events (organization_id, id, event, resource, resource_id, payload, created_at, undispatched)
   select organization_id, id, event, resource, resource_id, payload, created_at, true from new`,
);

/**
 * Records the events of final states in the transaction that reaches those states, so a final state and its event are
 * committed together. The primary key of `final_events` prevents a second event per resource.
 */
export async function recordFinalEvents(
  tx: Tx,
  events: readonly NewEvent[],
  getDataKey: (organizationId: string) => SecretKey,
): Promise<void> {
  if (events.length === 0) return;
  await tx.query(INSERT, [
    events.map((event) => event.organizationId),
    events.map((event) => event.id),
    events.map((event) => event.event),
    events.map((event) => event.resource),
    events.map((event) => event.resourceId),
    events.map((event) =>
      encryptPayload(getDataKey(event.organizationId), eventBody(event), event.organizationId, event.id),
    ),
    events.map((event) => event.createdAt),
  ]);
}

const INSERT_TEST = statement(
  'event.insert-test',
  `insert into caudal.events (organization_id, id, event, resource, resource_id, payload, created_at) values ($1, $2, $3, 'webhook', $4, $5, $6)`,
);

/** A test event concerns one endpoint and is delivered only there, so it is not marked `undispatched`. */
export async function recordTestEvent(
  tx: Tx,
  event: {
    readonly organizationId: string;
    readonly id: string;
    readonly endpointId: string;
    readonly createdAt: Date;
  },
  dataKey: SecretKey,
): Promise<void> {
  const { organizationId, id, endpointId, createdAt } = event;
  const body = eventBody({
    id,
    event: TEST_EVENT,
    resource: 'webhook',
    createdAt,
    data: { webhookEndpointId: endpointId },
  });
  await tx.query(INSERT_TEST, [
    organizationId,
    id,
    TEST_EVENT,
    endpointId,
    encryptPayload(dataKey, body, organizationId, id),
    createdAt,
  ]);
}

const UNDISPATCHED = statement(
  'event.undispatched',
  `select count(*)::integer as count from caudal.events where id ${WITHIN} and undispatched`,
);

/** Counts events without deliveries. */
export function countUndispatched(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, UNDISPATCHED, span);
}
