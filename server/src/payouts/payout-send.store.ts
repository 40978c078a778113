import { CLAIM } from '../db/lease.ts';
import { statement, type Tx } from '../db/tx.ts';
import { type Cents, cents } from '../kit/money.ts';
import type { RailErrorCode } from '../rails/contract.ts';
import { FIRST_POLL_MS } from './payout.polling.ts';
import { type PayoutKey, SUSPENDED } from './payout.store.ts';

export interface DueOrder extends PayoutKey {
  readonly attempt: number;
  readonly amount: Cents;
  readonly sealedReceiver: Buffer;
  readonly lookupId: string | null;
  readonly resolutionId: string | null;
  readonly endToEndId: string;
  /** On whose behalf. */
  readonly organizationName: string;
}

/** An order that leaves so often and never arrives is for a person to look into: `payouts unknown` shows it. */
const MOST_ATTEMPTS = 1000;

/** Whether a payout is to be sent that no process has claimed. */
export const SENDS_DUE = `exists (select from caudal.payouts p
  where p.rail_task = 'send' and p.rail_due_at <= caudal.now() and (p.leased_until is null or p.leased_until < clock_timestamp()))`;

const WAITING_ORGANIZATIONS = statement(
  'payout-send.organizations',
  // From one to the next by the index, however many payouts each of them has waiting.
  `with recursive waiting as (
     (select p.organization_id from caudal.payouts p where p.rail_task = 'send' and p.organization_id > $1
      order by p.organization_id limit 1)
     union all
     select (select p.organization_id from caudal.payouts p where p.rail_task = 'send' and p.organization_id > w.organization_id
       order by p.organization_id limit 1)
     from waiting w where w.organization_id is not null
   )
   select organization_id from waiting
   where organization_id is not null and organization_id <> all ($2::uuid[]) and organization_id <> all (${SUSPENDED}) limit $3`,
);

/** Some of the organizations that have payouts to send, in the order of their ids, after a given one. */
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

const WAITING_OF = statement(
  'payout-send.waiting-of',
  "select count(*)::integer as count from caudal.payouts where organization_id = $1 and rail_task = 'send' and rail_due_at is not null",
);

/** Payouts of one organization that are to be sent. */
export async function countWaitingOf(tx: Tx, organizationId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(WAITING_OF, [organizationId]);
  return row?.count ?? 0;
}

const COMMIT_ATTEMPTS = statement(
  'payout-send.commit-attempts',
  // What the directory promised must still hold when the order arrives: those whose promise is old are renewed first.
  `with moment as materialized (select caudal.now() as at),
   -- Locked until the commit: a suspension waits for it, and one that was first excludes its organization here.
   senders as materialized (
     select o.id from caudal.organizations o where o.id = any ($3::uuid[]) and o.suspended_at is null
     order by o.id for share skip locked
   ),
   due as (
     select d.organization_id, d.id from senders as o cross join lateral (
       select p.organization_id, p.id from caudal.payouts p
       where p.organization_id = o.id and p.rail_task = 'send' and p.rail_due_at <= caudal.now()
         and (p.leased_until is null or p.leased_until < clock_timestamp()) and p.attempts < ${MOST_ATTEMPTS}
         and (p.resolved_at is null or p.resolved_at > caudal.now() - make_interval(secs => $4 / 1000.0))
       order by p.rail_due_at limit $2 for update skip locked
     ) as d
   ),
   sent as (
     update caudal.payouts p set
       rail_task = 'ask', rail_due_at = moment.at + interval '${FIRST_POLL_MS} milliseconds', attempts = p.attempts + 1, questions = 0,
       first_sent_at = coalesce(p.first_sent_at, moment.at), last_sent_at = moment.at,
       leased_until = clock_timestamp() + ${CLAIM}, lease_token = $1
     from moment, due where p.organization_id = due.organization_id and p.id = due.id
     returning p.organization_id, p.id, p.attempts, p.amount_in_cents, p.receiver, p.lookup_id, p.resolution_id, p.end_to_end_id, p.last_sent_at
   ),
   attempt as (
     insert into caudal.payout_attempts (organization_id, payout_id, number, at)
     select organization_id, id, attempts, last_sent_at from sent
   )
   select sent.*, o.name from sent join caudal.organizations o on o.id = sent.organization_id`,
);

/**
 * Takes due payouts and writes down that their orders leave: once this is committed they may, and what becomes of them is
 * the rail's to tell. They can no longer be canceled. Payouts of a suspended organization wait.
 * @param mostEach of each organization
 */
export async function commitAttempts(
  tx: Tx,
  leaseToken: string,
  organizationIds: readonly string[],
  maxEach: number,
  freshForMs: number,
): Promise<DueOrder[]> {
  if (organizationIds.length === 0) return [];
  const rows = await tx.query<{
    organization_id: string;
    id: string;
    attempts: number;
    amount_in_cents: bigint;
    receiver: Buffer;
    lookup_id: string | null;
    resolution_id: string | null;
    end_to_end_id: string;
    name: string;
  }>(COMMIT_ATTEMPTS, [leaseToken, maxEach, organizationIds, freshForMs]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    id: row.id,
    attempt: row.attempts,
    amount: cents(row.amount_in_cents),
    sealedReceiver: row.receiver,
    lookupId: row.lookup_id,
    resolutionId: row.resolution_id,
    endToEndId: row.end_to_end_id,
    organizationName: row.name,
  }));
}

const SCHEDULE_RESEND = statement(
  'payout-send.schedule-resend',
  // Clearing the lease makes the result of a query that is under way ineffective: it is older than the decision.
  `update caudal.payouts p set rail_task = 'send', rail_due_at = caudal.now(), leased_until = null, lease_token = null
   where p.organization_id = $1 and p.id = $2 and p.status = 'PROCESSING' and p.rail_task = 'ask' and p.attempts > 0`,
);

/** Schedules another attempt of a locked payout that was sent before: the same order under the same end-to-end id. */
export async function scheduleResend(tx: Tx, { organizationId, id }: PayoutKey): Promise<void> {
  await tx.query(SCHEDULE_RESEND, [organizationId, id]);
}

/** What came of one send. */
export interface AttemptAnswer extends PayoutKey {
  readonly attempt: number;
  readonly answer: 'accepted' | 'duplicate' | 'refused' | 'unknown';
  readonly errorCode: RailErrorCode | null;
  readonly reason: string | null;
  /** When to ask about it. */
  readonly askAfterMs: number;
}

const RECORD = statement(
  'payout-send.record',
  `with moment as materialized (select caudal.now() as at),
   told as (
     select * from unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::float8[])
       as t (organization_id, id, number, answer, error_code, reason, ask_after_ms)
   ),
   attempt as (
     update caudal.payout_attempts a set answer = t.answer, answered_at = moment.at, error_code = t.error_code, reason = t.reason
     from told t, moment where a.organization_id = t.organization_id and a.payout_id = t.id and a.number = t.number and a.answer is null
   )
   update caudal.payouts p set
     rail_due_at = moment.at + make_interval(secs => t.ask_after_ms / 1000.0), leased_until = null, lease_token = null
   from told t, moment
   where p.organization_id = t.organization_id and p.id = t.id and p.lease_token = $8 and p.rail_task = 'ask'`,
);

/** A payout that ended meanwhile, or that somebody else has taken over, only gets the answer noted. */
export async function recordAnswers(
  tx: Tx,
  answers: readonly AttemptAnswer[],
  leaseToken: string,
): Promise<void> {
  if (answers.length === 0) return;
  await tx.query(RECORD, [
    answers.map((each) => each.organizationId),
    answers.map((each) => each.id),
    answers.map((each) => each.attempt),
    answers.map((each) => each.answer),
    answers.map((each) => each.errorCode),
    answers.map((each) => each.reason),
    answers.map((each) => each.askAfterMs),
    leaseToken,
  ]);
}

export interface ExpiredResolutionOrder extends PayoutKey {
  readonly resolutionId: string;
  /** How often it has been sent. */
  readonly attempts: number;
  readonly sealedReceiver: Buffer;
  readonly holder: Buffer;
}

const LEASE_EXPIRED_RESOLUTIONS = statement(
  'payout-send.claim-stale',
  `with due as (
     select p.organization_id, p.id from caudal.payouts p
     where p.rail_task = 'send' and p.rail_due_at <= caudal.now() and (p.leased_until is null or p.leased_until < clock_timestamp())
       and p.organization_id <> all ($3::uuid[]) and p.organization_id <> all (${SUSPENDED}) and p.resolved_at <= caudal.now() - make_interval(secs => $4 / 1000.0)
     limit $2 for update skip locked
   )
   update caudal.payouts p set leased_until = clock_timestamp() + ${CLAIM}, lease_token = $1
   from due where p.organization_id = due.organization_id and p.id = due.id
   returning p.organization_id, p.id, p.receiver, p.holder, p.resolution_id, p.attempts`,
);

/** Payouts that are to be sent and whose promise of the directory is older than the rail honours. */
export async function leaseExpiredResolutions(
  tx: Tx,
  leaseToken: string,
  limit: number,
  excludedOrganizations: readonly string[],
  freshForMs: number,
): Promise<ExpiredResolutionOrder[]> {
  const rows = await tx.query<{
    organization_id: string;
    id: string;
    receiver: Buffer;
    holder: Buffer;
    resolution_id: string;
    attempts: number;
  }>(LEASE_EXPIRED_RESOLUTIONS, [leaseToken, limit, excludedOrganizations, freshForMs]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    id: row.id,
    sealedReceiver: row.receiver,
    holder: row.holder,
    resolutionId: row.resolution_id,
    attempts: row.attempts,
  }));
}

/** A promise made anew, or, where the directory gave no clear answer, when to try again. */
export type Renewal = PayoutKey &
  ({ readonly resolutionId: string } | { readonly resolutionId: null; readonly againAfterMs: number });

const RENEW = statement(
  'payout-send.renew',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payouts p set
     resolution_id = coalesce(r.resolution_id, p.resolution_id),
     resolved_at = case when r.resolution_id is null then p.resolved_at else moment.at end,
     rail_due_at = moment.at + make_interval(secs => r.again_after_ms / 1000.0), leased_until = null, lease_token = null
   from moment, unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[]) as r (organization_id, id, resolution_id, again_after_ms)
   where p.organization_id = r.organization_id and p.id = r.id and p.lease_token = $5 and p.rail_task = 'send'`,
);

export async function recordRenewals(
  tx: Tx,
  renewals: readonly Renewal[],
  leaseToken: string,
): Promise<void> {
  if (renewals.length === 0) return;
  await tx.query(RENEW, [
    renewals.map((each) => each.organizationId),
    renewals.map((each) => each.id),
    renewals.map((each) => each.resolutionId),
    renewals.map((each) => (each.resolutionId === null ? each.againAfterMs : 0)),
    leaseToken,
  ]);
}
