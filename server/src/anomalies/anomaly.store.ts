import {
  copied,
  insertSelect,
  nullable,
  ROW_ID,
  type RowId,
  signedMoney,
  text,
  uuid,
} from '../db/columns.ts';
import { queryRecord, queryRecords, type RecordOf, ROW_IDS, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Anomaly, Resolution } from './anomaly.ts';

const NEW_COLUMNS = {
  ...ROW_ID,
  payin_id: nullable(uuid),
  rail: text<Anomaly['rail']>(),
  kind: text<Anomaly['kind']>(),
  reference: text(),
  execution_id: nullable(text()),
  amount_in_cents: nullable(signedMoney),
  /** Deduplication key: the same anomaly detected twice stays one row. */
  once: text(),
  payout_id: nullable(uuid),
};
const NEW = new RowSet(NEW_COLUMNS);

export type NewAnomaly = RecordOf<typeof NEW>;

const INSERT = statement(
  'anomaly.insert',
  `${insertSelect('caudal.anomalies', { ...copied(NEW_COLUMNS), noticed_at: 'caudal.now()' })} from ${NEW.as('a')}
   order by a.organization_id, a.once
   on conflict (organization_id, once) do nothing
   returning id`,
);

/** @returns the ids of the new anomalies; duplicates are skipped */
export async function insertAnomalies(tx: Tx, anomalies: readonly NewAnomaly[]): Promise<Set<string>> {
  if (anomalies.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>(INSERT, NEW.parameters(anomalies));
  return new Set(rows.map((row) => row.id));
}

export const ANOMALY_COLUMNS =
  'organization_id, id, payin_id, payout_id, rail, kind, reference, execution_id, amount_in_cents, noticed_at, resolved_at, resolution, resolved_by, note, return_payout_id, accepted_at, accepted_by, reversals';

const OF_PAYIN = statement(
  'anomaly.of-payin',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where organization_id = $1 and payin_id = $2 order by noticed_at, id`,
);

export function anomaliesOfPayin(tx: Tx, organizationId: string, payinId: string): Promise<Anomaly[]> {
  return queryRecords(tx, OF_PAYIN, [organizationId, payinId]);
}

const OF_PAYINS = statement(
  'anomaly.of-payins',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where organization_id = $1 and payin_id = any ($2::uuid[]) order by noticed_at, id`,
);

export async function anomaliesOfPayins(
  tx: Tx,
  organizationId: string,
  payinIds: readonly string[],
): Promise<Anomaly[]> {
  return payinIds.length === 0 ? [] : queryRecords(tx, OF_PAYINS, [organizationId, payinIds]);
}

const OPEN = statement(
  'anomaly.open',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where resolved_at is null order by noticed_at, id limit $1`,
);

/** Unresolved anomalies, oldest first. */
export function openAnomalies(tx: Pick<Tx, 'query'>, limit: number): Promise<Anomaly[]> {
  return queryRecords(tx, OPEN, [limit]);
}

const RECENT = statement(
  'anomaly.recent',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies order by noticed_at desc, id desc limit $1`,
);

/** All anomalies including resolved ones, newest first. */
export function recentAnomalies(tx: Pick<Tx, 'query'>, limit: number): Promise<Anomaly[]> {
  return queryRecords(tx, RECENT, [limit]);
}

const UNMATCHED = statement(
  'anomaly.unmatched',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies
   where organization_id = $1 and once = 'payout/unmatched/BRE_B/' || $2 || '/money'`,
);

/** The anomaly that holds the money of an execution without a payout. */
export function findUnmatchedExecution(
  tx: Tx,
  operatorOrganizationId: string,
  executionId: string,
): Promise<Anomaly | null> {
  return queryRecord(tx, UNMATCHED, [operatorOrganizationId, executionId]);
}

const FIND = statement('anomaly.find', `select ${ANOMALY_COLUMNS} from caudal.anomalies where id = $1`);

export function findAnomaly(tx: Tx, id: string): Promise<Anomaly | null> {
  return queryRecord(tx, FIND, [id]);
}

const LOCK = statement(
  'anomaly.lock',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where id = $1 order by organization_id for update`,
);

/** By id alone: operators do not know the organization. */
export function lockAnomaly(tx: Tx, id: string): Promise<Anomaly | null> {
  return queryRecord(tx, LOCK, [id]);
}

const RESOLVE = statement(
  'anomaly.resolve',
  `update caudal.anomalies set resolved_at = caudal.now(), resolution = $3, resolved_by = $4, note = $5, return_payout_id = $6
   where organization_id = $1 and id = $2 and resolved_at is null`,
);

export async function resolveAnomaly(
  tx: Tx,
  { organizationId, id }: RowId,
  { how, by, note }: { readonly by: string; readonly how: Resolution; readonly note: string | null },
  returnPayoutId: string | null = null,
): Promise<void> {
  await tx.query(RESOLVE, [organizationId, id, how, by, note, returnPayoutId]);
}

const OF_PAYOUT = statement(
  'anomaly.of-payout',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where organization_id = $1 and payout_id = $2 order by noticed_at, id`,
);

export function anomaliesOfPayout(tx: Tx, organizationId: string, payoutId: string): Promise<Anomaly[]> {
  return queryRecords(tx, OF_PAYOUT, [organizationId, payoutId]);
}

const REOPEN = statement(
  'anomaly.reopen',
  `update caudal.anomalies set resolved_at = null, resolution = null, resolved_by = null, return_payout_id = null
   where id = any ($1::uuid[]) and resolution = 'return'`,
);

/** Reopens anomalies whose return payout failed: an operator must resolve them again. */
export async function reopenReturned(tx: Tx, ids: readonly (string | null)[]): Promise<void> {
  const present = ids.filter((id) => id !== null);
  if (present.length > 0) await tx.query(REOPEN, [present]);
}

const LISTED = statement(
  'anomaly.listed',
  `update caudal.anomalies a set resolved_at = caudal.now(), resolution = 'listed', resolved_by = 'rail'
   from ${ROW_IDS.as('p')}
   where a.organization_id = p.organization_id and a.payin_id = p.id and a.kind = 'payment_not_listed' and a.resolved_at is null`,
);

/** Resolves the `payment_not_listed` anomalies of payins whose payment the rail now lists: they may settle. */
export async function resolveListed(tx: Tx, payins: readonly RowId[]): Promise<void> {
  if (payins.length > 0) await tx.query(LISTED, ROW_IDS.parameters(payins));
}

const HELD = statement(
  'anomaly.held',
  // Uses the partial index of unresolved anomalies.
  `select count(*)::int as count from caudal.anomalies where resolved_at is null and kind = 'payment_not_listed'`,
);

/** Counts payins whose settlement is held until an operator decides. */
export async function countHeldSettlements(tx: Pick<Tx, 'query'>): Promise<number> {
  const [row] = await tx.query<{ count: number }>(HELD);
  return row?.count ?? 0;
}

const REOPEN_REVERSED = statement(
  'anomaly.reopen-reversed',
  `update caudal.anomalies set resolved_at = null, resolution = null, resolved_by = null, note = null, reversals = reversals + 1
   where organization_id = $1 and id = $2 and resolved_at is not null and accepted_at is null
   returning id`,
);

/**
 * Reopens an anomaly whose resolution was reversed: its money is in suspense again.
 * @returns false when it is unresolved, or the merchant accepted the money
 */
export async function reopenReversed(tx: Tx, { organizationId, id }: RowId): Promise<boolean> {
  return (await tx.query(REOPEN_REVERSED, [organizationId, id])).length > 0;
}

const WAITING = statement(
  'anomaly.waiting',
  'select count(*)::int as count from caudal.anomalies where resolved_at is null',
);

export async function countOpenAnomalies(tx: Pick<Tx, 'query'>): Promise<number> {
  const [row] = await tx.query<{ count: number }>(WAITING);
  return row?.count ?? 0;
}
