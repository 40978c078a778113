import { CLAIM } from '../db/lease.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Rail } from '../rails/contract.ts';
import type { AmountPolicy, Transition } from './payin.outcome.ts';
import type { RailTask } from './payin.polling.ts';
import { statesBefore } from './payin.states.ts';
import { PAYIN_COLUMNS, type PayinRow } from './payin.store.ts';

export interface PayinKey {
  readonly organizationId: string;
  readonly id: string;
}

const BY_BREB_KEY = statement(
  'payin-outcome.by-key',
  `select k.key, k.organization_id, k.payin_id from caudal.breb_keys k join unnest($1::text[]) as wanted (key) on k.key = wanted.key`,
);

/** Whose keys these are. A key never changes hands. */
export async function payinsOfKeys(tx: Tx, keys: readonly string[]): Promise<Map<string, PayinKey>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.query<{ key: string; organization_id: string; payin_id: string }>(BY_BREB_KEY, [
    keys,
  ]);
  return new Map(rows.map((row) => [row.key, { organizationId: row.organization_id, id: row.payin_id }]));
}

const LOCK = statement(
  'payin-outcome.lock',
  `select ${PAYIN_COLUMNS}, p.rail_task,
     (select o.amount_policy from caudal.organizations o where o.id = p.organization_id) as amount_policy,
     p.expires_at <= m.at as expired, m.at as now,
     (extract(epoch from m.at - p.rail_sent_at) * 1000)::float8 as sent_ms_ago,
     (extract(epoch from m.at - p.result_at) * 1000)::float8 as ended_ms_ago,
     p.payment_execution_id, p.payment_verified_at, p.settlement_released_at
   from (select caudal.now() as at) m, caudal.payins p
   join unnest($1::uuid[], $2::uuid[]) as w (organization_id, id) on p.organization_id = w.organization_id and p.id = w.id
   order by p.organization_id, p.id for update of p`,
);

export interface LockedPayin extends PayinRow {
  /** Of its organization, as it is in this transaction. */
  amount_policy: AmountPolicy;
  rail_task: 'open' | RailTask['task'] | null;
  expired: boolean;
  now: Date;
  /** Since an order may last have left for the rail; null when none has. */
  sent_ms_ago: number | null;
  /** Since it reached its final state; null while it is open. */
  ended_ms_ago: number | null;
  payment_execution_id: string | null;
  payment_verified_at: Date | null;
  settlement_released_at: Date | null;
}

/** Locks payins until the transaction ends, in one order for all: nobody decides about them meanwhile. */
export async function lockPayins(tx: Tx, payins: readonly PayinKey[]): Promise<LockedPayin[]> {
  if (payins.length === 0) return [];
  return tx.query<LockedPayin>(LOCK, [
    payins.map((payin) => payin.organizationId),
    payins.map((payin) => payin.id),
  ]);
}

const MOVE = statement(
  'payin-outcome.move',
  `with moment as materialized (select caudal.now() as at),
   move as (
     select m.*, m.confirmed is not null or m.cause = 'ended_by_operator' as closes
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $9::boolean[], $10::text[], $11::text[], $12::boolean[])
       as m (organization_id, id, from_status, to_status, confirmed, error_code, cause, settles, end_to_end_id, execution_id, verified)
   ),
   moved as (
     update caudal.payins p set
       status = m.to_status, confirmed_amount_in_cents = m.confirmed, end_to_end_id = m.end_to_end_id, error_code = m.error_code,
       -- Business time is that of the transaction's start, and this one may have waited for whoever moved the payin last.
       result_at = greatest(moment.at, p.updated_at), updated_at = greatest(moment.at, p.updated_at),
       settlement_status = case when m.settles then 'PENDING_SETTLEMENT' end,
       payment_execution_id = m.execution_id, payment_verified_at = case when m.verified then moment.at end,
       settles_at = case when m.settles and m.verified then moment.at + make_interval(mins => $8) end,
       -- A key that was paid is closed, so that whoever pays it again is refused; every key is asked about once more.
       -- A payment that only a notification reported is queried at once, on every rail.
       -- A key of a payin that an operator ended may be open still: it is closed, and the close is retried.
       rail_task = case when p.rail = 'BRE_B' then case when m.closes then 'close' else 'ask' end when not m.verified then 'ask' end,
       rail_due_at = case when p.rail = 'BRE_B' then
         moment.at + case when m.closes then interval '0' else make_interval(secs => $13 / 1000.0) end
         when not m.verified then moment.at end,
       leased_until = null, lease_token = null
     from moment, move m
     where p.organization_id = m.organization_id and p.id = m.id and p.status = m.from_status and p.status in (${statesBefore('CONFIRMED')})
     returning ${PAYIN_COLUMNS}, m.from_status, m.cause,
       (select o.number from caudal.organizations o where o.id = p.organization_id) as organization_number
   ),
   history as (
     insert into caudal.payin_history (organization_id, payin_id, from_status, to_status, cause, at)
     select organization_id, id, from_status, status, cause, updated_at from moved
   ),
   keys as (
     update caudal.breb_keys k set register_due_at = null, leased_until = null, lease_token = null
     from moved p where k.key = p.breb_key and k.register_due_at is not null
   )
   select * from moved`,
);

export interface MovedPayin extends PayinRow {
  organization_number: number;
}

export interface MoveOptions {
  readonly settlementDelayMinutes: number;
  /** From the end of a Bre-B payin to the last query about it. */
  readonly lastPollMs: number;
}

/**
 * Brings locked payins to their final state, with their history; a key that was still to be registered no longer is.
 * @throws when one of them was not in the state its move begins from: the whole transaction is wrong then
 */
export async function movePayins(
  tx: Tx,
  moves: readonly (PayinKey & Transition & { readonly from: string })[],
  { settlementDelayMinutes, lastPollMs }: MoveOptions,
): Promise<MovedPayin[]> {
  if (moves.length === 0) return [];
  const moved = await tx.query<MovedPayin>(MOVE, [
    moves.map((move) => move.organizationId),
    moves.map((move) => move.id),
    moves.map((move) => move.from),
    moves.map((move) => move.to),
    moves.map((move) => move.confirmedAmount),
    moves.map((move) => move.errorCode),
    moves.map((move) => move.cause),
    settlementDelayMinutes,
    moves.map((move) => move.settles),
    moves.map((move) => move.endToEndId ?? null),
    moves.map((move) => move.payment?.executionId ?? null),
    moves.map((move) => move.payment?.verified ?? null),
    lastPollMs,
  ]);
  if (moved.length !== moves.length)
    throw new Error(`${moves.length} payins were to move and ${moved.length} did`);
  return moved;
}

const DUE = 'rail_due_at <= caudal.now() and (leased_until is null or leased_until < clock_timestamp())';

/** Whether a payin of this rail and task is due that no process has claimed. */
export function payinTaskDue(rail: Rail, task: 'open' | RailTask['task']): string {
  return `exists (select from caudal.payins where rail = '${rail}' and rail_task = '${task}' and ${DUE})`;
}

const LEASE_TASKS = statement(
  'payin-outcome.claim',
  `with due as (
     select organization_id, id from caudal.payins
     where rail = $3 and rail_task = $4 and ${DUE}
     order by rail_due_at limit $2 for update skip locked
   )
   update caudal.payins p set leased_until = clock_timestamp() + ${CLAIM}, lease_token = $1
   from due where p.organization_id = due.organization_id and p.id = due.id
   returning p.organization_id, p.id, p.breb_key, p.rail_attempts, p.rail_sent_at is not null as sent,
     (extract(epoch from caudal.now() - p.result_at) * 1000)::float8 as ended_ms_ago,
     (select o.number from caudal.organizations o where o.id = p.organization_id) as organization_number`,
);

/** A payin about which something is due at its rail. */
export interface DueTask extends PayinKey {
  readonly brebKey: string | null;
  readonly organizationNumber: number;
  readonly attempts: number;
  /** Whether an order for it may ever have left for the rail. */
  readonly sent: boolean;
  /** Since it reached its final state, when it was claimed; null while it is open. */
  readonly endedMsAgo: number | null;
}

/** Takes up to `most` payins whose rail is to be asked, or whose collection is to be closed, and nobody at them. */
export async function leaseTasks(
  tx: Tx,
  leaseToken: string,
  rail: Rail,
  task: RailTask['task'],
  limit: number,
): Promise<DueTask[]> {
  const rows = await tx.query<{
    organization_id: string;
    id: string;
    breb_key: string | null;
    rail_attempts: number;
    sent: boolean;
    ended_ms_ago: number | null;
    organization_number: number;
  }>(LEASE_TASKS, [leaseToken, limit, rail, task]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    id: row.id,
    brebKey: row.breb_key,
    organizationNumber: row.organization_number,
    attempts: row.rail_attempts,
    sent: row.sent,
    endedMsAgo: row.ended_ms_ago,
  }));
}

const RESCHEDULE = statement(
  'payin-outcome.reschedule',
  // A payment is verified whichever query listed it; what is due next is decided only by the holder of the claim.
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set
     rail_task = case when p.lease_token = $5 then r.task else p.rail_task end,
     rail_due_at = case when p.lease_token = $5 then r.due_at else p.rail_due_at end,
     rail_attempts = case when p.lease_token = $5 then least(p.rail_attempts + 1, 32000) else p.rail_attempts end,
     leased_until = case when p.lease_token = $5 then null else p.leased_until end,
     lease_token = case when p.lease_token = $5 then null else p.lease_token end,
     payment_verified_at = case when r.verified then moment.at else p.payment_verified_at end,
     settles_at = case when r.verified then p.result_at + make_interval(mins => $7) else p.settles_at end,
     end_to_end_id = coalesce(r.end_to_end_id, p.end_to_end_id)
   from moment, unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $6::boolean[], $8::text[])
     as r (organization_id, id, task, due_at, verified, end_to_end_id)
   where p.organization_id = r.organization_id and p.id = r.id and (p.lease_token = $5 or r.verified)`,
);

interface AnsweredPayin extends PayinKey {
  readonly next: RailTask | null;
  readonly verified: boolean;
  /** As the verifying status lists it: that counts, also against what the notification reported. */
  readonly endToEndId?: string | undefined;
}

/**
 * What is to be done next about payins, or that nothing is, and which payments are verified and so may settle. Those whose
 * claim was taken over meanwhile keep the task they have.
 */
export async function reschedulePayins(
  tx: Tx,
  answered: readonly AnsweredPayin[],
  { leaseToken, settlementDelayMinutes }: { leaseToken: string | null; settlementDelayMinutes: number },
): Promise<void> {
  const tasks = leaseToken === null ? answered.filter((each) => each.verified) : answered;
  if (tasks.length === 0) return;
  await tx.query(RESCHEDULE, [
    tasks.map((each) => each.organizationId),
    tasks.map((each) => each.id),
    tasks.map((each) => each.next?.task ?? null),
    tasks.map((each) => each.next?.at ?? null),
    leaseToken,
    tasks.map((each) => each.verified),
    settlementDelayMinutes,
    tasks.map((each) => each.endToEndId ?? null),
  ]);
}

const POSTPONE = statement(
  'payin-outcome.postpone',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set
     rail_due_at = moment.at + make_interval(secs => r.after_ms / 1000.0), rail_attempts = least(p.rail_attempts + 1, 32000),
     leased_until = null, lease_token = null
   from moment, unnest($1::uuid[], $2::uuid[], $3::float8[]) as r (organization_id, id, after_ms)
   where p.organization_id = r.organization_id and p.id = r.id and p.lease_token = $4 and p.rail_due_at is not null`,
);

/** The rail gave no clear answer: the same again, later. */
export async function postponeTasks(
  tx: Tx,
  tasks: readonly (PayinKey & { readonly afterMs: number })[],
  leaseToken: string,
): Promise<void> {
  if (tasks.length === 0) return;
  await tx.query(POSTPONE, [
    tasks.map((each) => each.organizationId),
    tasks.map((each) => each.id),
    tasks.map((each) => each.afterMs),
    leaseToken,
  ]);
}
