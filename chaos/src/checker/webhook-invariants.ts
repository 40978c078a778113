import type { KnownEndpoint } from './client-webhook-facts.ts';
import type { InvariantCode } from './invariants.ts';
import { isAcknowledged, isSignedBy, type Received } from './sink-journal.ts';
import type { EventRow } from './webhook-rows.ts';
import type { Violation, World } from './world.ts';

const TEST = 'webhook.test';
const NEW_NETWORK = 'api_key.used_from_new_network';
/** Events of something that has no status. */
const WITHOUT_STATUS = new Set([TEST, NEW_NETWORK]);
/** A batch starts no send after eight seconds, and its last response may take ten. */
const LAST_OF_BATCH_MS = 20_000;
/** A lease lasts thirty seconds, and its sends start within the first eight. */
const MIN_LEASE_MS = 15_000;
/** A replay is committed within eight seconds of its request or not at all; a delivery in flight then is sent again. */
const REPLAYED_UNDER_WAY_MS = LAST_OF_BATCH_MS + 10_000;
/** A sink on a busy machine may read a request some time after its sender died. */
const READ_LATE_MS = 5000;
/** Maximum age of a timestamp; a busy machine delays the receipt. */
const MAX_TIMESTAMP_AGE_MS = 60_000;

/** A request with its endpoint and event. */
interface Message {
  readonly received: Received;
  readonly endpoint: KnownEndpoint;
  readonly event: EventRow | null;
}

/** Every recorded event reaches every subscribed endpoint unchanged, and nothing else is sent. */
export function webhookViolations(world: World): Violation[] {
  const messages = toMessages(world, world.sinks.before);
  return [
    ...messages.flatMap((message) => [
      ...unrecordedEventViolations(message),
      ...subscriptionViolations(world, message),
      ...signatureViolations(world, message),
      ...disabledViolations(message),
    ]),
    ...unknownEndpointViolations(world),
    ...bodyViolations(world),
    ...leaseViolations(world),
    ...resendViolations(world),
    ...recordViolations(world),
    ...stalledQueueViolations(world),
    ...deliveryViolations(world),
    ...pendingDeliveryViolations(world),
  ];
}

/** Requests to endpoints that the merchants already know. */
function toMessages({ client, rows }: World, received: readonly Received[]): Message[] {
  return received.flatMap((each) => {
    const endpoint = client.webhooks.bySink.get(each.sink);
    const event = rows.webhooks.eventById.get(each.id) ?? null;
    return endpoint ? [{ received: each, endpoint, event }] : [];
  });
}

function unknownEndpointViolations({ client, sinks, drained }: World): Violation[] {
  if (!drained) return [];
  return sinks.before
    .filter(({ sink }) => !client.webhooks.bySink.has(sink))
    .map(
      (row): Violation => ({
        invariant: 'no_unexplained_records',
        detail: 'sent to an unknown endpoint',
        row,
      }),
    );
}

function unrecordedEventViolations({ received, event }: Message): Violation[] {
  if (event !== null) return [];
  const invariant: InvariantCode = 'sent_event_recorded';
  return [{ invariant, detail: 'the event id is not recorded', row: received }];
}

function subscriptionViolations(
  { rows, client }: World,
  { received, endpoint, event }: Message,
): Violation[] {
  if (event === null) return [];
  const wrong = (detail: string): Violation[] => [
    { invariant: 'only_subscribed_events_sent', detail, row: { received, event } },
  ];
  if (event.organizationId !== endpoint.organizationId) return wrong("another merchant's event");
  if (event.event === TEST)
    return event.resourceId === endpoint.endpointId ? [] : wrong("another endpoint's test");
  if (!isSubscribed(endpoint, event)) return wrong('an event it is not subscribed to');
  const since = rows.webhooks.endpointById.get(endpoint.endpointId)?.createdAt;
  const early = since === undefined || event.createdAt < since;
  return early && !client.webhooks.replayed.has(event.id) ? wrong('an event older than the endpoint') : [];
}

function isSubscribed({ events }: KnownEndpoint, { event }: EventRow): boolean {
  return events === null || events.includes(event);
}

function signatureViolations({ sinks, drained }: World, { received, endpoint }: Message): Violation[] {
  const wrong = (detail: string): Violation[] => [
    { invariant: 'every_request_signed', detail, row: { received, endpoint } },
  ];
  const sentAt = Number(received.timestamp) * 1000;
  if (!(Math.abs(Date.parse(received.at) - sentAt) < MAX_TIMESTAMP_AGE_MS))
    return wrong('the timestamp does not match the attempt');
  // A rotated secret may sign before the merchant receives it.
  if (endpoint.rotating && !drained) return [];
  const body = sinks.bodies.get(received.bodyHash) ?? '';
  return isSignedBy(received, body, endpoint.secrets) ? [] : wrong('signed with none of its secrets');
}

function disabledViolations({ received, endpoint }: Message): Violation[] {
  const at = Date.parse(received.at);
  const held = endpoint.disabled.some(({ from, until }) => at > from + LAST_OF_BATCH_MS && at < until);
  if (!held) return [];
  return [
    {
      invariant: 'disabled_endpoint_receives_nothing',
      detail: 'sent to a disabled endpoint',
      row: { received, endpoint },
    },
  ];
}

/** An event has one body for all endpoints and attempts, and it describes the recorded event. */
function bodyViolations({ sinks, rows }: World): Violation[] {
  const invariant: InvariantCode = 'one_body_per_event';
  const first = new Map<string, Received>();
  const found: Violation[] = [];
  for (const received of sinks.before) {
    const earlier = first.get(received.id);
    if (earlier && earlier.bodyHash !== received.bodyHash)
      found.push({ invariant, detail: 'sent with a different body', row: { earlier, received } });
    if (earlier) continue;
    first.set(received.id, received);
    const event = rows.webhooks.eventById.get(received.id);
    if (event && !describesEvent(sinks.bodies.get(received.bodyHash) ?? '', event))
      found.push({ invariant, detail: 'the body does not match the event', row: { received, event } });
  }
  return found;
}

/** The field of `data` with the resource id, if it is not `id`. */
const ID_OF: Readonly<Record<string, string>> = {
  webhook: 'webhookEndpointId',
  paymentlink: 'paymentLinkId',
};

function describesEvent(text: string, event: EventRow): boolean {
  try {
    const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const data = body['data'] as Readonly<Record<string, unknown>>;
    const status = `${event.resource}.${String(data['status']).toLowerCase()}`;
    return (
      body['id'] === event.id &&
      body['event'] === event.event &&
      body['createdAt'] === event.createdAt.toISOString() &&
      // The id of an API key is no UUID: the row has none.
      (event.event === NEW_NETWORK || data[ID_OF[event.resource] ?? 'id'] === event.resourceId) &&
      (WITHOUT_STATUS.has(event.event) || status === event.event) &&
      (event.resource in ID_OF || data['organizationId'] === event.organizationId)
    );
  } catch {
    return false;
  }
}

/** A request for an event that its endpoint had acknowledged. */
interface Repeat {
  readonly earlier: Received;
  readonly received: Received;
}

function findRepeats({ sinks }: World): Repeat[] {
  const acknowledged = new Map<string, Received>();
  const found: Repeat[] = [];
  for (const received of sinks.before.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))) {
    const name = `${received.sink} ${received.id}`;
    const earlier = acknowledged.get(name);
    if (earlier) found.push({ earlier, received });
    if (isAcknowledged(received)) acknowledged.set(name, received);
  }
  return found;
}

/** One sender at a time holds the lease of a queue, so an acknowledged event is resent only after the lease expired. */
function leaseViolations(world: World): Violation[] {
  const invariant: InvariantCode = 'one_sender_per_queue';
  return findRepeats(world)
    .filter(({ earlier, received }) => Date.parse(received.at) - Date.parse(earlier.at) < MIN_LEASE_MS)
    .filter(({ received }) => !world.client.webhooks.replayed.has(received.id))
    .map((row) => ({ invariant, detail: 'sent again within the lease', row }));
}

/**
 * An acknowledged event is resent only if the merchant requested a replay, or if the acknowledgment could not be recorded
 * because the worker died or the database was down.
 */
function resendViolations(world: World): Violation[] {
  const invariant: InvariantCode = 'acknowledged_event_not_resent';
  return findRepeats(world)
    .filter((repeat) => !isExcused(world, repeat))
    .map((row) => ({ invariant, detail: 'sent again without an incident or a replay', row }));
}

function isExcused({ client, incidents }: World, { earlier, received }: Repeat): boolean {
  const [since, until] = [Date.parse(earlier.at), Date.parse(received.at)];
  const replays = client.webhooks.replayed.get(received.id) ?? [];
  return (
    replays.some((at) => at > since - REPLAYED_UNDER_WAY_MS && at < until) ||
    incidents.some((incident) => incident.until > since - READ_LATE_MS && incident.from < until)
  );
}

/** Recorded deliveries and attempts happened. */
function recordViolations({ sinks, client, rows }: World): Violation[] {
  const invariant: InvariantCode = 'delivered_means_acknowledged';
  const sinkByEndpoint = new Map(
    [...client.webhooks.bySink.values()].map((each) => [each.endpointId, each.sink]),
  );
  const answers = new Map<string, number>();
  const acknowledged = new Set<string>();
  for (const received of sinks.after) {
    const name = `${received.sink} ${received.id}`;
    if (isAcknowledged(received)) acknowledged.add(name);
    const answer = `${name} ${received.answered}`;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  }
  const deliveryName = (row: { endpointId: string; eventId: string }) =>
    `${sinkByEndpoint.get(row.endpointId)} ${row.eventId}`;
  const attempts = Map.groupBy(
    rows.webhooks.attempts.filter(
      ({ statusCode, endpointId }) => statusCode !== null && sinkByEndpoint.has(endpointId),
    ),
    (row) => `${deliveryName(row)} ${row.statusCode}`,
  );
  return [
    ...rows.webhooks.deliveries
      .filter((row) => row.status === 'DELIVERED' && sinkByEndpoint.has(row.endpointId))
      .filter((row) => !acknowledged.has(deliveryName(row)))
      .map((row) => ({ invariant, detail: 'delivered, but no sink acknowledged it', row })),
    ...[...attempts]
      .filter(([name, same]) => same.length > (answers.get(name) ?? 0))
      .map(([, same]) => ({
        invariant,
        detail: 'attempts with a response that no sink sent',
        row: same,
      })),
  ];
}

function stalledQueueViolations({ rows }: World): Violation[] {
  return rows.webhooks.queues
    .filter(({ stalled }) => stalled)
    .map(
      (row): Violation => ({
        invariant: 'no_stalled_queue',
        detail: 'the queue holds events but is not scheduled',
        row,
      }),
    );
}

function deliveryViolations({ sinks, client, rows, drained }: World): Violation[] {
  if (!drained) return [];
  const invariant: InvariantCode = 'every_event_delivered';
  const arrived = new Set(sinks.after.filter(isAcknowledged).map(({ sink, id }) => `${sink} ${id}`));
  const endpoints = Map.groupBy(client.webhooks.bySink.values(), ({ organizationId }) => organizationId);
  return rows.webhooks.events
    .filter(({ event }) => event !== TEST)
    .flatMap((event) =>
      (endpoints.get(event.organizationId) ?? [])
        .filter((endpoint) => isSubscribed(endpoint, event) && endpoint.knownSince <= event.createdAt)
        .filter(({ sink }) => !arrived.has(`${sink} ${event.id}`))
        .map(({ sink }) => ({ invariant, detail: 'the event was never acknowledged', row: { sink, event } })),
    );
}

/** After draining, all events are dispatched and delivered, except test events, which expire after an hour. */
function pendingDeliveryViolations({ rows, drained }: World): Violation[] {
  if (!drained) return [];
  const invariant: InvariantCode = 'every_delivery_final';
  const { events, eventById, deliveries, queues } = rows.webhooks;
  return [
    ...events
      .filter(({ undispatched }) => undispatched)
      .map((row) => ({ invariant, detail: 'an undispatched event', row })),
    ...deliveries
      .filter(({ status }) => status !== 'DELIVERED')
      .filter(({ status, eventId }) => status !== 'FAILED' || eventById.get(eventId)?.event !== TEST)
      .map((row) => ({ invariant, detail: `a delivery is ${row.status}`, row })),
    ...queues
      .filter(({ leased }) => leased)
      .map((row) => ({ invariant, detail: 'a queue is still leased', row })),
  ];
}
