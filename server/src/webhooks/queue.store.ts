import { flag, milliseconds, type RowId, text, uuid } from '../db/columns.ts';
import { queryRecords, queryRow, type RecordOf, ROW_IDS, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import { DISABLED_BY_OWNER } from './endpoint.ts';

/** Lease duration: longer than the slowest response plus recording its result. */
const LEASE_INTERVAL = "interval '30 seconds'";

/** Identifies an endpoint, its queue and its deliveries. */
export interface EndpointKey {
  readonly organizationId: string;
  readonly endpointId: string;
}

/** The delivery queue of an endpoint, leased by a sender. */
export interface EndpointQueue extends EndpointKey {
  /** Consecutive failures before this batch. */
  readonly failures: number;
  /** 100 or more deliveries were still pending after the last batch. */
  readonly backlogged: boolean;
  readonly encryptedUrl: Buffer;
  readonly encryptedStaticHeader: Buffer | null;
  readonly encryptedSecret: Buffer;
  /** They also sign during a rotation. */
  readonly encryptedPreviousSecrets: readonly Buffer[];
}

/** A queue with this many due deliveries is backlogged. */
const BACKLOG_THRESHOLD = 100;

/**
 * Schedules the queues of the deliveries `made`, locked in order. The conditions are in `set`, not in `where`: they must
 * read the locked row, because a queue paused or resumed since the statement started would otherwise keep its new
 * deliveries unscheduled.
 */
export const rescheduleQueues = (at: string) => `queues as (
     select l.organization_id, l.endpoint_id, d.made from caudal.webhook_queues l
     join (select organization_id, endpoint_id, count(*) as made from made group by organization_id, endpoint_id) as d on d.organization_id = l.organization_id and d.endpoint_id = l.endpoint_id
     order by l.organization_id, l.endpoint_id for update of l
   ),
   woken as (
     update caudal.webhook_queues l set due_at = case when l.open then least(l.due_at, ${at}) else l.due_at end, backlogged = l.backlogged or queues.made >= ${BACKLOG_THRESHOLD}
     from moment m, queues where l.organization_id = queues.organization_id and l.endpoint_id = queues.endpoint_id
   )`;

/** Backlogged queues leased at once: each sends up to 100 deliveries, so more would delay all other queues. */
const MAX_BACKLOGGED = 16;

const UNLEASED = '(l.leased_until is null or l.leased_until < clock_timestamp())';
const READY =
  'l.failures = 0 and not l.backlogged and l.open and (l.leased_until is null or l.leased_until < clock_timestamp())';
const READY_BACKLOGGED = `l.failures = 0 and l.backlogged and l.open and ${UNLEASED}`;
const READY_FAILING = `l.failures > 0 and l.open and ${UNLEASED}`;

/** SQL condition: a queue is due, or its lease expired because its sender died. */
export const QUEUES_DUE = `(${[READY, READY_BACKLOGGED, READY_FAILING]
  .map((ready) => `exists (select from caudal.webhook_queues l where l.due_at <= caudal.now() and ${ready})`)
  .join(
    ' or ',
  )} or exists (select from caudal.webhook_queues l where l.open and l.leased_until < clock_timestamp()))`;

const LEASE_QUEUES = statement(
  'webhook-queue.lease',
  // The lease clears `due_at`. A delivery added meanwhile sets it again, and the release keeps that value. A queue whose
  // sender died has no `due_at` and is found by its expired lease.
  `with due as (
     select l.organization_id, l.endpoint_id from caudal.webhook_queues l
     where l.due_at <= caudal.now() and ${READY}
     order by l.due_at limit $2 for update skip locked
   ),
   backlogged as (
     select l.organization_id, l.endpoint_id from caudal.webhook_queues l
     where l.due_at <= caudal.now() and ${READY_BACKLOGGED}
     order by l.due_at limit least(${MAX_BACKLOGGED}, greatest($2 - (select count(*) from due), $2 / 4)) for update skip locked
   ),
   failing as (
     select l.organization_id, l.endpoint_id from caudal.webhook_queues l
     where l.due_at <= caudal.now() and ${READY_FAILING}
     order by l.due_at limit $3 for update skip locked
   ),
   expired_leases as (
     select l.organization_id, l.endpoint_id from caudal.webhook_queues l
     where l.leased_until < clock_timestamp() and l.open order by l.leased_until limit $2 for update skip locked
   ),
   taken as (
     update caudal.webhook_queues l set due_at = null, leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $1
     from (select * from due union select * from backlogged union select * from failing union select * from expired_leases) as t
     where l.organization_id = t.organization_id and l.endpoint_id = t.endpoint_id
     returning l.organization_id, l.endpoint_id, l.failures, l.backlogged
   )
   select t.organization_id, t.endpoint_id, t.failures, t.backlogged, e.address as encrypted_url,
     e.static_header as encrypted_static_header, e.secret as encrypted_secret,
     case when e.previous_until > caudal.now() then e.previous_secret end as previous_secret,
     case when e.older_until > caudal.now() then e.older_secret end as older_secret
   from taken t join caudal.webhook_endpoints e on e.organization_id = t.organization_id and e.id = t.endpoint_id`,
);

interface LeasedQueue extends Omit<EndpointQueue, 'encryptedPreviousSecrets'> {
  readonly previousSecret: Buffer | null;
  readonly olderSecret: Buffer | null;
}

/**
 * Leases due queues: up to `limit` healthy ones, small queues first, with a quarter of the slots reserved for backlogged
 * ones; and up to `maxFailing` whose last attempt failed.
 */
export async function leaseQueues(
  tx: Tx,
  leaseToken: string,
  limit: number,
  maxFailing: number,
): Promise<EndpointQueue[]> {
  const queues = await queryRecords<LeasedQueue>(tx, LEASE_QUEUES, [leaseToken, limit, maxFailing]);
  return queues.map(({ previousSecret, olderSecret, ...queue }) => ({
    ...queue,
    encryptedPreviousSecrets: [previousSecret, olderSecret].filter((each) => each !== null),
  }));
}

const RELEASES = new RowSet({
  organization_id: uuid,
  endpoint_id: uuid,
  lease_token: uuid,
  /** Delay before the next batch. */
  rest_ms: milliseconds,
  result: text<'success' | 'failure' | 'none'>(),
  /** The batch had its maximum size, so more deliveries may be due. */
  full: flag,
});

export type QueueRelease = RecordOf<typeof RELEASES>;

const RELEASE = statement(
  'webhook-queue.release',
  // The next due time is read from the deliveries. A delivery added meanwhile has set `due_at`; the earlier time wins.
  `with moment as materialized (select caudal.now() as at),
   r as (
     select * from ${RELEASES.as('r')}
   ),
   next as (
     select r.organization_id, r.endpoint_id, (
       select d.next_attempt_at from caudal.webhook_deliveries d
       where d.endpoint_id = r.endpoint_id and d.next_attempt_at is not null order by d.next_attempt_at limit 1) as at
     from r
   ),
   -- Every statement locks queues in this order.
   locked as (
     select l.endpoint_id from caudal.webhook_queues l join r on l.organization_id = r.organization_id and l.endpoint_id = r.endpoint_id
     order by l.organization_id, l.endpoint_id for update of l
   )
   update caudal.webhook_queues l set
     -- greatest() ignores nulls: without the guard an empty queue would be due again immediately, forever.
     due_at = case when l.open and num_nonnulls(l.due_at, next.at) > 0
       then greatest(least(l.due_at, next.at), moment.at + make_interval(secs => r.rest_ms / 1000.0)) end,
     rest_until = case when r.rest_ms > 0 then moment.at + make_interval(secs => r.rest_ms / 1000.0) end,
     -- Cleared only when the backlog is empty; count at most ${BACKLOG_THRESHOLD} rows.
     backlogged = r.full and (l.backlogged or (select count(*) from (
       select from caudal.webhook_deliveries d
       where d.endpoint_id = r.endpoint_id and d.next_attempt_at <= moment.at limit ${BACKLOG_THRESHOLD}) as waiting) = ${BACKLOG_THRESHOLD}),
     failures = case r.result when 'success' then 0 when 'failure' then least(l.failures + 1, 1000000) else l.failures end,
     -- An empty queue is not failing: days without deliveries do not count towards disabling the endpoint.
     failing_since = case when r.result = 'success' or num_nonnulls(l.due_at, next.at) = 0 then null
       when r.result = 'failure' then coalesce(l.failing_since, moment.at) else l.failing_since end,
     leased_until = null, lease_token = null
   from r, next, moment, locked
   where locked.endpoint_id = l.endpoint_id and l.organization_id = r.organization_id and l.endpoint_id = r.endpoint_id and l.lease_token = r.lease_token
     and next.organization_id = r.organization_id and next.endpoint_id = r.endpoint_id
   returning l.organization_id, l.endpoint_id, (extract(epoch from moment.at - l.failing_since))::float8 as failing_seconds`,
);

interface FailingQueue extends EndpointKey {
  readonly failingSeconds: number;
}

/** @returns the failing queues and how long they have had no success */
export async function releaseQueues(tx: Tx, releases: readonly QueueRelease[]): Promise<FailingQueue[]> {
  if (releases.length === 0) return [];
  const queues = await queryRecords<FailingQueue | { readonly failingSeconds: null }>(
    tx,
    RELEASE,
    RELEASES.parameters(releases),
  );
  return queues.filter((queue) => queue.failingSeconds !== null);
}

const LOCK = statement(
  'webhook-queue.lock',
  'select 1 from caudal.webhook_queues where organization_id = $1 and endpoint_id = $2 for update',
);

/**
 * Locks a queue before its endpoint is changed. Lock order: queue first, then endpoint.
 * @returns false when the queue does not exist
 */
export async function lockQueue(tx: Tx, organizationId: string, endpointId: string): Promise<boolean> {
  return (await tx.query(LOCK, [organizationId, endpointId])).length > 0;
}

const RESUME = statement(
  'webhook-queue.resume',
  `update caudal.webhook_queues l set open = true, due_at = least(l.due_at, caudal.now()), rest_until = null, failures = 0, failing_since = null
   where l.organization_id = $1 and l.endpoint_id = $2`,
);

/** Called when an endpoint is enabled again or has a new URL: its pending deliveries continue immediately. */
export async function resumeQueue(tx: Tx, organizationId: string, endpointId: string): Promise<void> {
  await tx.query(RESUME, [organizationId, endpointId]);
}

const PAUSE = statement(
  'webhook-queue.pause',
  `update caudal.webhook_queues l set open = false, due_at = null
   from ${ROW_IDS.as('s')}
   where l.organization_id = s.organization_id and l.endpoint_id = s.id`,
);

/** Called when endpoints are disabled or deleted: their deliveries stay pending. The caller has locked the queues. */
export async function pauseQueues(tx: Tx, endpoints: readonly RowId[]): Promise<void> {
  if (endpoints.length > 0) await tx.query(PAUSE, ROW_IDS.parameters(endpoints));
}

const RESCHEDULE_STALLED = statement(
  'webhook-queue.reschedule-stalled',
  `update caudal.webhook_queues l set due_at = caudal.now()
   where l.open and l.due_at is null and l.leased_until is null and exists (
     select from caudal.webhook_deliveries d where d.endpoint_id = l.endpoint_id and d.next_attempt_at is not null)
   returning 1`,
);

/** Schedules queues that have pending deliveries but no due time. @returns their number; more than zero indicates a bug */
export async function rescheduleStalledQueues(tx: Pick<Tx, 'query'>): Promise<number> {
  return (await tx.query(RESCHEDULE_STALLED)).length;
}

const BACKLOG = statement(
  'webhook-queue.backlog',
  `select
     (select count(*)::int from caudal.webhook_queues where due_at <= caudal.now() and failures = 0 and not backlogged and leased_until is null) as queues,
     (select coalesce(extract(epoch from caudal.now() - min(due_at)), 0)::float8 from caudal.webhook_queues
       where due_at <= caudal.now() and failures = 0 and not backlogged and leased_until is null) as oldest_seconds,
     (select count(*)::int from caudal.webhook_queues where due_at <= caudal.now() and failures = 0 and backlogged and leased_until is null) as backlogged,
     (select count(*)::int from caudal.webhook_queues where due_at is not null and failures > 0 and open and leased_until is null)
       + (select count(*)::int from caudal.webhook_queues where leased_until is not null and failures > 0 and open) as failing`,
);

interface QueueBacklog {
  readonly queues: number;
  readonly oldest_seconds: number;
  /** Due queues with a backlog; not included in `queues`. */
  readonly backlogged: number;
  readonly failing: number;
}

export async function queueBacklog(tx: Pick<Tx, 'query'>): Promise<QueueBacklog> {
  return (
    (await queryRow<QueueBacklog>(tx, BACKLOG)) ?? { queues: 0, oldest_seconds: 0, backlogged: 0, failing: 0 }
  );
}

/** An endpoint that receives no events although its owner did not disable it. */
export interface UnhealthyEndpoint extends EndpointKey {
  readonly status: 'ENABLED' | 'DISABLED';
  readonly disabledReason: string | null;
  /** Consecutive failed attempts. */
  readonly failures: number;
  readonly failingSince: Date | null;
  /** From the last attempt of the newest attempted event. */
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
}

const UNHEALTHY = statement(
  'webhook-queue.unhealthy',
  `select l.organization_id, l.endpoint_id, e.status, e.disabled_reason, l.failures, l.failing_since, a.status_code as last_status_code, a.error as last_error
   from caudal.webhook_queues l
   join caudal.webhook_endpoints e on e.organization_id = l.organization_id and e.id = l.endpoint_id
   left join lateral (
     select a.status_code, a.error from caudal.webhook_attempts a
     where a.organization_id = l.organization_id and a.endpoint_id = l.endpoint_id
     order by a.event_id desc, a.number desc limit 1) as a on true
   where e.deleted_at is null and ((e.status = 'ENABLED' and l.failures > 0) or (e.status = 'DISABLED' and e.disabled_reason <> $2))
   order by l.failing_since nulls last, l.endpoint_id limit $1`,
);

/** Lists endpoints that fail or that the service disabled, longest failing first. Excludes those their owner disabled. */
export function listUnhealthyEndpoints(tx: Pick<Tx, 'query'>, limit: number): Promise<UnhealthyEndpoint[]> {
  return queryRecords(tx, UNHEALTHY, [limit, DISABLED_BY_OWNER]);
}
