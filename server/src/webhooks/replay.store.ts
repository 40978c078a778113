import { statement, type Tx } from '../db/tx.ts';
import { LIFETIME, wantedBy } from './delivery.store.ts';
import { rescheduleQueues } from './queue.store.ts';

/** Which events are to be delivered again. */
export type ReplayedEvents =
  | { readonly kind: 'one'; readonly eventId: string }
  /** Those created at or after a moment, each to the endpoints at which it failed or is still failing. */
  | { readonly kind: 'failed'; readonly from: Date }
  | { readonly kind: 'range'; readonly from: Date; readonly to: Date };

/** So many deliveries in one statement: whoever records or dispatches some of them meanwhile waits no longer than it takes. */
const MOST_DELIVERIES = 2000;
const MOST_FAILED_EVENTS = 500;

/** An event is created when its transaction begins, and has its id a little later: by ids alone the edges would be wrong. */
const SLACK = "interval '1 minute'";

/** Told by the predicate of an index. */
const FAILED = "(d.status = 'FAILED' or (d.status = 'PENDING' and d.attempts > d.attempts_before))";

/** What becomes of a delivery that there is; what is under way anyway only comes sooner. */
const begunAnew = (delivery: string, at: string, until: string) =>
  `status = 'PENDING', next_attempt_at = ${at}, give_up_at = greatest(${delivery}.give_up_at, ${until}),
   replays = least(${delivery}.replays + 1, 32000), attempts_before = ${delivery}.attempts, ended_at = null`;

const triedUntil = (event: string) => `greatest(${event}.created_at + ${LIFETIME}, m.at + interval '3 days')`;

/** To all enabled endpoints that want them, also those that came later. */
const toAll = (kind: 'one' | 'range', wanted: string) =>
  statement(
    `webhook-delivery.replay-${kind}`,
    `with moment as materialized (select caudal.now() as at),
     places as materialized (
       select greatest(1, ${MOST_DELIVERIES} / greatest(1, count(*))) as most from caudal.webhook_endpoints w
       where w.organization_id = $1 and w.deleted_at is null and w.status = 'ENABLED'
     ),
     wanted as materialized (
       select e.organization_id, e.id, e.event, e.created_at from caudal.events e
       where e.organization_id = $1 and e.resource <> 'webhook' and ${wanted} order by e.id limit (select most from places)
     ),
     made as (
       insert into caudal.webhook_deliveries (organization_id, endpoint_id, event_id, id, status, next_attempt_at, give_up_at, created_at)
       select t.organization_id, w.id, t.id, gen_random_uuid(), 'PENDING', m.at, ${triedUntil('t')}, m.at
       from moment m, wanted t ${wantedBy("w.status = 'ENABLED'")}
       order by w.id, t.id
       on conflict (organization_id, endpoint_id, event_id) do update set ${begunAnew('webhook_deliveries', 'excluded.next_attempt_at', 'excluded.give_up_at')}
       returning organization_id, endpoint_id
     ),
     ${rescheduleQueues('m.at')}
     select (select count(*)::int from wanted) as events, (select count(*)::int from made) as deliveries,
       (select id from wanted order by id desc limit 1) as last, (select count(*) from wanted) = (select most from places) as full`,
  );

const FAILED_SINCE = statement(
  'webhook-delivery.replay-failed',
  `with moment as materialized (select caudal.now() as at),
   wanted as materialized (
     select distinct d.event_id as id from caudal.webhook_deliveries d
     where d.organization_id = $1 and d.event_id > greatest($2::uuid, caudal.uuid_floor($3::timestamptz - ${SLACK})) and ${FAILED}
     order by d.event_id limit ${MOST_FAILED_EVENTS}
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
     update caudal.webhook_deliveries d set ${begunAnew('d', 'm.at', triedUntil('l'))}
     from moment m, locked l
     where d.organization_id = l.organization_id and d.endpoint_id = l.endpoint_id and d.event_id = l.event_id
     returning d.organization_id, d.endpoint_id, d.event_id
   ),
   ${rescheduleQueues('m.at')}
   select (select count(distinct event_id)::int from made) as events, (select count(*)::int from made) as deliveries,
     (select id from wanted order by id desc limit 1) as last, (select count(*) from wanted) = ${MOST_FAILED_EVENTS} as full`,
);

const ONE = toAll('one', 'e.id = $2::uuid');
const RANGE = toAll(
  'range',
  `e.id > greatest($2::uuid, caudal.uuid_floor($3::timestamptz - ${SLACK})) and e.id < (select caudal.id_ceiling($4::timestamptz))
   and e.created_at >= $3::timestamptz and e.created_at < $4::timestamptz`,
);

export interface Replayed {
  readonly events: number;
  readonly deliveries: number;
  /** The last event that was looked at, when there may be more after it. */
  readonly nextAfter: string | null;
}

/** Before all others. */
export const NO_EVENT = '00000000-0000-0000-0000-000000000000';

/** Some of those wanted, oldest first, from after one of them. */
export async function replaySome(
  tx: Tx,
  organizationId: string,
  wanted: ReplayedEvents,
  after: string,
): Promise<Replayed> {
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
  if (!row) throw new Error('a replay counts its events');
  const { events, deliveries, last, full } = row;
  return { events, deliveries, nextAfter: full && wanted.kind !== 'one' ? last : null };
}
