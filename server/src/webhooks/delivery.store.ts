import { bytes, emptyFields, integer, milliseconds, nullable, smallint, text, uuid } from '../db/columns.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { queryRecords, type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import { type EndpointKey, rescheduleQueues } from './queue.store.ts';

/** Deliveries are retried until this long after the event. */
export const LIFETIME = "interval '30 days'";

/**
 * Joins events `t` with the subscribed endpoints of their organization. `offset 0` fixes the join order: without it the
 * planner may compare each of ten thousand endpoints with each event.
 */
export const matchingEndpoints = (further: string) => `cross join lateral (
       select w.id from caudal.webhook_endpoints w
       where w.organization_id = t.organization_id and w.deleted_at is null and ${further} and (w.events is null or t.event = any (w.events))
       offset 0
     ) as w`;

/** Which undispatched events are dispatched first. */
export type DispatchOrder = 'oldest' | 'newest';

const NEW = `e.undispatched and e.id >= caudal.uuid_floor(caudal.now() - interval '2 minutes')`;

/** SQL condition: a recent event is undispatched. It ignores older events for the reason given at `newest`. */
export const EVENTS_DUE = `exists (select from caudal.events e where ${NEW})`;

const FIRST: Readonly<Record<DispatchOrder, string>> = {
  oldest: 'where e.undispatched order by e.id',
  // Recent events only: while a long-lived snapshot is open, the index keeps all entries dispatched since it started.
  newest: `where ${NEW} order by e.id desc`,
};

const dispatchStatement = (first: DispatchOrder) =>
  statement(
    `webhook-delivery.dispatch-${first}`,
    // Endpoints created after the event receive it only through a replay. Deliveries to a disabled endpoint stay pending.
    `with moment as materialized (select caudal.now() as at),
   taken as (
     select e.organization_id, e.id, e.event, e.created_at, e.trace_context from caudal.events e
     ${FIRST[first]} limit $1 for update skip locked
   ),
   marked as (
     update caudal.events e set undispatched = false from taken t where e.organization_id = t.organization_id and e.id = t.id
   ),
   made as (
     insert into caudal.webhook_deliveries (organization_id, endpoint_id, event_id, id, status, next_attempt_at, give_up_at, created_at)
     select t.organization_id, w.id, t.id, gen_random_uuid(), 'PENDING', m.at, t.created_at + ${LIFETIME}, m.at
     from moment m, taken t ${matchingEndpoints('w.created_at <= t.created_at')}
     order by w.id, t.id
     on conflict (organization_id, endpoint_id, event_id) do nothing
     returning organization_id, endpoint_id
   ),
   ${
     // A new event does not end the rest of a failing queue.
     rescheduleQueues('greatest(m.at, l.rest_until)')
   }
   select count(*)::int as events, array_agg(trace_context) filter (where trace_context is not null) as traces from taken`,
  );

const DISPATCH = { oldest: dispatchStatement('oldest'), newest: dispatchStatement('newest') };

/**
 * Creates the deliveries of undispatched events and schedules the queues of their endpoints.
 * @returns the number of dispatched events, and the traces of the sampled ones
 */
export async function dispatchEvents(
  tx: Tx,
  first: DispatchOrder,
  limit: number,
): Promise<{ readonly events: number; readonly traces: readonly Buffer[] }> {
  const [row] = await tx.query<{ events: number; traces: Buffer[] | null }>(DISPATCH[first], [limit]);
  return { events: row?.events ?? 0, traces: row?.traces ?? [] };
}

const OLDEST = statement(
  'webhook-delivery.oldest-undispatched',
  'select extract(epoch from caudal.now() - e.created_at)::float8 as seconds from caudal.events e where e.undispatched order by e.id limit 1',
);

/** Age of the oldest undispatched event in seconds; zero when there is none. */
export async function oldestUndispatched(tx: Pick<Tx, 'query'>): Promise<number> {
  const [row] = await tx.query<{ seconds: number }>(OLDEST);
  return row?.seconds ?? 0;
}

const INSERT_ONE = statement(
  'webhook-delivery.insert-one',
  `with moment as materialized (select caudal.now() as at),
   made as (
     insert into caudal.webhook_deliveries (organization_id, endpoint_id, event_id, id, status, next_attempt_at, give_up_at, created_at)
     -- Sorts before all other due deliveries: a failing queue sends a single delivery at a time.
     select $1, $2, $3, gen_random_uuid(), 'PENDING', at - ${LIFETIME}, at + interval '1 hour', at from moment
     returning organization_id, endpoint_id
   ),
   ${rescheduleQueues('m.at')}
   select 1`,
);

/** A test delivery is retried for one hour only: its sender is waiting for the result. */
export async function insertTestDelivery(
  tx: Tx,
  organizationId: string,
  endpointId: string,
  eventId: string,
): Promise<void> {
  await tx.query(INSERT_ONE, [organizationId, endpointId, eventId]);
}

/** A delivery that is due. */
export interface DueDelivery extends EndpointKey {
  readonly eventId: string;
  readonly attempts: number;
  /** Attempts made before the last replay. */
  readonly attemptsBefore: number;
  readonly replays: number;
  /** `give_up_at` passed before the next attempt. */
  readonly expired: boolean;
}

const QUEUES = new RowSet({ organization_id: uuid, endpoint_id: uuid, limit: integer });

const TAKE = statement(
  'webhook-delivery.take',
  `select d.organization_id, d.endpoint_id, d.event_id, d.attempts, d.attempts_before, d.replays, d.expired
   from ${QUEUES.as('w')}
   cross join lateral (
     select d.organization_id, d.endpoint_id, d.event_id, d.attempts, d.attempts_before, d.replays, d.give_up_at <= caudal.now() as expired
     from caudal.webhook_deliveries d
     -- By endpoint_id only: with organization_id the planner could use the primary key and read all past deliveries.
     where d.endpoint_id = w.endpoint_id and d.next_attempt_at <= caudal.now()
     order by d.next_attempt_at limit w.limit
   ) as d`,
);

/** Reads the due deliveries of leased queues. The lease excludes other senders, so the rows are not locked. */
export async function readDueDeliveries(
  tx: Tx,
  queues: readonly RecordOf<typeof QUEUES>[],
): Promise<DueDelivery[]> {
  if (queues.length === 0) return [];
  return queryRecords(tx, TAKE, QUEUES.parameters(queues));
}

/** Result of one attempt, or of a delivery that expired or was postponed without one. */
export interface AttemptResult extends EndpointKey {
  readonly eventId: string;
  /** `replays` when the delivery was read: if it was replayed since, this result does not end it. */
  readonly replays: number;
  /** Null when nothing was sent. */
  readonly attempt: {
    readonly number: number;
    /** Monotonic clock of this process. */
    readonly startedAtMs: number;
    readonly statusCode: number | null;
    readonly durationMs: number;
    readonly error: string | null;
    readonly encryptedResponse: Buffer | null;
  } | null;
  readonly status: 'PENDING' | 'DELIVERED' | 'FAILED';
  /** Set when `status` is PENDING. */
  readonly retryAfterMs: number | null;
}

const ATTEMPT_COLUMNS = {
  number: nullable(smallint),
  status_code: nullable(smallint),
  duration_ms: nullable(integer),
  error: nullable(text()),
  encrypted_response: nullable(bytes),
  age_ms: nullable(milliseconds),
};
const NO_ATTEMPT = emptyFields(ATTEMPT_COLUMNS);

const RESULTS = new RowSet({
  organization_id: uuid,
  endpoint_id: uuid,
  event_id: uuid,
  ...ATTEMPT_COLUMNS,
  status: text(),
  retry_after_ms: nullable(milliseconds),
  replays: smallint,
});

const RECORD = statement(
  'webhook-delivery.record',
  `with moment as materialized (select caudal.now() as at),
   r as (
     select * from ${RESULTS.as('r')}
   ),
   attempt as (
     insert into caudal.webhook_attempts (organization_id, endpoint_id, event_id, number, at, status_code, duration_ms, error, answer)
     select r.organization_id, r.endpoint_id, r.event_id, r.number, m.at - make_interval(secs => r.age_ms / 1000.0), r.status_code, r.duration_ms, r.error, r.encrypted_response
     from r, moment m where r.number is not null
     -- A sender whose lease expired may report an attempt number that another sender has recorded since.
     on conflict (organization_id, endpoint_id, event_id, number) do nothing
   ),
   next as (
     -- Retried if the next attempt is before give_up_at, otherwise FAILED.
     select r.*, m.at, case when r.status = 'PENDING' then m.at + make_interval(secs => r.retry_after_ms / 1000.0) end as retry_at
     from r, moment m
   )
   update caudal.webhook_deliveries d set
     attempts = greatest(d.attempts, coalesce(n.number, d.attempts)),
     status = case when n.replays <> d.replays then d.status when n.retry_at >= d.give_up_at then 'FAILED' else n.status end,
     next_attempt_at = case when n.replays <> d.replays then d.next_attempt_at when n.retry_at < d.give_up_at then n.retry_at end,
     ended_at = case when n.replays <> d.replays or n.retry_at < d.give_up_at then null else n.at end
   from next n
   where d.organization_id = n.organization_id and d.endpoint_id = n.endpoint_id and d.event_id = n.event_id and d.status = 'PENDING'`,
);

/** Records attempts. A delivery that another process ended meanwhile keeps its status; its attempt is recorded anyway. */
export async function recordAttempts(
  tx: Tx,
  results: readonly AttemptResult[],
  nowMs: number,
): Promise<void> {
  if (results.length === 0) return;
  const rows = results.map(({ attempt, ...result }) => ({
    ...result,
    ...(attempt ? { ...attempt, ageMs: nowMs - attempt.startedAtMs } : NO_ATTEMPT),
  }));
  await tx.query(RECORD, RESULTS.parameters(rows));
}

const PENDING = statement(
  'webhook-delivery.pending',
  `select count(*)::integer as count from caudal.webhook_deliveries where event_id ${WITHIN} and status = 'PENDING' and give_up_at > caudal.now()`,
);

/** Counts deliveries that may still be attempted. Those of a deleted endpoint stay PENDING until `give_up_at`. */
export function countPendingDeliveries(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, PENDING, span);
}
