import { flag, milliseconds, nullable, ROW_ID, type RowId, smallint, text } from '../db/columns.ts';
import { LEASE_INTERVAL } from '../db/lease.ts';
import { queryRecords, type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';
import type { RailErrorCode } from '../rails/contract.ts';
import { FIRST_POLL_MS } from './payout.polling.ts';
import { SUSPENDED } from './payout.store.ts';
import { HELD_AFTER_RESTORE } from './restored-order.store.ts';

export interface DueOrder extends RowId {
  readonly attempt: number;
  readonly amount: Cents;
  readonly encryptedReceiver: Buffer;
  readonly lookupId: string | null;
  readonly resolutionId: string | null;
  readonly endToEndId: string;
  /** The payer name on the order. */
  readonly organizationName: string;
  readonly traceContext: Buffer | null;
}

/** After this many attempts that may have reached the rail, only an operator can decide; `payouts unknown` lists the payout. */
const MAX_SENT_ATTEMPTS = 1000;
/** The number of an attempt is a smallint. A rail that cannot be reached for a month gets there. */
const MAX_ATTEMPTS = 32_000;

/** SQL condition: a payout is due to be sent and not leased. */
export const SENDS_DUE = `exists (select from caudal.payouts p
  where p.rail_task = 'send' and p.rail_due_at <= caudal.now() and (p.leased_until is null or p.leased_until < clock_timestamp()))`;

const WAITING_ORGANIZATIONS = statement(
  'payout-send.organizations',
  // A recursive index scan that jumps from one organization to the next, however many payouts each has waiting. An
  // organization whose payouts are all held or postponed is skipped, so that it takes no place in the round.
  `with recursive waiting as (
     (select p.organization_id from caudal.payouts p where p.rail_task = 'send' and p.organization_id > $1
      order by p.organization_id limit 1)
     union all
     select (select p.organization_id from caudal.payouts p where p.rail_task = 'send' and p.organization_id > w.organization_id
       order by p.organization_id limit 1)
     from waiting w where w.organization_id is not null
   )
   select w.organization_id from waiting w
   where w.organization_id is not null and w.organization_id <> all ($2::uuid[]) and w.organization_id <> all (${SUSPENDED})
     and exists (select from caudal.payouts p
       where p.organization_id = w.organization_id and p.rail_task = 'send' and p.rail_due_at <= caudal.now())
   limit $3`,
);

/** Up to `limit` organizations with payouts due to be sent whose id is greater than `after`, in id order. */
export async function waitingOrganizations(
  tx: Tx,
  after: string,
  excludedOrganizations: readonly string[],
  limit: number,
): Promise<string[]> {
  const rows = await tx.query<{ organization_id: string }>(WAITING_ORGANIZATIONS, [
    after,
    excludedOrganizations,
    limit,
  ]);
  return rows.map((row) => row.organization_id);
}

const COUNT_WAITING = statement(
  'payout-send.count-waiting',
  "select count(*)::integer as count from caudal.payouts where organization_id = $1 and rail_task = 'send' and rail_due_at is not null",
);

/** Counts the payouts of one organization that wait to be sent. */
export async function countWaitingPayouts(tx: Tx, organizationId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(COUNT_WAITING, [organizationId]);
  return row?.count ?? 0;
}

const COMMIT_ATTEMPTS = statement(
  'payout-send.commit-attempts',
  // The directory resolution must still be valid when the order arrives: expired ones are refreshed first.
  `with moment as materialized (select caudal.now() as at),
   -- Locked until the commit: a later suspension waits for it, an earlier one excludes its organization here.
   senders as materialized (
     select o.id from caudal.organizations o where o.id = any ($3::uuid[]) and o.suspended_at is null
       -- Checked here too: heartbeats notice a restored database only within a second.
       and (select caudal.sending_held()) is null
     order by o.id for share skip locked
   ),
   due as (
     select d.organization_id, d.id from senders as o cross join lateral (
       select p.organization_id, p.id from caudal.payouts p
       where p.organization_id = o.id and p.rail_task = 'send' and p.rail_due_at <= caudal.now()
         and (p.leased_until is null or p.leased_until < clock_timestamp()) and p.attempts < ${MAX_ATTEMPTS} and p.attempts - p.unsent_attempts < ${MAX_SENT_ATTEMPTS}
         and (p.resolved_at is null or p.resolved_at > caudal.now() - make_interval(secs => $4 / 1000.0))
         and not (${HELD_AFTER_RESTORE})
       order by p.rail_due_at limit $2 for update skip locked
     ) as d
   ),
   sent as (
     update caudal.payouts p set
       rail_task = 'poll', rail_due_at = moment.at + interval '${FIRST_POLL_MS} milliseconds', attempts = p.attempts + 1, polls = 0,
       first_sent_at = coalesce(p.first_sent_at, moment.at), last_sent_at = moment.at,
       leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $1
     from moment, due where p.organization_id = due.organization_id and p.id = due.id
     returning p.organization_id, p.id, p.attempts as attempt, p.amount_in_cents, p.receiver as encrypted_receiver, p.lookup_id, p.resolution_id, p.end_to_end_id, p.trace_context, p.last_sent_at
   ),
   attempt as (
     insert into caudal.payout_attempts (organization_id, payout_id, number, at)
     select organization_id, id, attempt, last_sent_at from sent
   )
   select sent.*, o.name as organization_name from sent join caudal.organizations o on o.id = sent.organization_id`,
);

/**
 * Leases due payouts and records an attempt for each. Orders are sent only after this commits; from then on only the rail
 * knows their outcome, and the payouts can be canceled only if it turns out that the rail does not have their orders. Payouts of
 * a suspended organization wait.
 * @param maxEach limit per organization
 */
export async function commitAttempts(
  tx: Tx,
  leaseToken: string,
  organizationIds: readonly string[],
  maxEach: number,
  freshForMs: number,
): Promise<DueOrder[]> {
  if (organizationIds.length === 0) return [];
  return queryRecords(tx, COMMIT_ATTEMPTS, [leaseToken, maxEach, organizationIds, freshForMs]);
}

const SCHEDULE_RESEND = statement(
  'payout-send.schedule-resend',
  // Clearing the lease discards the result of a poll in flight, which is older than this decision.
  `update caudal.payouts p set rail_task = 'send', rail_due_at = caudal.now(), leased_until = null, lease_token = null
   where p.organization_id = $1 and p.id = $2 and p.status = 'PROCESSING' and p.rail_task = 'poll' and p.attempts > 0`,
);

/** Schedules another attempt of a locked, already sent payout: the same order under the same end-to-end id. */
export async function scheduleResend(tx: Tx, { organizationId, id }: RowId): Promise<void> {
  await tx.query(SCHEDULE_RESEND, [organizationId, id]);
}

const ANSWERS = new RowSet({
  ...ROW_ID,
  attempt: smallint,
  /** `not_now` and `not_sent`: the rail certainly does not have the order. */
  answer: text<'accepted' | 'duplicate' | 'refused' | 'not_now' | 'not_sent' | 'unknown'>(),
  error_code: nullable(text<RailErrorCode>()),
  reason: nullable(text()),
  is_unsent: flag,
  /** Delay until the next task. */
  next_after_ms: milliseconds,
});

/** The rail's answer to one attempt. */
export type AttemptAnswer = RecordOf<typeof ANSWERS>;

const RECORD = statement(
  'payout-send.record',
  `with moment as materialized (select caudal.now() as at),
   answers as (
     select * from ${ANSWERS.as('t')}
   ),
   attempt as (
     update caudal.payout_attempts a set answer = t.answer, answered_at = moment.at, error_code = t.error_code, reason = t.reason
     from answers t, moment where a.organization_id = t.organization_id and a.payout_id = t.id and a.number = t.attempt and a.answer is null
   )
   update caudal.payouts p set
     unsent_attempts = p.unsent_attempts + t.is_unsent::integer,
     -- An earlier attempt may have reached the rail: only the rail's status decides whether the order may be sent again.
     rail_task = case when t.is_unsent and p.unsent_attempts + 1 = p.attempts then 'send' else 'poll' end,
     rail_due_at = moment.at + make_interval(secs => t.next_after_ms / 1000.0), leased_until = null, lease_token = null
   from answers t, moment
   where p.organization_id = t.organization_id and p.id = t.id and p.lease_token = ${ANSWERS.scalar(1)} and p.rail_task = 'poll'`,
);

/**
 * Records answers and schedules the next task: to poll the rail, or to send again if the rail certainly does not have the
 * order. A payout that is final or leased by another process only gets its answer recorded.
 */
export async function recordAnswers(
  tx: Tx,
  answers: readonly AttemptAnswer[],
  leaseToken: string,
): Promise<void> {
  if (answers.length > 0) await tx.query(RECORD, [...ANSWERS.parameters(answers), leaseToken]);
}

export interface ExpiredResolutionOrder extends RowId {
  readonly resolutionId: string;
  /** Attempts so far that may have reached the rail. */
  readonly sentAttempts: number;
  readonly encryptedReceiver: Buffer;
  readonly holder: Buffer;
}

const LEASE_EXPIRED_RESOLUTIONS = statement(
  'payout-send.lease-expired-resolutions',
  `with due as (
     select p.organization_id, p.id from caudal.payouts p
     where p.rail_task = 'send' and p.rail_due_at <= caudal.now() and (p.leased_until is null or p.leased_until < clock_timestamp())
       and p.organization_id <> all ($3::uuid[]) and p.organization_id <> all (${SUSPENDED}) and p.resolved_at <= caudal.now() - make_interval(secs => $4 / 1000.0)
     limit $2 for update skip locked
   )
   update caudal.payouts p set leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $1
   from due where p.organization_id = due.organization_id and p.id = due.id
   returning p.organization_id, p.id, p.receiver as encrypted_receiver, p.holder, p.resolution_id, p.attempts - p.unsent_attempts as sent_attempts`,
);

/** Leases payouts waiting to be sent whose directory resolution has expired. */
export function leaseExpiredResolutions(
  tx: Tx,
  leaseToken: string,
  limit: number,
  excludedOrganizations: readonly string[],
  freshForMs: number,
): Promise<ExpiredResolutionOrder[]> {
  return queryRecords(tx, LEASE_EXPIRED_RESOLUTIONS, [leaseToken, limit, excludedOrganizations, freshForMs]);
}

/** A new resolution, or, when the directory gave no clear answer, the delay until the next try. */
export type ResolutionRefresh = RowId &
  ({ readonly resolutionId: string } | { readonly resolutionId: null; readonly retryAfterMs: number });

const REFRESHES = new RowSet({ ...ROW_ID, resolution_id: nullable(text()), retry_after_ms: milliseconds });

const REFRESH = statement(
  'payout-send.refresh-resolutions',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payouts p set
     resolution_id = coalesce(r.resolution_id, p.resolution_id),
     resolved_at = case when r.resolution_id is null then p.resolved_at else moment.at end,
     rail_due_at = moment.at + make_interval(secs => r.retry_after_ms / 1000.0), leased_until = null, lease_token = null
   from moment, ${REFRESHES.as('r')}
   where p.organization_id = r.organization_id and p.id = r.id and p.lease_token = ${REFRESHES.scalar(1)} and p.rail_task = 'send'`,
);

export async function recordResolutionRefreshes(
  tx: Tx,
  refreshes: readonly ResolutionRefresh[],
  leaseToken: string,
): Promise<void> {
  if (refreshes.length === 0) return;
  const rows = refreshes.map((refresh) => ({ retryAfterMs: 0, ...refresh }));
  await tx.query(REFRESH, [...REFRESHES.parameters(rows), leaseToken]);
}
