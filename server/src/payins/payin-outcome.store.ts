import { CLAIM } from '../db/claim.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Rail } from '../rails/contract.ts';
import type { Move } from './payin.outcome.ts';
import { LAST_QUESTION_SECONDS, type RailTask } from './payin.questions.ts';
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
  `select ${PAYIN_COLUMNS}, p.rail_task, p.expires_at <= m.at as expired, m.at as now,
     (extract(epoch from m.at - p.rail_sent_at) * 1000)::float8 as sent_ms_ago
   from (select caudal.now() as at) m, caudal.payins p
   join unnest($1::uuid[], $2::uuid[]) as w (organization_id, id) on p.organization_id = w.organization_id and p.id = w.id
   order by p.organization_id, p.id for update of p`,
);

export interface LockedPayin extends PayinRow {
  rail_task: 'open' | RailTask['task'] | null;
  expired: boolean;
  now: Date;
  /** Since an order may last have left for the rail; null when none has. */
  sent_ms_ago: number | null;
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
     select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[], $9::boolean[])
       as m (organization_id, id, from_status, to_status, confirmed, error_code, cause, settles)
   ),
   moved as (
     update caudal.payins p set
       status = m.to_status, confirmed_amount_in_cents = m.confirmed, error_code = m.error_code,
       -- Business time is that of the transaction's start, and this one may have waited for whoever moved the payin last.
       result_at = greatest(moment.at, p.updated_at), updated_at = greatest(moment.at, p.updated_at),
       settlement_status = case when m.settles then 'PENDING_SETTLEMENT' end,
       settles_at = case when m.settles then moment.at + make_interval(mins => $8) end,
       -- A key that was paid is closed, so that whoever pays it again is refused; every key is asked about once more.
       rail_task = case when p.rail = 'BRE_B' then case m.to_status when 'CONFIRMED' then 'close' else 'ask' end end,
       rail_due_at = case when p.rail = 'BRE_B' then
         moment.at + case m.to_status when 'CONFIRMED' then interval '0' else interval '${LAST_QUESTION_SECONDS} seconds' end end,
       claimed_until = null, claim_token = null
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
     update caudal.breb_keys k set register_due_at = null, claimed_until = null, claim_token = null
     from moved p where k.key = p.breb_key and k.register_due_at is not null
   )
   select * from moved`,
);

export interface MovedPayin extends PayinRow {
  organization_number: number;
}

/**
 * Brings locked payins to their final state, with their history; a key that was still to be registered no longer is.
 * @throws when one of them was not in the state its move begins from: the whole transaction is wrong then
 */
export async function movePayins(
  tx: Tx,
  moves: readonly (PayinKey & Move & { readonly from: string })[],
  settlementDelayMinutes: number,
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
  ]);
  if (moved.length !== moves.length)
    throw new Error(`${moves.length} payins were to move and ${moved.length} did`);
  return moved;
}

const CLAIM_TASKS = statement(
  'payin-outcome.claim',
  `with due as (
     select organization_id, id from caudal.payins
     where rail = $3 and rail_task = $4 and rail_due_at <= caudal.now() and (claimed_until is null or claimed_until < clock_timestamp())
     order by rail_due_at limit $2 for update skip locked
   )
   update caudal.payins p set claimed_until = clock_timestamp() + ${CLAIM}, claim_token = $1
   from due where p.organization_id = due.organization_id and p.id = due.id
   returning p.organization_id, p.id, p.breb_key, p.rail_attempts, p.rail_sent_at is not null as sent,
     (select o.number from caudal.organizations o where o.id = p.organization_id) as organization_number`,
);

/** A payin about which something is due at its rail. */
export interface DueTask extends PayinKey {
  readonly brebKey: string | null;
  readonly organizationNumber: number;
  readonly attempts: number;
  /** Whether an order for it may ever have left for the rail. */
  readonly sent: boolean;
}

/** Takes up to `most` payins whose rail is to be asked, or whose collection is to be closed, and nobody at them. */
export async function claimTasks(
  tx: Tx,
  claimToken: string,
  rail: Rail,
  task: RailTask['task'],
  most: number,
): Promise<DueTask[]> {
  const rows = await tx.query<{
    organization_id: string;
    id: string;
    breb_key: string | null;
    rail_attempts: number;
    sent: boolean;
    organization_number: number;
  }>(CLAIM_TASKS, [claimToken, most, rail, task]);
  return rows.map((row) => ({
    organizationId: row.organization_id,
    id: row.id,
    brebKey: row.breb_key,
    organizationNumber: row.organization_number,
    attempts: row.rail_attempts,
    sent: row.sent,
  }));
}

const RESCHEDULE = statement(
  'payin-outcome.reschedule',
  `update caudal.payins p set
     rail_task = r.task, rail_due_at = r.due_at, rail_attempts = least(p.rail_attempts + 1, 32000), claimed_until = null, claim_token = null
   from unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[]) as r (organization_id, id, task, due_at)
   where p.organization_id = r.organization_id and p.id = r.id and p.claim_token = $5`,
);

/** What is to be done next about payins, or that nothing is. Those whose claim was taken over meanwhile are left alone. */
export async function reschedulePayins(
  tx: Tx,
  tasks: readonly (PayinKey & { readonly next: RailTask | null })[],
  claimToken: string,
): Promise<void> {
  if (tasks.length === 0) return;
  await tx.query(RESCHEDULE, [
    tasks.map((each) => each.organizationId),
    tasks.map((each) => each.id),
    tasks.map((each) => each.next?.task ?? null),
    tasks.map((each) => each.next?.at ?? null),
    claimToken,
  ]);
}

const POSTPONE = statement(
  'payin-outcome.postpone',
  `with moment as materialized (select caudal.now() as at)
   update caudal.payins p set
     rail_due_at = moment.at + make_interval(secs => r.after_ms / 1000.0), rail_attempts = least(p.rail_attempts + 1, 32000),
     claimed_until = null, claim_token = null
   from moment, unnest($1::uuid[], $2::uuid[], $3::float8[]) as r (organization_id, id, after_ms)
   where p.organization_id = r.organization_id and p.id = r.id and p.claim_token = $4 and p.rail_due_at is not null`,
);

/** The rail gave no clear answer: the same again, later. */
export async function postponeTasks(
  tx: Tx,
  tasks: readonly (PayinKey & { readonly afterMs: number })[],
  claimToken: string,
): Promise<void> {
  if (tasks.length === 0) return;
  await tx.query(POSTPONE, [
    tasks.map((each) => each.organizationId),
    tasks.map((each) => each.id),
    tasks.map((each) => each.afterMs),
    claimToken,
  ]);
}
