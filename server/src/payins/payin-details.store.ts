import { type RowId } from '../db/columns.ts';
import { queryRecord, ROW_IDS } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { RailTask } from './payin.polling.ts';
import { PAYIN_LIST, type PayinRow } from './payin.store.ts';

/** A payin with its internal fields, for operators. */
export interface DetailedPayin extends PayinRow {
  pse_transaction_id: string | null;
  rail_task: 'open' | RailTask['task'] | null;
  rail_due_at: Date | null;
  rail_attempts: number;
  leased_until: Date | null;
  settles_at: Date | null;
  organization_number: number;
  organization_name: string;
  /** By the database clock; negative before the expiry. */
  expired_ms_ago: number;
  /** Since the last time an order may have been sent to the rail; null when none was. */
  sent_ms_ago: number | null;
}

const DETAILS = statement(
  'payin-details.find',
  `select ${PAYIN_LIST}, p.pse_transaction_id, p.rail_task, p.rail_due_at, p.rail_attempts, p.leased_until, p.settles_at,
     o.number as organization_number, o.name as organization_name,
     (extract(epoch from m.at - p.expires_at) * 1000)::float8 as expired_ms_ago,
     (extract(epoch from m.at - p.rail_sent_at) * 1000)::float8 as sent_ms_ago
   from (select caudal.now() as at) m, ${ROW_IDS.as('w')}
   cross join lateral (select * from caudal.payins p where p.organization_id = w.organization_id and p.id = w.id limit 1) as p
   join caudal.organizations o on o.id = p.organization_id
   order by p.id desc`,
);

/** Newest first. */
export async function payinDetails(tx: Tx, payins: readonly RowId[]): Promise<DetailedPayin[]> {
  if (payins.length === 0) return [];
  return tx.query<DetailedPayin>(DETAILS, ROW_IDS.parameters(payins));
}

export interface HistoryEntry {
  readonly from: string;
  readonly to: string;
  readonly cause: string;
  readonly at: Date;
}

const HISTORY = statement(
  'payin-details.history',
  `select from_status as "from", to_status as "to", cause, at from caudal.payin_history
   where organization_id = $1 and payin_id = $2 order by at, from_status <> 'NONE', from_status`,
);

export function payinHistory(tx: Tx, { organizationId, id }: RowId): Promise<HistoryEntry[]> {
  return tx.query<HistoryEntry>(HISTORY, [organizationId, id]);
}

export interface KeyRegistration {
  readonly registeredAt: Date | null;
  readonly dueAt: Date | null;
  readonly attempts: number;
  readonly refusal: string | null;
}

const REGISTRATION = statement(
  'payin-details.registration',
  `select registered_at, register_due_at as due_at, attempts, refusal from caudal.breb_keys where key = $1`,
);

/** The state of a Bre-B key's registration at the network. */
export function keyRegistration(tx: Tx, brebKey: string): Promise<KeyRegistration | null> {
  return queryRecord(tx, REGISTRATION, [brebKey]);
}
