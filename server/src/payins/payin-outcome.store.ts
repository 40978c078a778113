import { flag, milliseconds, money, nullable, ROW_ID, type RowId, text, time } from '../db/columns.ts';
import { LEASE_INTERVAL } from '../db/lease.ts';
import { queryRecords, type RecordOf, ROW_IDS, RowSet } from '../db/records.ts';
import { endedChange, statement, type Tx } from '../db/tx.ts';
import type { Rail } from '../rails/contract.ts';
import type { AmountPolicy, Transition } from './payin.outcome.ts';
import type { RailTask } from './payin.polling.ts';
import { statesBefore } from './payin.states.ts';
import { PAYIN_LIST, type PayinRow } from './payin.store.ts';

const BY_BREB_KEY = statement(
  'payin-outcome.by-key',
  `select k.key, k.organization_id, k.payin_id from caudal.breb_keys k join unnest($1::text[]) as wanted (key) on k.key = wanted.key`,
);

/** @returns the payin of each key. The payin of a key never changes. */
export async function findPayinsByBrebKeys(tx: Tx, brebKeys: readonly string[]): Promise<Map<string, RowId>> {
  if (brebKeys.length === 0) return new Map();
  const rows = await tx.query<{ key: string; organization_id: string; payin_id: string }>(BY_BREB_KEY, [
    brebKeys,
  ]);
  return new Map(rows.map((row) => [row.key, { organizationId: row.organization_id, id: row.payin_id }]));
}

const LOCK = statement(
  'payin-outcome.lock',
  `select ${PAYIN_LIST}, p.rail_task,
     (select o.amount_policy from caudal.organizations o where o.id = p.organization_id) as amount_policy,
     p.expires_at <= m.at as expired, m.at as now,
     (extract(epoch from m.at - p.rail_sent_at) * 1000)::float8 as sent_ms_ago,
     (extract(epoch from m.at - p.result_at) * 1000)::float8 as ended_ms_ago,
     p.payment_execution_id, p.payment_verified_at, p.settlement_released_at
   from (select caudal.now() as at) m, caudal.payins p
   join ${ROW_IDS.as('w')} on p.organization_id = w.organization_id and p.id = w.id
   order by p.organization_id, p.id for update of p`,
);

export interface LockedPayin extends PayinRow {
  /** The organization's policy as of this transaction. */
  amount_policy: AmountPolicy;
  rail_task: 'open' | RailTask['task'] | null;
  expired: boolean;
  now: Date;
  /** Since the last time an order may have been sent to the rail; null when none was. */
  sent_ms_ago: number | null;
  /** Since the payin reached its final state; null while it is open. */
  ended_ms_ago: number | null;
  payment_execution_id: string | null;
  payment_verified_at: Date | null;
  settlement_released_at: Date | null;
}

/** Locks payins until the transaction ends, always in the same order to avoid deadlocks. */
export async function lockPayins(tx: Tx, payins: readonly RowId[]): Promise<LockedPayin[]> {
  if (payins.length === 0) return [];
  return tx.query<LockedPayin>(LOCK, ROW_IDS.parameters(payins));
}

const TRANSITIONS = new RowSet({
  ...ROW_ID,
  from_status: text(),
  to_status: text(),
  confirmed_amount: nullable(money),
  error_code: nullable(text()),
  cause: text(),
  settles: flag,
  earlier_parts: nullable(money),
  end_to_end_id: nullable(text()),
  execution_id: nullable(text()),
  verified: nullable(flag),
});

const TRANSITION = statement(
  'payin-outcome.transition',
  `with moment as materialized (select caudal.now() as at),
   move as (
     select m.*, m.confirmed_amount is not null or m.cause = 'ended_by_operator' as closes
     from ${TRANSITIONS.as('m')}
   ),
   moved as (
     update caudal.payins p set
       status = m.to_status, confirmed_amount_in_cents = m.confirmed_amount, end_to_end_id = m.end_to_end_id, error_code = m.error_code,
       -- Business time is the start of the transaction; this one may have waited for a transaction that updated the payin later.
       result_at = greatest(moment.at, p.updated_at), updated_at = greatest(moment.at, p.updated_at),
       settlement_status = case when m.settles then 'PENDING_SETTLEMENT' end, earlier_parts_in_cents = m.earlier_parts,
       payment_execution_id = m.execution_id, payment_verified_at = case when m.verified then moment.at end,
       settles_at = case when m.settles and m.verified then moment.at + make_interval(mins => ${TRANSITIONS.scalar(1)}) end,
       -- A paid key is closed, so that the network rejects a second payment; every key is polled once more.
       -- A payment that only a notification reported is verified by a poll immediately, on every rail.
       -- The key of a payin that an operator ended may still be open: it is closed, and the close is retried.
       rail_task = case when p.rail = 'BRE_B' then case when m.closes then 'close' else 'poll' end when not m.verified then 'poll' end,
       rail_due_at = case when p.rail = 'BRE_B' then
         moment.at + case when m.closes then interval '0' else make_interval(secs => ${TRANSITIONS.scalar(2)} / 1000.0) end
         when not m.verified then moment.at end,
       leased_until = null, lease_token = null
     from moment, move m
     where p.organization_id = m.organization_id and p.id = m.id and p.status = m.from_status and p.status in (${statesBefore('CONFIRMED')})
     returning ${PAYIN_LIST}, m.from_status, m.cause,
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

export interface TransitionedPayin extends PayinRow {
  organization_number: number;
}

export interface TransitionOptions {
  readonly settlementDelayMinutes: number;
  /** From the end of a Bre-B payin to its last poll. */
  readonly lastPollMs: number;
}

/**
 * Moves locked payins to their final state and records their history. Cancels pending key registrations.
 * @throws when a payin is not in the `from` state of its transition: the whole transaction must roll back
 */
export async function transitionPayins(
  tx: Tx,
  transitions: readonly (RowId & Transition & { readonly from: string })[],
  { settlementDelayMinutes, lastPollMs }: TransitionOptions,
): Promise<TransitionedPayin[]> {
  if (transitions.length === 0) return [];
  const rows = transitions.map((transition) => ({
    ...transition,
    fromStatus: transition.from,
    toStatus: transition.to,
    endToEndId: transition.endToEndId ?? null,
    executionId: transition.payment?.executionId ?? null,
    verified: transition.payment?.verified ?? null,
  }));
  const transitioned = await tx.query<TransitionedPayin>(TRANSITION, [
    ...TRANSITIONS.parameters(rows),
    settlementDelayMinutes,
    lastPollMs,
  ]);
  if (transitioned.length !== transitions.length)
    throw new Error(
      `expected to transition ${transitions.length} payins, but ${transitioned.length} were updated`,
    );
  tx.report(transitioned.map((row) => endedChange('payin', row, row)));
  return transitioned;
}

const DUE = 'rail_due_at <= caudal.now() and (leased_until is null or leased_until < clock_timestamp())';

/** SQL condition: a payin of this rail and task is due and not leased. */
export function payinTaskDue(rail: Rail, task: 'open' | RailTask['task']): string {
  return `exists (select from caudal.payins where rail = '${rail}' and rail_task = '${task}' and ${DUE})`;
}

const LEASE_TASKS = statement(
  'payin-outcome.lease',
  `with due as (
     select organization_id, id from caudal.payins
     where rail = $3 and rail_task = $4 and ${DUE}
     order by rail_due_at limit $2 for update skip locked
   )
   update caudal.payins p set leased_until = clock_timestamp() + ${LEASE_INTERVAL}, lease_token = $1
   from due where p.organization_id = due.organization_id and p.id = due.id
   returning p.organization_id, p.id, p.breb_key, p.rail_attempts as attempts, p.rail_sent_at is not null as sent, p.trace_context,
     (extract(epoch from caudal.now() - p.result_at) * 1000)::float8 as ended_ms_ago,
     (select o.number from caudal.organizations o where o.id = p.organization_id) as organization_number`,
);

/** A payin with a due rail task. */
export interface DueTask extends RowId {
  readonly brebKey: string | null;
  readonly organizationNumber: number;
  readonly attempts: number;
  /** Whether an order for it may ever have been sent to the rail. */
  readonly sent: boolean;
  /** From its final state to this lease; null while it is open. */
  readonly endedMsAgo: number | null;
  readonly traceContext: Buffer | null;
}

/** Leases up to `limit` payins that are due to be polled or closed at their rail. */
export function leaseTasks(
  tx: Tx,
  leaseToken: string,
  rail: Rail,
  task: RailTask['task'],
  limit: number,
): Promise<DueTask[]> {
  return queryRecords(tx, LEASE_TASKS, [leaseToken, limit, rail, task]);
}

const POLLED = new RowSet({
  ...ROW_ID,
  task: nullable(text()),
  due_at: nullable(time),
  verified: flag,
  end_to_end_id: nullable(text()),
});
const HOLDS_LEASE = `p.lease_token = ${POLLED.scalar(1)}`;

const RESCHEDULE = statement(
  'payin-outcome.reschedule',
  // Any query that lists the payment verifies it; only the lease holder decides the next task.
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set
     rail_task = case when ${HOLDS_LEASE} then r.task else p.rail_task end,
     rail_due_at = case when ${HOLDS_LEASE} then r.due_at else p.rail_due_at end,
     rail_attempts = case when ${HOLDS_LEASE} then least(p.rail_attempts + 1, 32000) else p.rail_attempts end,
     leased_until = case when ${HOLDS_LEASE} then null else p.leased_until end,
     lease_token = case when ${HOLDS_LEASE} then null else p.lease_token end,
     payment_verified_at = case when r.verified then moment.at else p.payment_verified_at end,
     settles_at = case when r.verified then p.result_at + make_interval(mins => ${POLLED.scalar(2)}) else p.settles_at end,
     end_to_end_id = coalesce(r.end_to_end_id, p.end_to_end_id)
   from moment, ${POLLED.as('r')}
   where p.organization_id = r.organization_id and p.id = r.id and (${HOLDS_LEASE} or r.verified)`,
);

interface PolledPayin extends RowId {
  readonly next: RailTask | null;
  readonly verified: boolean;
  /** From the verifying status; it overrides the id in the notification. */
  readonly endToEndId?: string | undefined;
}

/**
 * Schedules the next task of each payin, or none, and marks verified payments, which may then settle. Payins whose lease
 * another process has taken over keep their task.
 */
export async function reschedulePayins(
  tx: Tx,
  polled: readonly PolledPayin[],
  { leaseToken, settlementDelayMinutes }: { leaseToken: string | null; settlementDelayMinutes: number },
): Promise<void> {
  const tasks = leaseToken === null ? polled.filter((each) => each.verified) : polled;
  if (tasks.length === 0) return;
  const rows = tasks.map((each) => ({
    ...each,
    task: each.next?.task ?? null,
    dueAt: each.next?.at ?? null,
    endToEndId: each.endToEndId ?? null,
  }));
  await tx.query(RESCHEDULE, [...POLLED.parameters(rows), leaseToken, settlementDelayMinutes]);
}

const POSTPONED = new RowSet({ ...ROW_ID, after_ms: milliseconds });

const POSTPONE = statement(
  'payin-outcome.postpone',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set
     rail_due_at = moment.at + make_interval(secs => r.after_ms / 1000.0), rail_attempts = least(p.rail_attempts + 1, 32000),
     leased_until = null, lease_token = null
   from moment, ${POSTPONED.as('r')}
   where p.organization_id = r.organization_id and p.id = r.id and p.lease_token = ${POSTPONED.scalar(1)} and p.rail_due_at is not null`,
);

/** Retries tasks later: the rail gave no conclusive answer. */
export async function postponeTasks(
  tx: Tx,
  tasks: readonly RecordOf<typeof POSTPONED>[],
  leaseToken: string,
): Promise<void> {
  if (tasks.length === 0) return;
  await tx.query(POSTPONE, [...POSTPONED.parameters(tasks), leaseToken]);
}
