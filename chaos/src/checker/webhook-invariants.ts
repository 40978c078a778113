import { isAcknowledged, isSignedBy, type Received } from './sink-journal.ts';
import type { EventRow } from './webhook-rows.ts';
import type { ToldEndpoint } from './webhook-told.ts';
import type { Violation, World } from './world.ts';

const TEST = 'webhook.test';
/** A turn begins nothing more after eight seconds, and its last answer may take ten. */
const LAST_OF_BATCH_MS = 20_000;
/** A claim lasts thirty seconds, and what is sent under it is begun within its first eight. */
const MIN_LEASE_MS = 15_000;
/** A replay is committed within eight seconds of being asked for, or not at all; what was under way then comes once more. */
const REPLAYED_UNDER_WAY_MS = LAST_OF_BATCH_MS + 10_000;
/** What a sender wrote before it died is read after it died, by a sink that has to wait for its turn on the machine. */
const READ_LATE_MS = 5000;
/** A timestamp is of its attempt; a busy machine may take a while from writing to reading. */
const CLOCKS_APART_MS = 60_000;

/** A request with the endpoint that it was for and the event it says it is. */
interface Message {
  readonly received: Received;
  readonly endpoint: ToldEndpoint;
  readonly event: EventRow | null;
}

/** What was recorded reaches every endpoint that wants it, as it was recorded, and nothing else does. */
export function webhookViolations(world: World): Violation[] {
  const messages = messagesOf(world, world.sinks.before);
  return [
    ...messages.flatMap((message) => [
      ...inventionViolations(message),
      ...wantedViolations(world, message),
      ...signatureViolations(world, message),
      ...disabledViolations(message),
    ]),
    ...strangerViolations(world),
    ...bodyViolations(world),
    ...claimViolations(world),
    ...onceViolations(world),
    ...recordViolations(world),
    ...lineViolations(world),
    ...arrivalViolations(world),
    ...webhookRestViolations(world),
  ];
}

/** Requests to endpoints that their merchants know of by now. */
function messagesOf({ told, rows }: World, received: readonly Received[]): Message[] {
  return received.flatMap((each) => {
    const endpoint = told.webhooks.bySink.get(each.sink);
    const event = rows.webhooks.eventById.get(each.id) ?? null;
    return endpoint ? [{ received: each, endpoint, event }] : [];
  });
}

function strangerViolations({ told, sinks, drained }: World): Violation[] {
  if (!drained) return [];
  return sinks.before
    .filter(({ sink }) => !told.webhooks.bySink.has(sink))
    .map((row) => ({
      promise: 'nothing from nowhere',
      what: 'sent to an endpoint that no merchant has',
      row,
    }));
}

function inventionViolations({ received, event }: Message): Violation[] {
  if (event !== null) return [];
  const promise = 'what is sent is an event that was recorded';
  return [{ promise, what: 'an id under which nothing was recorded', row: received }];
}

function wantedViolations({ rows, told }: World, { received, endpoint, event }: Message): Violation[] {
  if (event === null) return [];
  const wrong = (what: string) => [
    { promise: 'an endpoint gets what it wants and nothing else', what, row: { received, event } },
  ];
  if (event.organizationId !== endpoint.organizationId) return wrong("another merchant's event");
  if (event.event === TEST)
    return event.resourceId === endpoint.endpointId ? [] : wrong("another endpoint's test");
  if (!wants(endpoint, event)) return wrong('an event that it did not ask for');
  const since = rows.webhooks.endpointById.get(endpoint.endpointId)?.createdAt;
  const early = since === undefined || event.createdAt < since;
  return early && !told.webhooks.replayed.has(event.id) ? wrong('an event from before it was there') : [];
}

function wants({ events }: ToldEndpoint, { event }: EventRow): boolean {
  return events === null || events.includes(event);
}

function signatureViolations({ sinks, drained }: World, { received, endpoint }: Message): Violation[] {
  const wrong = (what: string) => [{ promise: 'every request is signed', what, row: { received, endpoint } }];
  const said = Number(received.timestamp) * 1000;
  if (!(Math.abs(Date.parse(received.at) - said) < CLOCKS_APART_MS))
    return wrong('its timestamp is not of its attempt');
  // What a rotation made may sign before its merchant was told.
  if (endpoint.rotating && !drained) return [];
  const body = sinks.bodies.get(received.bodyHash) ?? '';
  return isSignedBy(received, body, endpoint.secrets) ? [] : wrong('by none of its secrets');
}

function disabledViolations({ received, endpoint }: Message): Violation[] {
  const at = Date.parse(received.at);
  const held = endpoint.disabled.some(({ from, until }) => at > from + LAST_OF_BATCH_MS && at < until);
  if (!held) return [];
  return [
    { promise: 'what is for a disabled endpoint is held', what: 'sent to it', row: { received, endpoint } },
  ];
}

/** One body for an event, whoever gets it and however often, and it tells of the event that was recorded. */
function bodyViolations({ sinks, rows }: World): Violation[] {
  const promise = 'an event has one body';
  const first = new Map<string, Received>();
  const found: Violation[] = [];
  for (const received of sinks.before) {
    const earlier = first.get(received.id);
    if (earlier && earlier.bodyHash !== received.bodyHash)
      found.push({ promise, what: 'sent with another body than before', row: { earlier, received } });
    if (earlier) continue;
    first.set(received.id, received);
    const event = rows.webhooks.eventById.get(received.id);
    if (event && !tellsOf(sinks.bodies.get(received.bodyHash) ?? '', event))
      found.push({ promise, what: 'its body tells of something else', row: { received, event } });
  }
  return found;
}

/** What names the thing in `data`, where it is not `id`. */
const ID_OF: Readonly<Record<string, string>> = {
  webhook: 'webhookEndpointId',
  paymentlink: 'paymentLinkId',
};

function tellsOf(text: string, event: EventRow): boolean {
  try {
    const body = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const data = body['data'] as Readonly<Record<string, unknown>>;
    const about = data[ID_OF[event.resource] ?? 'id'];
    const status = event.event === TEST ? '' : `${event.resource}.${String(data['status']).toLowerCase()}`;
    return (
      body['id'] === event.id &&
      body['event'] === event.event &&
      body['createdAt'] === event.createdAt.toISOString() &&
      about === event.resourceId &&
      (event.event === TEST || status === event.event) &&
      (event.resource in ID_OF || data['organizationId'] === event.organizationId)
    );
  } catch {
    return false;
  }
}

/** A request for what its endpoint had acknowledged. */
interface Repeat {
  readonly earlier: Received;
  readonly received: Received;
}

function repeatsOf({ sinks }: World): Repeat[] {
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

/** Whoever has a line has it alone: what was acknowledged comes again only when who had it died, and its claim ran out. */
function claimViolations(world: World): Violation[] {
  const promise = 'a line is one sender’s at a time';
  return repeatsOf(world)
    .filter(({ earlier, received }) => Date.parse(received.at) - Date.parse(earlier.at) < MIN_LEASE_MS)
    .filter(({ received }) => !world.told.webhooks.replayed.has(received.id))
    .map((row) => ({ promise, what: 'sent again while it was under way', row }));
}

/**
 * What was acknowledged is over. It comes again because its merchant asked for that, or because the acknowledgement could
 * not be written down: whoever was to do so died, or the database was away.
 */
function onceViolations(world: World): Violation[] {
  const promise = 'what was acknowledged is not sent again';
  return repeatsOf(world)
    .filter((repeat) => !isExcused(world, repeat))
    .map((row) => ({ promise, what: 'sent again, and nothing had gone wrong', row }));
}

function isExcused({ told, incidents }: World, { earlier, received }: Repeat): boolean {
  const [since, until] = [Date.parse(earlier.at), Date.parse(received.at)];
  const asked = told.webhooks.replayed.get(received.id) ?? [];
  return (
    asked.some((at) => at > since - REPLAYED_UNDER_WAY_MS && at < until) ||
    incidents.some((incident) => incident.until > since - READ_LATE_MS && incident.from < until)
  );
}

/** What is written down about deliveries happened. */
function recordViolations({ sinks, told, rows }: World): Violation[] {
  const promise = 'delivered means acknowledged';
  const sinkOf = new Map([...told.webhooks.bySink.values()].map((each) => [each.endpointId, each.sink]));
  const answers = new Map<string, number>();
  const acknowledged = new Set<string>();
  for (const received of sinks.after) {
    const name = `${received.sink} ${received.id}`;
    if (isAcknowledged(received)) acknowledged.add(name);
    const answer = `${name} ${received.answered}`;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  }
  const nameOf = (of: { endpointId: string; eventId: string }) =>
    `${sinkOf.get(of.endpointId)} ${of.eventId}`;
  const attempts = Map.groupBy(
    rows.webhooks.attempts.filter(
      ({ statusCode, endpointId }) => statusCode !== null && sinkOf.has(endpointId),
    ),
    (row) => `${nameOf(row)} ${row.statusCode}`,
  );
  return [
    ...rows.webhooks.deliveries
      .filter((row) => row.status === 'DELIVERED' && sinkOf.has(row.endpointId))
      .filter((row) => !acknowledged.has(nameOf(row)))
      .map((row) => ({ promise, what: 'delivered, and no sink acknowledged it', row })),
    ...[...attempts]
      .filter(([name, alike]) => alike.length > (answers.get(name) ?? 0))
      .map(([, alike]) => ({
        promise,
        what: 'attempts that were answered, and no sink answered so',
        row: alike,
      })),
  ];
}

function lineViolations({ rows }: World): Violation[] {
  return rows.webhooks.lines
    .filter(({ forgotten }) => forgotten)
    .map((row) => ({ promise: 'no line is forgotten', what: 'it holds events and nobody will look', row }));
}

function arrivalViolations({ sinks, told, rows, drained }: World): Violation[] {
  if (!drained) return [];
  const promise = 'every event reaches every endpoint that wants it';
  const arrived = new Set(sinks.after.filter(isAcknowledged).map(({ sink, id }) => `${sink} ${id}`));
  const endpoints = Map.groupBy(told.webhooks.bySink.values(), ({ organizationId }) => organizationId);
  return rows.webhooks.events
    .filter(({ event }) => event !== TEST)
    .flatMap((event) =>
      (endpoints.get(event.organizationId) ?? [])
        .filter((endpoint) => wants(endpoint, event) && endpoint.knownSince <= event.createdAt)
        .filter(({ sink }) => !arrived.has(`${sink} ${event.id}`))
        .map(({ sink }) => ({ promise, what: 'it was never acknowledged', row: { sink, event } })),
    );
}

/** Nobody waits any more: all is dispatched and delivered, but for tests, which are given up after an hour. */
function webhookRestViolations({ rows, drained }: World): Violation[] {
  if (!drained) return [];
  const promise = 'every delivery comes to its end';
  const { events, eventById, deliveries, lines } = rows.webhooks;
  return [
    ...events
      .filter(({ undispatched }) => undispatched)
      .map((row) => ({ promise, what: 'an event that nobody dispatched', row })),
    ...deliveries
      .filter(({ status }) => status !== 'DELIVERED')
      .filter(({ status, eventId }) => status !== 'FAILED' || eventById.get(eventId)?.event !== TEST)
      .map((row) => ({ promise, what: `a delivery is ${row.status}`, row })),
    ...lines
      .filter(({ claimed }) => claimed)
      .map((row) => ({ promise, what: 'a line is still claimed', row })),
  ];
}
