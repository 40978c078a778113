import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { statement, type Tx } from '../db/tx.ts';
import { rescheduleQueues } from './queue.store.ts';

/** So long after the event its deliveries are tried. */
export const LIFETIME = "interval '30 days'";

/**
 * Joins events `t` with their organization's endpoints that want them. Without the offset they could be joined the other way
 * round, and each of ten thousand endpoints would be held against each event.
 */
export const wantedBy = (further: string) => `cross join lateral (
       select w.id from caudal.webhook_endpoints w
       where w.organization_id = t.organization_id and w.deleted_at is null and ${further} and (w.events is null or t.event = any (w.events))
       offset 0
     ) as w`;

/** Which of the undispatched events are taken first. */
export type DispatchedFirst = 'oldest' | 'newest';

const NEW = `e.undispatched and e.id >= caudal.uuid_floor(caudal.now() - interval '2 minutes')`;

/** Whether a new event is to be given to its endpoints. Older ones are not looked for: see `newest`. */
export const EVENTS_DUE = `exists (select from caudal.events e where ${NEW})`;

const FIRST: Readonly<Record<DispatchedFirst, string>> = {
  oldest: 'where e.undispatched order by e.id',
  // Only of late: while somebody reads a long-lived snapshot, the index keeps all that was dispatched since it began.
  newest: `where ${NEW} order by e.id desc`,
};

const dispatchStatement = (first: DispatchedFirst) =>
  statement(
    `webhook-delivery.dispatch-${first}`,
    // Endpoints that came after the event get it only by a replay. What a disabled one gets is held.
    `with moment as materialized (select caudal.now() as at),
   taken as (
     select e.organization_id, e.id, e.event, e.created_at from caudal.events e
     ${FIRST[first]} limit $1 for update skip locked
   ),
   marked as (
     update caudal.events e set undispatched = false from taken t where e.organization_id = t.organization_id and e.id = t.id
   ),
   made as (
     insert into caudal.webhook_deliveries (organization_id, endpoint_id, event_id, id, status, next_attempt_at, give_up_at, created_at)
     select t.organization_id, w.id, t.id, gen_random_uuid(), 'PENDING', m.at, t.created_at + ${LIFETIME}, m.at
     from moment m, taken t ${wantedBy('w.created_at <= t.created_at')}
     order by w.id, t.id
     on conflict (organization_id, endpoint_id, event_id) do nothing
     returning organization_id, endpoint_id
   ),
   ${
     // One that rests is not woken before its time by what is new.
     rescheduleQueues('greatest(m.at, l.rest_until)')
   }
   select count(*)::int as events from taken`,
  );

const DISPATCH = { oldest: dispatchStatement('oldest'), newest: dispatchStatement('newest') };

/**
 * Makes the deliveries of events that nobody has dispatched yet, and wakes the lines they stand in.
 * @returns how many events were taken
 */
export async function dispatchEvents(tx: Tx, first: DispatchedFirst, limit: number): Promise<number> {
  const [row] = await tx.query<{ events: number }>(DISPATCH[first], [limit]);
  return row?.events ?? 0;
}

const OLDEST = statement(
  'webhook-delivery.oldest-undispatched',
  'select extract(epoch from caudal.now() - e.created_at)::float8 as seconds from caudal.events e where e.undispatched order by e.id limit 1',
);

/** Seconds; zero when all are dispatched. */
export async function oldestUndispatched(tx: Pick<Tx, 'query'>): Promise<number> {
  const [row] = await tx.query<{ seconds: number }>(OLDEST);
  return row?.seconds ?? 0;
}

const INSERT_ONE = statement(
  'webhook-delivery.insert-one',
  `with moment as materialized (select caudal.now() as at),
   made as (
     insert into caudal.webhook_deliveries (organization_id, endpoint_id, event_id, id, status, next_attempt_at, give_up_at, created_at)
     -- Before all that is due in its line: one that fails is tried with a single delivery at a time.
     select $1, $2, $3, gen_random_uuid(), 'PENDING', at - ${LIFETIME}, at + interval '1 hour', at from moment
     returning organization_id, endpoint_id
   ),
   ${rescheduleQueues('m.at')}
   select 1`,
);

/** Of a test: tried for an hour, for somebody is waiting to see it. */
export async function insertTestDelivery(
  tx: Tx,
  organizationId: string,
  endpointId: string,
  eventId: string,
): Promise<void> {
  await tx.query(INSERT_ONE, [organizationId, endpointId, eventId]);
}

/** A delivery that is due. */
export interface DueDelivery {
  readonly organizationId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly attempts: number;
  /** Of them, those made before it was last replayed. */
  readonly attemptsBefore: number;
  readonly replays: number;
  /** Its time was over before it could be tried again. */
  readonly over: boolean;
}

const TAKE = statement(
  'webhook-delivery.take',
  `select d.organization_id, d.endpoint_id, d.event_id, d.attempts, d.attempts_before, d.replays, d.over
   from unnest($1::uuid[], $2::uuid[], $3::int[]) as w (organization_id, endpoint_id, most)
   cross join lateral (
     select d.organization_id, d.endpoint_id, d.event_id, d.attempts, d.attempts_before, d.replays, d.give_up_at <= caudal.now() as over
     from caudal.webhook_deliveries d
     -- By the endpoint alone: with the organization beside it the primary key would do, and read all it ever got.
     where d.endpoint_id = w.endpoint_id and d.next_attempt_at <= caudal.now()
     order by d.next_attempt_at limit w.most
   ) as d`,
);

/** What is due in lines that are claimed: nobody else is at them, so nothing more is locked. */
export async function takeDeliveries(
  tx: Tx,
  queues: readonly { readonly organizationId: string; readonly endpointId: string; readonly limit: number }[],
): Promise<DueDelivery[]> {
  if (queues.length === 0) return [];
  const rows = await tx.query<{
    organization_id: string;
    endpoint_id: string;
    event_id: string;
    attempts: number;
    attempts_before: number;
    replays: number;
    over: boolean;
  }>(TAKE, [
    queues.map((queue) => queue.organizationId),
    queues.map((queue) => queue.endpointId),
    queues.map((queue) => queue.limit),
  ]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    endpointId: row.endpoint_id,
    eventId: row.event_id,
    attempts: row.attempts,
    attemptsBefore: row.attempts_before,
    replays: row.replays,
    over: row.over,
  }));
}

/** What came of one attempt. */
export interface AttemptResult {
  readonly organizationId: string;
  readonly endpointId: string;
  readonly eventId: string;
  /** Of the delivery as it was taken: one that was replayed since is not ended by this. */
  readonly replays: number;
  /** Null when its time was over and nothing was sent. */
  readonly attempt: {
    readonly number: number;
    /** By the process's own clock, which does not jump. */
    readonly startedAtMs: number;
    readonly statusCode: number | null;
    readonly durationMs: number;
    readonly error: string | null;
    readonly sealedAnswer: Buffer | null;
  } | null;
  readonly status: 'PENDING' | 'DELIVERED' | 'FAILED';
  /** With PENDING. */
  readonly againAfterMs: number | null;
}

const RECORD = statement(
  'webhook-delivery.record',
  `with moment as materialized (select caudal.now() as at),
   r as (
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::smallint[], $6::int[], $7::text[], $8::bytea[], $9::text[], $10::float8[], $11::smallint[], $12::float8[])
       as r (organization_id, endpoint_id, event_id, number, status_code, duration_ms, error, answer, status, again_after_ms, replays, age_ms)
   ),
   attempt as (
     insert into caudal.webhook_attempts (organization_id, endpoint_id, event_id, number, at, status_code, duration_ms, error, answer)
     select r.organization_id, r.endpoint_id, r.event_id, r.number, m.at - make_interval(secs => r.age_ms / 1000.0), r.status_code, r.duration_ms, r.error, r.answer
     from r, moment m where r.number is not null
     -- A sender that slept may come with an attempt that another one has made since.
     on conflict (organization_id, endpoint_id, event_id, number) do nothing
   ),
   next as (
     -- What it comes to: tried again if that is in time, else given up.
     select r.*, m.at, case when r.status = 'PENDING' then m.at + make_interval(secs => r.again_after_ms / 1000.0) end as again_at
     from r, moment m
   )
   update caudal.webhook_deliveries d set
     attempts = greatest(d.attempts, coalesce(n.number, d.attempts)),
     status = case when n.replays <> d.replays then d.status when n.again_at >= d.give_up_at then 'FAILED' else n.status end,
     next_attempt_at = case when n.replays <> d.replays then d.next_attempt_at when n.again_at < d.give_up_at then n.again_at end,
     ended_at = case when n.replays <> d.replays or n.again_at < d.give_up_at then null else n.at end
   from next n
   where d.organization_id = n.organization_id and d.endpoint_id = n.endpoint_id and d.event_id = n.event_id and d.status = 'PENDING'`,
);

/** A delivery that somebody else ended meanwhile stays as it is; the attempt is noted all the same. */
export async function recordAttempts(
  tx: Tx,
  results: readonly AttemptResult[],
  nowMs: number,
): Promise<void> {
  if (results.length === 0) return;
  await tx.query(RECORD, [
    results.map((result) => result.organizationId),
    results.map((result) => result.endpointId),
    results.map((result) => result.eventId),
    results.map(({ attempt }) => attempt?.number ?? null),
    results.map(({ attempt }) => attempt?.statusCode ?? null),
    results.map(({ attempt }) => attempt?.durationMs ?? null),
    results.map(({ attempt }) => attempt?.error ?? null),
    results.map(({ attempt }) => attempt?.sealedAnswer ?? null),
    results.map((result) => result.status),
    results.map((result) => result.againAfterMs),
    results.map((result) => result.replays),
    results.map(({ attempt }) => (attempt ? nowMs - attempt.startedAtMs : null)),
  ]);
}

const OPEN = statement(
  'delivery.open',
  `select count(*)::integer as count from caudal.webhook_deliveries where event_id ${WITHIN} and status = 'PENDING' and give_up_at > caudal.now()`,
);

/** Those that are still tried. What a deleted endpoint leaves behind stays PENDING, and nobody tries it after its time. */
export function countOpenDeliveries(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, OPEN, span);
}
