import { statement, type Tx } from '../db/tx.ts';
import { LIFETIME, matchingEndpoints } from './delivery.store.ts';
import { rescheduleQueues } from './queue.store.ts';

/** Which events to deliver again. */
export type ReplaySelection =
  | { readonly kind: 'one'; readonly eventId: string }
  /** Events created at or after `from`, each to the endpoints where its delivery failed or is failing. */
  | { readonly kind: 'failed'; readonly from: Date }
  | { readonly kind: 'range'; readonly from: Date; readonly to: Date };

/** Deliveries per statement. This bounds how long concurrent recording and dispatching wait for row locks. */
const MAX_DELIVERIES = 2000;
const MAX_FAILED_EVENTS = 500;

/** `created_at` is the transaction start and the id is assigned later, so an id range alone is wrong at its edges. */
const SLACK = "interval '1 minute'";

/** Must match the predicate of an index. */
const FAILED = "(d.status = 'FAILED' or (d.status = 'PENDING' and d.attempts > d.attempts_before))";

/** Restarts an existing delivery; a pending one is only brought forward. */
const restart = (delivery: string, at: string, until: string) =>
  `status = 'PENDING', next_attempt_at = ${at}, give_up_at = greatest(${delivery}.give_up_at, ${until}),
   replays = least(${delivery}.replays + 1, 32000), attempts_before = ${delivery}.attempts, ended_at = null`;

const retryUntil = (event: string) => `greatest(${event}.created_at + ${LIFETIME}, m.at + interval '3 days')`;

/** Replays to all enabled, subscribed endpoints, including those created after the event. */
const replayStatement = (kind: 'one' | 'range', wanted: string) =>
  statement(
    `webhook-delivery.replay-${kind}`,
    `with moment as materialized (select caudal.now() as at),
     batch_limit as materialized (
       select greatest(1, ${MAX_DELIVERIES} / greatest(1, count(*))) as max_events from caudal.webhook_endpoints w
       where w.organization_id = $1 and w.deleted_at is null and w.status = 'ENABLED'
     ),
     wanted as materialized (
       select e.organization_id, e.id, e.event, e.created_at from caudal.events e
       where e.organization_id = $1 and e.resource <> 'webhook' and ${wanted} order by e.id limit (select max_events from batch_limit)
     ),
     made as (
       insert into caudal.webhook_deliveries (organization_id, endpoint_id, event_id, id, status, next_attempt_at, give_up_at, created_at)
       select t.organization_id, w.id, t.id, gen_random_uuid(), 'PENDING', m.at, ${retryUntil('t')}, m.at
       from moment m, wanted t ${matchingEndpoints("w.status = 'ENABLED'")}
       order by w.id, t.id
       on conflict (organization_id, endpoint_id, event_id) do update set ${restart('webhook_deliveries', 'excluded.next_attempt_at', 'excluded.give_up_at')}
       returning organization_id, endpoint_id
     ),
     ${rescheduleQueues('m.at')}
     select (select count(*)::int from wanted) as events, (select count(*)::int from made) as deliveries,
       (select id from wanted order by id desc limit 1) as last, (select count(*) from wanted) = (select max_events from batch_limit) as full`,
  );

const FAILED_SINCE = statement(
  'webhook-delivery.replay-failed',
  `with moment as materialized (select caudal.now() as at),
   wanted as materialized (
     select distinct d.event_id as id from caudal.webhook_deliveries d
     where d.organization_id = $1 and d.event_id > greatest($2::uuid, caudal.uuid_floor($3::timestamptz - ${SLACK})) and ${FAILED}
     order by d.event_id limit ${MAX_FAILED_EVENTS}
   ),
   failed as materialized (
     select d.organization_id, d.endpoint_id, d.event_id, e.created_at
     from wanted t
     cross join lateral (
       select e.event, e.created_at from caudal.events e
       where e.organization_id = $1 and e.id = t.id and e.created_at >= $3::timestamptz and e.resource <> 'webhook' limit 1
     ) as e
     cross join lateral (
       select d.organization_id, d.endpoint_id, d.event_id from caudal.webhook_deliveries d
       where d.organization_id = $1 and d.event_id = t.id and ${FAILED} offset 0
     ) as d
     cross join lateral (
       select from caudal.webhook_endpoints w
       where w.organization_id = d.organization_id and w.id = d.endpoint_id and w.deleted_at is null and w.status = 'ENABLED'
         and (w.events is null or e.event = any (w.events)) limit 1
     ) as w
   ),
   locked as (
     select d.organization_id, d.endpoint_id, d.event_id, f.created_at from failed f
     join caudal.webhook_deliveries d on d.organization_id = f.organization_id and d.endpoint_id = f.endpoint_id and d.event_id = f.event_id
     order by d.endpoint_id, d.event_id for update of d
   ),
   made as (
     update caudal.webhook_deliveries d set ${restart('d', 'm.at', retryUntil('l'))}
     from moment m, locked l
     where d.organization_id = l.organization_id and d.endpoint_id = l.endpoint_id and d.event_id = l.event_id
     returning d.organization_id, d.endpoint_id, d.event_id
   ),
   ${rescheduleQueues('m.at')}
   select (select count(distinct event_id)::int from made) as events, (select count(*)::int from made) as deliveries,
     (select id from wanted order by id desc limit 1) as last, (select count(*) from wanted) = ${MAX_FAILED_EVENTS} as full`,
);

const ONE = replayStatement('one', 'e.id = $2::uuid');
const RANGE = replayStatement(
  'range',
  `e.id > greatest($2::uuid, caudal.uuid_floor($3::timestamptz - ${SLACK})) and e.id < (select caudal.id_ceiling($4::timestamptz))
   and e.created_at >= $3::timestamptz and e.created_at < $4::timestamptz`,
);

export interface ReplayResult {
  readonly events: number;
  readonly deliveries: number;
  /** The last event read, when more events may follow. */
  readonly nextAfter: string | null;
}

/** Sorts before all event ids. */
export const BEFORE_FIRST_EVENT = '00000000-0000-0000-0000-000000000000';

/** Replays one batch of the selected events after `after`, oldest first. */
export async function replayBatch(
  tx: Tx,
  organizationId: string,
  wanted: ReplaySelection,
  after: string,
): Promise<ReplayResult> {
  const [statement, values] =
    wanted.kind === 'one'
      ? [ONE, [organizationId, wanted.eventId]]
      : wanted.kind === 'failed'
        ? [FAILED_SINCE, [organizationId, after, wanted.from]]
        : [RANGE, [organizationId, after, wanted.from, wanted.to]];
  const [row] = await tx.query<{ events: number; deliveries: number; last: string | null; full: boolean }>(
    statement,
    values,
  );
  if (!row) throw new Error('replay returned no row');
  const { events, deliveries, last, full } = row;
  return { events, deliveries, nextAfter: full && wanted.kind !== 'one' ? last : null };
}
