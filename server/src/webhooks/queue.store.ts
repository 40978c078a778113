import { statement, type Tx } from '../db/tx.ts';
import { DISABLED_BY_OWNER } from './endpoint.ts';

/** A line is one process's for so long: longer than an answer may take, with what is written down after it. */
const CLAIM = "interval '30 seconds'";

/** A line in front of an endpoint, taken by a sender. */
export interface EndpointQueue {
  readonly organizationId: string;
  readonly endpointId: string;
  /** Attempts that failed in a row before this. */
  readonly failures: number;
  /** When its last turn ended, more than some waited in it. */
  readonly backlogged: boolean;
  readonly sealedAddress: Buffer;
  readonly sealedStaticHeader: Buffer | null;
  readonly sealedSecret: Buffer;
  /** Sign beside the other one while a rotation lasts. */
  readonly sealedPreviousSecrets: readonly Buffer[];
}

/** So many deliveries wait in a line that is backlogged. */
const BACKLOG_THRESHOLD = 100;
/**
 * Wakes the queues of the deliveries `made`, locked in order. What decides is read where it is set and not in a `where`: a line that somebody
 * put to rest or opened since the statement began is judged as it is now, or an event would lie in it unseen.
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

/** Of those that are backlogged so many at a time: with a hundred deliveries each, more would keep all others waiting. */
const MAX_BACKLOGGED = 16;

const UNLEASED = '(l.leased_until is null or l.leased_until < clock_timestamp())';
const READY =
  'l.failures = 0 and not l.backlogged and l.open and (l.leased_until is null or l.leased_until < clock_timestamp())';
const READY_BACKLOGGED = `l.failures = 0 and l.backlogged and l.open and ${UNLEASED}`;
const READY_FAILING = `l.failures > 0 and l.open and ${UNLEASED}`;

/** Whether a line is due, or its sender died. */
export const QUEUES_DUE = `(${[READY, READY_BACKLOGGED, READY_FAILING]
  .map((ready) => `exists (select from caudal.webhook_queues l where l.due_at <= caudal.now() and ${ready})`)
  .join(
    ' or ',
  )} or exists (select from caudal.webhook_queues l where l.open and l.leased_until < clock_timestamp()))`;

const LEASE_QUEUES = statement(
  'webhook-queue.claim',
  // The due time is taken away with the claim: whoever puts something new into the line meanwhile sets it again, and the
  // release keeps it. A line whose sender died has none and is found by its claim.
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
     update caudal.webhook_queues l set due_at = null, leased_until = clock_timestamp() + ${CLAIM}, lease_token = $1
     from (select * from due union select * from backlogged union select * from failing union select * from expired_leases) as t
     where l.organization_id = t.organization_id and l.endpoint_id = t.endpoint_id
     returning l.organization_id, l.endpoint_id, l.failures, l.backlogged
   )
   select t.organization_id, t.endpoint_id, t.failures, t.backlogged, e.address, e.static_header, e.secret,
     case when e.previous_until > caudal.now() then e.previous_secret end as previous_secret,
     case when e.older_until > caudal.now() then e.older_secret end as older_secret
   from taken t join caudal.webhook_endpoints e on e.organization_id = t.organization_id and e.id = t.endpoint_id`,
);

/**
 * @returns queues with something due: up to `most` that work, those first in which little waits, though a quarter of the
 *   places is for the others in any case; and up to `mostFailing` whose last attempt failed
 */
export async function leaseQueues(
  tx: Tx,
  leaseToken: string,
  limit: number,
  maxFailing: number,
): Promise<EndpointQueue[]> {
  const rows = await tx.query<{
    organization_id: string;
    endpoint_id: string;
    failures: number;
    backlogged: boolean;
    address: Buffer;
    static_header: Buffer | null;
    secret: Buffer;
    previous_secret: Buffer | null;
    older_secret: Buffer | null;
  }>(LEASE_QUEUES, [leaseToken, limit, maxFailing]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    endpointId: row.endpoint_id,
    failures: row.failures,
    backlogged: row.backlogged,
    sealedAddress: row.address,
    sealedStaticHeader: row.static_header,
    sealedSecret: row.secret,
    sealedPreviousSecrets: [row.previous_secret, row.older_secret].filter((each) => each !== null),
  }));
}

export interface QueueRelease {
  readonly organizationId: string;
  readonly endpointId: string;
  readonly leaseToken: string;
  /** How long it is left alone. */
  readonly restMs: number;
  /** As many as a turn may take: there may be more. */
  readonly full: boolean;
  readonly result: 'success' | 'failure' | 'none';
}

const RELEASE = statement(
  'webhook-queue.release',
  // What is due next is read from its deliveries; what was put into it meanwhile set `due_at`, and the earlier one counts.
  `with moment as materialized (select caudal.now() as at),
   r as (
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::float8[], $5::text[], $6::boolean[]) as r (organization_id, endpoint_id, lease_token, rest_ms, result, full_batch)
   ),
   next as (
     select r.organization_id, r.endpoint_id, (
       select d.next_attempt_at from caudal.webhook_deliveries d
       where d.endpoint_id = r.endpoint_id and d.next_attempt_at is not null order by d.next_attempt_at limit 1) as at
     from r
   ),
   -- In the order in which everybody locks queues.
   locked as (
     select l.endpoint_id from caudal.webhook_queues l join r on l.organization_id = r.organization_id and l.endpoint_id = r.endpoint_id
     order by l.organization_id, l.endpoint_id for update of l
   )
   update caudal.webhook_queues l set
     -- Greatest passes over nulls: a line in which nothing is left would be due again at once, for ever.
     due_at = case when l.open and num_nonnulls(l.due_at, next.at) > 0
       then greatest(least(l.due_at, next.at), moment.at + make_interval(secs => r.rest_ms / 1000.0)) end,
     rest_until = case when r.rest_ms > 0 then moment.at + make_interval(secs => r.rest_ms / 1000.0) end,
     -- From much to nothing. Counted of few, and no further than it matters.
     backlogged = r.full_batch and (l.backlogged or (select count(*) from (
       select from caudal.webhook_deliveries d
       where d.endpoint_id = r.endpoint_id and d.next_attempt_at <= moment.at limit ${BACKLOG_THRESHOLD}) as waiting) = ${BACKLOG_THRESHOLD}),
     failures = case r.result when 'success' then 0 when 'failure' then least(l.failures + 1, 1000000) else l.failures end,
     -- Days in which there was nothing to send are not days without a success.
     failing_since = case when r.result = 'success' or num_nonnulls(l.due_at, next.at) = 0 then null
       when r.result = 'failure' then coalesce(l.failing_since, moment.at) else l.failing_since end,
     leased_until = null, lease_token = null
   from r, next, moment, locked
   where locked.endpoint_id = l.endpoint_id and l.organization_id = r.organization_id and l.endpoint_id = r.endpoint_id and l.lease_token = r.lease_token
     and next.organization_id = r.organization_id and next.endpoint_id = r.endpoint_id
   returning l.organization_id, l.endpoint_id, (extract(epoch from moment.at - l.failing_since))::float8 as failing_seconds`,
);

/** @returns the queues that have seen no success for a while, and for how long */
export async function releaseQueues(
  tx: Tx,
  releases: readonly QueueRelease[],
): Promise<{ organizationId: string; endpointId: string; failingSeconds: number }[]> {
  if (releases.length === 0) return [];
  const rows = await tx.query<{
    organization_id: string;
    endpoint_id: string;
    failing_seconds: number | null;
  }>(RELEASE, [
    releases.map((each) => each.organizationId),
    releases.map((each) => each.endpointId),
    releases.map((each) => each.leaseToken),
    releases.map((each) => each.restMs),
    releases.map((each) => each.result),
    releases.map((each) => each.full),
  ]);
  return rows.flatMap((row) =>
    row.failing_seconds === null
      ? []
      : [
          {
            organizationId: row.organization_id,
            endpointId: row.endpoint_id,
            failingSeconds: row.failing_seconds,
          },
        ],
  );
}

const LOCK = statement(
  'webhook-queue.lock',
  'select 1 from caudal.webhook_queues where organization_id = $1 and endpoint_id = $2 for update',
);

/**
 * Before its endpoint is changed: whoever takes both takes the line first.
 * @returns false when there is none
 */
export async function lockQueue(tx: Tx, organizationId: string, endpointId: string): Promise<boolean> {
  return (await tx.query(LOCK, [organizationId, endpointId])).length > 0;
}

const OPEN = statement(
  'webhook-queue.open',
  `update caudal.webhook_queues l set open = true, due_at = least(l.due_at, caudal.now()), rest_until = null, failures = 0, failing_since = null
   where l.organization_id = $1 and l.endpoint_id = $2`,
);

/** Of an endpoint that was enabled again, or has a new address: what is held for it goes on at once. */
export async function resumeQueue(tx: Tx, organizationId: string, endpointId: string): Promise<void> {
  await tx.query(OPEN, [organizationId, endpointId]);
}

const SHUT = statement(
  'webhook-queue.shut',
  `update caudal.webhook_queues l set open = false, due_at = null
   from unnest($1::uuid[], $2::uuid[]) as s (organization_id, endpoint_id)
   where l.organization_id = s.organization_id and l.endpoint_id = s.endpoint_id`,
);

/** Of endpoints that were disabled or deleted: what comes into them is held. The queues are locked already. */
export async function pauseQueues(
  tx: Tx,
  endpoints: readonly { readonly organizationId: string; readonly id: string }[],
): Promise<void> {
  if (endpoints.length === 0) return;
  await tx.query(SHUT, [endpoints.map((each) => each.organizationId), endpoints.map((each) => each.id)]);
}

const RESCHEDULE_STALLED = statement(
  'webhook-queue.wake-forgotten',
  `update caudal.webhook_queues l set due_at = caudal.now()
   where l.open and l.due_at is null and l.leased_until is null and exists (
     select from caudal.webhook_deliveries d where d.endpoint_id = l.endpoint_id and d.next_attempt_at is not null)
   returning 1`,
);

/** @returns how many queues held something and nobody would have looked; whoever sees more than none has found a fault */
export async function rescheduleStalledQueues(tx: Pick<Tx, 'query'>): Promise<number> {
  return (await tx.query(RESCHEDULE_STALLED)).length;
}

const WAITING = statement(
  'webhook-queue.waiting',
  `select
     (select count(*)::int from caudal.webhook_queues where due_at <= caudal.now() and failures = 0 and not backlogged and leased_until is null) as queues,
     (select coalesce(extract(epoch from caudal.now() - min(due_at)), 0)::float8 from caudal.webhook_queues
       where due_at <= caudal.now() and failures = 0 and not backlogged and leased_until is null) as oldest_seconds,
     (select count(*)::int from caudal.webhook_queues where due_at <= caudal.now() and failures = 0 and backlogged and leased_until is null) as backlogged,
     (select count(*)::int from caudal.webhook_queues where due_at is not null and failures > 0 and open and leased_until is null)
       + (select count(*)::int from caudal.webhook_queues where leased_until is not null and failures > 0 and open) as failing`,
);

export interface QueueBacklog {
  readonly queues: number;
  readonly oldest_seconds: number;
  /** Not among `queues`: more than a turn's worth waits in each. */
  readonly backlogged: number;
  readonly failing: number;
}

export async function queueBacklog(tx: Pick<Tx, 'query'>): Promise<QueueBacklog> {
  const [row] = await tx.query<QueueBacklog>(WAITING);
  return row ?? { queues: 0, oldest_seconds: 0, backlogged: 0, failing: 0 };
}

/** An endpoint that gets nothing, for a reason its owner did not choose or may not know. */
export interface TroubledEndpoint {
  readonly organizationId: string;
  readonly endpointId: string;
  readonly status: 'ENABLED' | 'DISABLED';
  readonly disabledReason: string | null;
  /** Attempts that failed in a row. */
  readonly failures: number;
  readonly failingSince: Date | null;
  /** Of the newest event that was tried there. */
  readonly lastStatusCode: number | null;
  readonly lastError: string | null;
}

const TROUBLED = statement(
  'webhook-queue.troubled',
  `select l.organization_id, l.endpoint_id, e.status, e.disabled_reason, l.failures, l.failing_since, a.status_code, a.error
   from caudal.webhook_queues l
   join caudal.webhook_endpoints e on e.organization_id = l.organization_id and e.id = l.endpoint_id
   left join lateral (
     select a.status_code, a.error from caudal.webhook_attempts a
     where a.organization_id = l.organization_id and a.endpoint_id = l.endpoint_id
     order by a.event_id desc, a.number desc limit 1) as a on true
   where e.deleted_at is null and ((e.status = 'ENABLED' and l.failures > 0) or (e.status = 'DISABLED' and e.disabled_reason <> $2))
   order by l.failing_since nulls last, l.endpoint_id limit $1`,
);

/** Those that fail or were disabled by the service, longest first. What their owner disabled is no trouble. */
export async function troubledEndpoints(tx: Pick<Tx, 'query'>, limit: number): Promise<TroubledEndpoint[]> {
  const rows = await tx.query<{
    organization_id: string;
    endpoint_id: string;
    status: 'ENABLED' | 'DISABLED';
    disabled_reason: string | null;
    failures: number;
    failing_since: Date | null;
    status_code: number | null;
    error: string | null;
  }>(TROUBLED, [limit, DISABLED_BY_OWNER]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    endpointId: row.endpoint_id,
    status: row.status,
    disabledReason: row.disabled_reason,
    failures: row.failures,
    failingSince: row.failing_since,
    lastStatusCode: row.status_code,
    lastError: row.error,
  }));
}
