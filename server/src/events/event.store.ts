import { bytes, copied, insertSelect, nullable, ROW_ID, text, time, uuid } from '../db/columns.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { KeyRing } from '../kit/key-ring.ts';
import { encryptPayload } from './event.encryption.ts';
import { eventBody, type NewEvent, TEST_EVENT } from './event.ts';

const COLUMNS = {
  ...ROW_ID,
  event: text(),
  resource: text(),
  resource_id: nullable(uuid),
  payload: bytes,
  created_at: time,
  trace_context: nullable(bytes),
};
const NEW = new RowSet(COLUMNS);

const INSERT_FINAL = statement(
  'event.insert-final',
  `with new as (
     select * from ${NEW.as('new')}
   ),
   final as (
     insert into caudal.final_events (organization_id, resource_id, event_id, event)
     select organization_id, resource_id, id, event from new
   )
   ${insertSelect('caudal.events', { ...copied(COLUMNS), undispatched: 'true' })} from new`,
);

/**
 * Records the events of final states in the transaction that reaches those states, so a final state and its event are
 * committed together. The primary key of `final_events` prevents a second event per resource.
 */
export async function recordFinalEvents(
  tx: Tx,
  events: readonly NewEvent[],
  getDataKey: (organizationId: string) => KeyRing,
): Promise<void> {
  if (events.length === 0) return;
  await tx.query(INSERT_FINAL, NEW.parameters(toRows(events, getDataKey)));
}

const INSERT = statement(
  'event.insert',
  `${insertSelect('caudal.events', { ...copied(COLUMNS), undispatched: 'true' })} from ${NEW.as('new')}`,
);

/** Records events that are not about a final state. The caller records each once. */
export async function recordEvents(
  tx: Tx,
  events: readonly NewEvent[],
  getDataKey: (organizationId: string) => KeyRing,
): Promise<void> {
  if (events.length === 0) return;
  await tx.query(INSERT, NEW.parameters(toRows(events, getDataKey)));
}

function toRows(events: readonly NewEvent[], getDataKey: (organizationId: string) => KeyRing) {
  return events.map((event) => {
    const { organizationId, id } = event;
    return {
      ...event,
      payload: encryptPayload(getDataKey(organizationId), eventBody(event), organizationId, id),
    };
  });
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
  dataKey: KeyRing,
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
