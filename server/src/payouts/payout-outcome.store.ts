import { milliseconds, nullable, ROW_ID, type RowId, smallint, text } from '../db/columns.ts';
import { LEASE_INTERVAL } from '../db/lease.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { queryRecords, queryRow, type RecordOf, ROW_IDS, RowSet } from '../db/records.ts';
import { endedChange, type StateChange, statement, type Tx } from '../db/tx.ts';
import type { OrderStatus, RailErrorCode } from '../rails/contract.ts';
import { PAYOUT_RAIL } from './payout.columns.ts';
import type { Transition } from './payout.outcome.ts';
import { OVERDUE_SECONDS, type PayoutTask } from './payout.polling.ts';
import { PAYOUT_LIST, type PayoutRow, SUSPENDED } from './payout.store.ts';

const SELECT_STATE = `select ${PAYOUT_LIST}, p.rail_task, p.lease_token, p.attempts, p.attempts - p.unsent_attempts as sent_attempts, p.held_until > caudal.now() as held, p.held_until, p.execution_id, p.anomaly_id, p.anomaly_organization_id,
     (extract(epoch from caudal.now() - p.last_sent_at) * 1000)::float8 as sent_ms_ago
   from caudal.payouts p
   join ${ROW_IDS.as('w')} on p.organization_id = w.organization_id and p.id = w.id
   order by p.organization_id, p.id`;

const READ = statement('payout-outcome.read', SELECT_STATE);
const LOCK = statement('payout-outcome.lock', `${SELECT_STATE} for update of p`);

export interface LockedPayout extends PayoutRow {
  rail_task: 'send' | 'poll' | null;
  lease_token: string | null;
  attempts: number;
  /** Attempts that may have reached the rail. */
  sent_attempts: number;
  /** Waits because its receiver is new; null without a hold. */
  held: boolean | null;
  held_until: Date | null;
  execution_id: string | null;
  anomaly_id: string | null;
  anomaly_organization_id: string | null;
  /** Time since the last attempt was committed; null without an attempt. */
  sent_ms_ago: number | null;
}

/** Reads a payout without locking it, for read-only callers. */
export function readPayoutState(tx: Tx, rowId: RowId): Promise<LockedPayout | null> {
  return queryRow(tx, READ, ROW_IDS.parameters([rowId]));
}

/** Locks payouts until the transaction ends, in a fixed order, so that no other transaction decides about them. */
export async function lockPayouts(tx: Tx, payouts: readonly RowId[]): Promise<LockedPayout[]> {
  if (payouts.length === 0) return [];
  return tx.query<LockedPayout>(LOCK, ROW_IDS.parameters(payouts));
}

const SENT = new RowSet({ ...ROW_ID, attempts: smallint });

const REJECTIONS = statement(
  'payout-outcome.rejections',
  `select a.payout_id, a.error_code from caudal.payout_attempts a
   join ${SENT.as('w')} on a.organization_id = w.organization_id and a.payout_id = w.id and a.number = w.attempts
   where a.answer = 'refused'`,
);

/** The error code of each payout whose last attempt the rail rejected. */
export async function lastRejections(
  tx: Tx,
  payouts: readonly LockedPayout[],
): Promise<Map<string, RailErrorCode>> {
  const sent = payouts.filter((payout) => payout.attempts > 0);
  if (sent.length === 0) return new Map();
  const records = sent.map((payout) => ({ ...payout, organizationId: payout.organization_id }));
  const rows = await tx.query<{ payout_id: string; error_code: RailErrorCode }>(
    REJECTIONS,
    SENT.parameters(records),
  );
  return new Map(rows.map((row) => [row.payout_id, row.error_code]));
}

const TRANSITIONS = new RowSet({
  ...ROW_ID,
  to_status: text(),
  error_code: nullable(text()),
  execution_id: nullable(text()),
  cause: text(),
});

const TRANSITION = statement(
  'payout-outcome.transition',
  `with moment as materialized (select caudal.now() as at),
   move as (
     select * from ${TRANSITIONS.as('m')}
   ),
   moved as (
     update caudal.payouts p set
       status = m.to_status, error_code = m.error_code, execution_id = m.execution_id,
       -- Business time is the transaction's start, which can be older than updated_at when it waited for the row lock.
       result_at = greatest(moment.at, p.updated_at), updated_at = greatest(moment.at, p.updated_at),
       -- The rail may still execute a rejected order, and the notice about it may be lost: poll once more.
       rail_task = case when m.to_status = 'DECLINED' and p.attempts > p.unsent_attempts then 'poll' end,
       rail_due_at = case when m.to_status = 'DECLINED' and p.attempts > p.unsent_attempts then moment.at + make_interval(secs => ${TRANSITIONS.scalar(1)} / 1000.0) end,
       leased_until = null, lease_token = null
     from moment, move m
     where p.organization_id = m.organization_id and p.id = m.id and p.status = 'PROCESSING'
     returning ${PAYOUT_LIST}, p.anomaly_id, p.anomaly_organization_id, m.cause
   ),
   history as (
     insert into caudal.payout_history (organization_id, payout_id, from_status, to_status, cause, at)
     select organization_id, id, 'PROCESSING', status, cause, updated_at from moved
   )
   select * from moved`,
);

// A statement of its own: the merchant role has no right to write the columns that only a rail outcome sets.
const CANCEL = statement(
  'payout-outcome.cancel',
  `with moment as materialized (select caudal.now() as at),
   moved as (
     update caudal.payouts p set
       status = 'CANCELED', result_at = greatest(moment.at, p.updated_at), updated_at = greatest(moment.at, p.updated_at),
       rail_task = null, rail_due_at = null, leased_until = null, lease_token = null
     from moment
     where p.organization_id = $1 and p.id = $2 and p.status = 'PROCESSING' and p.rail_task = 'send' and p.attempts = p.unsent_attempts
     returning ${PAYOUT_LIST}
   ),
   history as (
     insert into caudal.payout_history (organization_id, payout_id, from_status, to_status, cause, at)
     select organization_id, id, 'PROCESSING', status, 'canceled_by_merchant', updated_at from moved
   )
   select * from moved`,
);

export interface TransitionedPayout extends PayoutRow {
  anomaly_id: string | null;
  anomaly_organization_id: string | null;
}

/**
 * Moves locked payouts to their final state and writes their history.
 * @param lastPollMs delay from the decline of a sent payout to its last poll
 * @throws when a payout was already final: the whole transaction must roll back
 */
export async function transitionPayouts(
  tx: Tx,
  transitions: readonly (RowId & Transition)[],
  lastPollMs: number,
): Promise<TransitionedPayout[]> {
  if (transitions.length === 0) return [];
  const rows = transitions.map((transition) => ({ ...transition, toStatus: transition.to }));
  const values = [...TRANSITIONS.parameters(rows), lastPollMs];
  const ended = await tx.query<TransitionedPayout>(TRANSITION, values);
  if (ended.length !== transitions.length)
    throw new Error(`${transitions.length - ended.length} payouts were no longer PROCESSING`);
  tx.report(ended.map(toEnded));
  return ended;
}

const ADOPTED = new RowSet({ ...ROW_ID, execution_id: text() });

const ADOPT = statement(
  'payout-outcome.adopt',
  `update caudal.payouts p set execution_id = a.execution_id
   from ${ADOPTED.as('a')}
   where p.organization_id = a.organization_id and p.id = a.id and p.status = 'CONFIRMED' and p.execution_id is null`,
);

/** Sets the execution that the rail reported for payouts an operator had confirmed without one. */
export async function adoptExecutions(tx: Tx, adopted: readonly RecordOf<typeof ADOPTED>[]): Promise<void> {
  if (adopted.length > 0) await tx.query(ADOPT, ADOPTED.parameters(adopted));
}

/**
 * Cancels a payout whose order the rail certainly does not have. This update and the one that commits an attempt lock the
 * same row: the second to run sees the change of the first and matches nothing.
 * @returns null when the payout can no longer be canceled
 */
export async function cancelUnsent(tx: Tx, { organizationId, id }: RowId): Promise<PayoutRow | null> {
  const canceled = await queryRow<PayoutRow>(tx, CANCEL, [organizationId, id]);
  if (canceled) tx.report([toEnded(canceled)]);
  return canceled;
}

function toEnded(row: PayoutRow): StateChange {
  return endedChange('payout', row, { rail: PAYOUT_RAIL, error_code: row.error_code });
}

const POLL_DUE =
  "p.rail_task = 'poll' and p.rail_due_at <= caudal.now() and (p.leased_until is null or p.leased_until < clock_timestamp())";

/** SQL condition: a payout is due for polling and not leased. */
export const POLLS_DUE = `exists (select from caudal.payouts p where ${POLL_DUE})`;

const LEASE_POLLS = statement(
  'payout-outcome.lease-polls',
  `with due as (
     select p.organization_id, p.id from caudal.payouts p
     where ${POLL_DUE}
     order by p.rail_due_at limit $2 for update skip locked
   )
   update caudal.payouts p set leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $1
   from due where p.organization_id = due.organization_id and p.id = due.id
   returning p.organization_id, p.id, p.end_to_end_id, p.polls, p.trace_context,
     (extract(epoch from caudal.now() - p.last_sent_at) * 1000)::float8 as sent_ms_ago`,
);

export interface DuePoll extends RowId {
  readonly endToEndId: string;
  /** Polls so far. */
  readonly polls: number;
  /** Time since the last attempt was committed, measured before the rail is polled. */
  readonly sentMsAgo: number | null;
  readonly traceContext: Buffer | null;
}

/** Leases up to `limit` sent payouts that are due for polling. */
export function leasePolls(tx: Tx, leaseToken: string, limit: number): Promise<DuePoll[]> {
  return queryRecords(tx, LEASE_POLLS, [leaseToken, limit]);
}

const TASKS = new RowSet({
  ...ROW_ID,
  task: nullable(text()),
  after_ms: milliseconds,
  rail_status: nullable(text()),
});

const RESCHEDULE = statement(
  'payout-outcome.reschedule',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payouts p set
     rail_task = r.task, rail_due_at = case when r.task is not null then moment.at + make_interval(secs => r.after_ms / 1000.0) end,
     polls = least(p.polls + 1, 32000), rail_status = coalesce(r.rail_status, p.rail_status),
     leased_until = null, lease_token = null
   from moment, ${TASKS.as('r')}
   where p.organization_id = r.organization_id and p.id = r.id and p.lease_token = ${TASKS.scalar(1)} and p.rail_task is not null`,
);

/** What the rail reported when it was last polled about a payout. */
export type QueriedStatus = OrderStatus['state'] | 'unanswered';

interface NextTask extends RowId {
  readonly next: PayoutTask | null;
  /** Null keeps the recorded status. */
  readonly railStatus: QueriedStatus | null;
}

/** Schedules the next rail task of each payout, or none. Skips payouts whose lease another process has taken over. */
export async function reschedulePayouts(
  tx: Tx,
  tasks: readonly NextTask[],
  leaseToken: string,
): Promise<void> {
  if (tasks.length === 0) return;
  const rows = tasks.map((each) => ({ ...each, ...(each.next ?? { task: null, afterMs: 0 }) }));
  await tx.query(RESCHEDULE, [...TASKS.parameters(rows), leaseToken]);
}

/** Counting stops here: a metric does not need an exact number above it. */
const COUNTED = 100_000;
/** Without payouts of suspended organizations, which wait on purpose. */
const SENDABLE = `p.rail_task = 'send' and p.organization_id <> all (${SUSPENDED})`;
/** Held because their receiver is new. A condition of its own: few rows, with an index. */
const HELD = `${SENDABLE} and p.held_until > caudal.now()`;

// Includes payouts scheduled for a resend: they may have been sent before.
const OVERDUE = `from (
    select * from caudal.payouts where rail_task = 'poll' and status = 'PROCESSING'
    union all
    select * from caudal.payouts where rail_task = 'send' and attempts > 0 and attempts > unsent_attempts
  ) as p where p.first_sent_at <= caudal.now() - interval '${OVERDUE_SECONDS} seconds'`;

const WAITING = statement(
  'payout-outcome.waiting',
  `select greatest(0, waiting - held) as sends, held, unknown, greatest(0, oldest_send_seconds)::float8 as oldest_send_seconds from (
     select (select count(*)::int from (select from caudal.payouts p where ${SENDABLE} limit ${COUNTED}) c) as waiting,
       (select count(*)::int from (select from caudal.payouts p where ${HELD} limit ${COUNTED}) c) as held,
       (select count(*)::int from (select ${OVERDUE} limit ${COUNTED}) c) as unknown,
       (select extract(epoch from caudal.now() - min(p.since)) from (
         -- A payout that the rail has not accepted waits since its first attempt, although each attempt postpones the next.
         select case when p.attempts > 0 and p.attempts = p.unsent_attempts then least(p.first_sent_at, p.rail_due_at) else p.rail_due_at end as since
         from caudal.payouts p where ${SENDABLE} limit ${COUNTED}) p) as oldest_send_seconds
   ) as counts`,
);

export interface WaitingPayouts {
  /** Waiting to be sent. */
  readonly sends: number;
  /** Waiting because their receiver is new. */
  readonly held: number;
  /** Sent, with an overdue outcome. */
  readonly unknown: number;
  readonly oldest_send_seconds: number;
}

const NO_WAITING_PAYOUTS: WaitingPayouts = { sends: 0, held: 0, unknown: 0, oldest_send_seconds: 0 };

export async function waitingPayouts(tx: Pick<Tx, 'query'>): Promise<WaitingPayouts> {
  const [row] = await tx.query<WaitingPayouts>(WAITING);
  return row ?? NO_WAITING_PAYOUTS;
}

const LIST_UNKNOWN = statement(
  'payout-outcome.unknown',
  `select p.organization_id, p.id, p.amount_in_cents, p.reference, p.end_to_end_id, p.attempts, p.polls, p.first_sent_at, p.last_sent_at,
     p.rail_due_at, p.rail_task, p.rail_status, (extract(epoch from caudal.now() - p.last_sent_at) * 1000)::float8 as sent_ms_ago,
     (select a.answer from caudal.payout_attempts a where a.organization_id = p.organization_id and a.payout_id = p.id and a.number = p.attempts) as answer
   ${OVERDUE} order by p.first_sent_at, p.id limit $1`,
);

export interface UnknownPayout {
  readonly organization_id: string;
  readonly id: string;
  readonly amount_in_cents: bigint;
  readonly reference: string;
  readonly end_to_end_id: string;
  readonly attempts: number;
  readonly polls: number;
  readonly first_sent_at: Date;
  readonly last_sent_at: Date;
  readonly rail_due_at: Date;
  readonly rail_task: 'send' | 'poll';
  readonly rail_status: QueriedStatus | null;
  readonly sent_ms_ago: number;
  /** The rail's answer to the last attempt; null when none was recorded. */
  readonly answer: string | null;
}

/** The operator's queue: sent payouts whose outcome is overdue, oldest first. */
export function listUnknown(tx: Pick<Tx, 'query'>, limit: number): Promise<UnknownPayout[]> {
  return tx.query(LIST_UNKNOWN, [limit]);
}

const OWNER = statement('payout-outcome.owner', 'select organization_id from caudal.payouts where id = $1');

/** Finds the organization of a payout: an operator knows a payout by its id alone. */
export async function findPayoutOwner(tx: Tx, id: string): Promise<RowId | null> {
  const [row] = await tx.query<{ organization_id: string }>(OWNER, [id]);
  return row ? { organizationId: row.organization_id, id } : null;
}

const ATTEMPTS = statement(
  'payout-outcome.attempts',
  `select number, at, answer, answered_at, error_code, reason from caudal.payout_attempts
   where organization_id = $1 and payout_id = $2 order by number`,
);

export interface AttemptRow {
  readonly number: number;
  readonly at: Date;
  readonly answer: string | null;
  readonly answered_at: Date | null;
  readonly error_code: string | null;
  readonly reason: string | null;
}

/** Every committed attempt of a payout, including those that a crash kept from being sent. */
export function listAttempts(tx: Tx, { organizationId, id }: RowId): Promise<AttemptRow[]> {
  return tx.query(ATTEMPTS, [organizationId, id]);
}

const OPEN = statement(
  'payout-outcome.open',
  `select count(*)::integer as count from caudal.payouts where id ${WITHIN} and (result_at is null or rail_task is not null)`,
);

/** Counts payouts that are not final or have a task due. */
export function countOpenPayouts(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, OPEN, span);
}
