import { CLAIM } from '../db/lease.ts';
import { countWithin, type IdSpan, WITHIN } from '../db/months.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { OrderStatus, RailErrorCode } from '../rails/contract.ts';
import type { Transition } from './payout.outcome.ts';
import { OVERDUE_SECONDS, type PayoutTask } from './payout.polling.ts';
import { PAYOUT_COLUMNS, type PayoutKey, type PayoutRow, SUSPENDED } from './payout.store.ts';

const STANDING = `select ${PAYOUT_COLUMNS}, p.rail_task, p.lease_token, p.attempts, p.execution_id, p.anomaly_id, p.anomaly_organization_id,
     (extract(epoch from caudal.now() - p.last_sent_at) * 1000)::float8 as sent_ms_ago
   from caudal.payouts p
   join unnest($1::uuid[], $2::uuid[]) as w (organization_id, id) on p.organization_id = w.organization_id and p.id = w.id
   order by p.organization_id, p.id`;

const READ = statement('payout-outcome.read', STANDING);
const LOCK = statement('payout-outcome.lock', `${STANDING} for update of p`);

export interface LockedPayout extends PayoutRow {
  rail_task: 'send' | 'ask' | null;
  lease_token: string | null;
  attempts: number;
  execution_id: string | null;
  anomaly_id: string | null;
  anomaly_organization_id: string | null;
  /** Since its last attempt was committed; null when there was none. */
  sent_ms_ago: number | null;
}

/** A payout as it stands, for whoever only looks. */
export async function standingOf(tx: Tx, { organizationId, id }: PayoutKey): Promise<LockedPayout | null> {
  const [row] = await tx.query<LockedPayout>(READ, [[organizationId], [id]]);
  return row ?? null;
}

/** Locks payouts until the transaction ends, in one order for all: nobody decides about them meanwhile. */
export async function lockPayouts(tx: Tx, payouts: readonly PayoutKey[]): Promise<LockedPayout[]> {
  if (payouts.length === 0) return [];
  return tx.query<LockedPayout>(LOCK, [
    payouts.map((payout) => payout.organizationId),
    payouts.map((payout) => payout.id),
  ]);
}

const REFUSALS = statement(
  'payout-outcome.refusals',
  `select a.payout_id, a.error_code from caudal.payout_attempts a
   join unnest($1::uuid[], $2::uuid[], $3::smallint[]) as w (organization_id, id, number)
     on a.organization_id = w.organization_id and a.payout_id = w.id and a.number = w.number
   where a.answer = 'refused'`,
);

/** Those of the payouts whose last attempt the rail refused, and with what. */
export async function lastRefusals(
  tx: Tx,
  payouts: readonly LockedPayout[],
): Promise<Map<string, RailErrorCode>> {
  const sent = payouts.filter((payout) => payout.attempts > 0);
  if (sent.length === 0) return new Map();
  const rows = await tx.query<{ payout_id: string; error_code: RailErrorCode }>(REFUSALS, [
    sent.map((payout) => payout.organization_id),
    sent.map((payout) => payout.id),
    sent.map((payout) => payout.attempts),
  ]);
  return new Map(rows.map((row) => [row.payout_id, row.error_code]));
}

const MOVE = statement(
  'payout-outcome.move',
  `with moment as materialized (select caudal.now() as at),
   move as (
     select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[])
       as m (organization_id, id, to_status, error_code, execution_id, cause)
   ),
   moved as (
     update caudal.payouts p set
       status = m.to_status, error_code = m.error_code, execution_id = m.execution_id,
       -- Business time is that of the transaction's start, and this one may have waited for whoever held the payout.
       result_at = greatest(moment.at, p.updated_at), updated_at = greatest(moment.at, p.updated_at),
       -- Its rejection may not have been the rail's last word, and the notice of what followed may be lost.
       rail_task = case when m.to_status = 'DECLINED' and p.attempts > 0 then 'ask' end,
       rail_due_at = case when m.to_status = 'DECLINED' and p.attempts > 0 then moment.at + make_interval(secs => $7 / 1000.0) end,
       leased_until = null, lease_token = null
     from moment, move m
     where p.organization_id = m.organization_id and p.id = m.id and p.status = 'PROCESSING'
     returning ${PAYOUT_COLUMNS}, p.anomaly_id, p.anomaly_organization_id, m.cause
   ),
   history as (
     insert into caudal.payout_history (organization_id, payout_id, from_status, to_status, cause, at)
     select organization_id, id, 'PROCESSING', status, cause, updated_at from moved
   )
   select * from moved`,
);

// A merchant's role may not write what only a rail's word brings.
const CANCEL = statement(
  'payout-outcome.cancel',
  `with moment as materialized (select caudal.now() as at),
   moved as (
     update caudal.payouts p set
       status = 'CANCELED', result_at = greatest(moment.at, p.updated_at), updated_at = greatest(moment.at, p.updated_at),
       rail_task = null, rail_due_at = null, leased_until = null, lease_token = null
     from moment
     where p.organization_id = $1 and p.id = $2 and p.status = 'PROCESSING' and p.rail_task = 'send' and p.attempts = 0
     returning ${PAYOUT_COLUMNS}
   ),
   history as (
     insert into caudal.payout_history (organization_id, payout_id, from_status, to_status, cause, at)
     select organization_id, id, 'PROCESSING', status, 'canceled_by_merchant', updated_at from moved
   )
   select * from moved`,
);

export interface MovedPayout extends PayoutRow {
  anomaly_id: string | null;
  anomaly_organization_id: string | null;
}

/**
 * Brings locked payouts to their final state, with their history.
 * @param lastPollMs from the decline of a payout that had left to the last query about it
 * @throws when one of them was not open: the whole transaction is wrong then
 */
export async function movePayouts(
  tx: Tx,
  moves: readonly (PayoutKey & Transition)[],
  lastPollMs: number,
): Promise<MovedPayout[]> {
  if (moves.length === 0) return [];
  const moved = await tx.query<MovedPayout>(MOVE, [
    moves.map((move) => move.organizationId),
    moves.map((move) => move.id),
    moves.map((move) => move.to),
    moves.map((move) => move.errorCode),
    moves.map((move) => move.executionId),
    moves.map((move) => move.cause),
    lastPollMs,
  ]);
  if (moved.length !== moves.length)
    throw new Error(`${moves.length - moved.length} payouts were not as they were judged`);
  return moved;
}

const ADOPT = statement(
  'payout-outcome.adopt',
  `update caudal.payouts p set execution_id = a.execution_id
   from unnest($1::uuid[], $2::uuid[], $3::text[]) as a (organization_id, id, execution_id)
   where p.organization_id = a.organization_id and p.id = a.id and p.status = 'CONFIRMED' and p.execution_id is null`,
);

/** Payouts that an operator's word confirmed, and the execution that the rail has told of since. */
export async function adoptExecutions(
  tx: Tx,
  adopted: readonly (PayoutKey & { readonly executionId: string })[],
): Promise<void> {
  if (adopted.length === 0) return;
  await tx.query(ADOPT, [
    adopted.map((each) => each.organizationId),
    adopted.map((each) => each.id),
    adopted.map((each) => each.executionId),
  ]);
}

/**
 * Cancels a payout of which no attempt is committed. The condition and the attempt's own update meet on the row: whichever
 * commits first, the other finds it changed.
 * @returns null when it is not to be canceled any more
 */
export async function cancelUnsent(tx: Tx, { organizationId, id }: PayoutKey): Promise<PayoutRow | null> {
  const [row] = await tx.query<PayoutRow>(CANCEL, [organizationId, id]);
  return row ?? null;
}

const POLL_DUE =
  "p.rail_task = 'ask' and p.rail_due_at <= caudal.now() and (p.leased_until is null or p.leased_until < clock_timestamp())";

/** Whether the rail is to be asked about a payout that no process has claimed. */
export const POLLS_DUE = `exists (select from caudal.payouts p where ${POLL_DUE})`;

const LEASE_POLLS = statement(
  'payout-outcome.claim',
  `with due as (
     select p.organization_id, p.id from caudal.payouts p
     where ${POLL_DUE}
     order by p.rail_due_at limit $2 for update skip locked
   )
   update caudal.payouts p set leased_until = clock_timestamp() + ${CLAIM}, lease_token = $1
   from due where p.organization_id = due.organization_id and p.id = due.id
   returning p.organization_id, p.id, p.end_to_end_id, p.questions,
     (extract(epoch from caudal.now() - p.last_sent_at) * 1000)::float8 as sent_ms_ago`,
);

export interface DuePoll extends PayoutKey {
  readonly endToEndId: string;
  readonly questions: number;
  /** Since its last attempt was committed, before the rail is asked. */
  readonly sentMsAgo: number | null;
}

/** Takes up to `most` payouts that were sent and about which the rail is to be asked. */
export async function leasePolls(tx: Tx, leaseToken: string, limit: number): Promise<DuePoll[]> {
  const rows = await tx.query<{
    organization_id: string;
    id: string;
    end_to_end_id: string;
    questions: number;
    sent_ms_ago: number | null;
  }>(LEASE_POLLS, [leaseToken, limit]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    id: row.id,
    endToEndId: row.end_to_end_id,
    questions: row.questions,
    sentMsAgo: row.sent_ms_ago,
  }));
}

const RESCHEDULE = statement(
  'payout-outcome.reschedule',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payouts p set
     rail_task = r.task, rail_due_at = case when r.task is not null then moment.at + make_interval(secs => r.after_ms / 1000.0) end,
     questions = least(p.questions + 1, 32000), rail_status = coalesce(r.rail_status, p.rail_status),
     leased_until = null, lease_token = null
   from moment, unnest($1::uuid[], $2::uuid[], $3::text[], $4::float8[], $6::text[]) as r (organization_id, id, task, after_ms, rail_status)
   where p.organization_id = r.organization_id and p.id = r.id and p.lease_token = $5 and p.rail_task is not null`,
);

/** What the rail reported when it was last queried about a payout. */
export type QueriedStatus = OrderStatus['state'] | 'unanswered';

interface NextTask extends PayoutKey {
  readonly next: PayoutTask | null;
  /** Null leaves what was recorded before. */
  readonly railStatus: QueriedStatus | null;
}

/** What is to be done next about payouts, or that nothing is. Those whose claim was taken over meanwhile are left alone. */
export async function reschedulePayouts(
  tx: Tx,
  tasks: readonly NextTask[],
  leaseToken: string,
): Promise<void> {
  if (tasks.length === 0) return;
  await tx.query(RESCHEDULE, [
    tasks.map((each) => each.organizationId),
    tasks.map((each) => each.id),
    tasks.map(({ next }) => next?.task ?? null),
    tasks.map(({ next }) => next?.afterMs ?? 0),
    leaseToken,
    tasks.map((each) => each.railStatus),
  ]);
}

/** A metric that says "at least so many" says enough. */
const COUNTED = 100_000;
/** Those of a suspended organization wait on purpose. */
const SENDABLE = `p.rail_task = 'send' and p.organization_id <> all (${SUSPENDED})`;

// Those that are to be sent again too: they have left before.
const OVERDUE = `from (
    select * from caudal.payouts where rail_task = 'ask' and status = 'PROCESSING'
    union all
    select * from caudal.payouts where rail_task = 'send' and attempts > 0
  ) as p where p.first_sent_at <= caudal.now() - interval '${OVERDUE_SECONDS} seconds'`;

const WAITING = statement(
  'payout-outcome.waiting',
  `select (select count(*)::int from (select from caudal.payouts p where ${SENDABLE} limit ${COUNTED}) c) as sends,
     (select count(*)::int from (select ${OVERDUE} limit ${COUNTED}) c) as unknown,
     coalesce((select extract(epoch from caudal.now() - min(p.rail_due_at)) from (
       select p.rail_due_at from caudal.payouts p where ${SENDABLE} limit ${COUNTED}) p), 0)::float8 as oldest_send_seconds`,
);

/** Payouts that wait to be sent, and those whose outcome should long be known. */
export async function waitingPayouts(
  tx: Pick<Tx, 'query'>,
): Promise<{ sends: number; unknown: number; oldest_send_seconds: number }> {
  const [row] = await tx.query<{ sends: number; unknown: number; oldest_send_seconds: number }>(WAITING);
  return row ?? { sends: 0, unknown: 0, oldest_send_seconds: 0 };
}

const LIST_UNKNOWN = statement(
  'payout-outcome.unknown',
  `select p.organization_id, p.id, p.amount_in_cents, p.reference, p.end_to_end_id, p.attempts, p.questions, p.first_sent_at, p.last_sent_at,
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
  readonly questions: number;
  readonly first_sent_at: Date;
  readonly last_sent_at: Date;
  readonly rail_due_at: Date;
  readonly rail_task: 'send' | 'ask';
  readonly rail_status: QueriedStatus | null;
  readonly sent_ms_ago: number;
  /** What the rail answered to the last send; null when nothing was written down. */
  readonly answer: string | null;
}

/** The operator's queue: those whose outcome should long be known, oldest first. */
export function listUnknown(tx: Pick<Tx, 'query'>, limit: number): Promise<UnknownPayout[]> {
  return tx.query(LIST_UNKNOWN, [limit]);
}

const OWNER = statement('payout-outcome.owner', 'select organization_id from caudal.payouts where id = $1');

/** An operator knows a payout by its id alone. */
export async function ownerOfPayout(tx: Tx, id: string): Promise<PayoutKey | null> {
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

/** Every time a payout was sent, or was about to be. */
export function attemptsOf(tx: Tx, { organizationId, id }: PayoutKey): Promise<AttemptRow[]> {
  return tx.query(ATTEMPTS, [organizationId, id]);
}

const OPEN = statement(
  'payout-outcome.open',
  `select count(*)::integer as count from caudal.payouts where id ${WITHIN} and (result_at is null or rail_task is not null)`,
);

/** Those that have not ended, or have something due. */
export function countOpenPayouts(tx: Tx, span: IdSpan): Promise<number> {
  return countWithin(tx, OPEN, span);
}
