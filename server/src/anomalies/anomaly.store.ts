import { statement, type Tx } from '../db/tx.ts';
import type { Anomaly, Resolution } from './anomaly.ts';

export interface NewAnomaly
  extends Pick<
    Anomaly,
    | 'organizationId'
    | 'id'
    | 'payinId'
    | 'payoutId'
    | 'rail'
    | 'kind'
    | 'reference'
    | 'executionId'
    | 'amount'
  > {
  /** Deduplication key: the same anomaly detected twice stays one row. */
  readonly once: string;
}

const INSERT = statement(
  'anomaly.insert',
  `insert into caudal.anomalies (organization_id, id, payin_id, rail, kind, reference, execution_id, amount_in_cents, once, payout_id, noticed_at)
   select a.organization_id, a.id, a.payin_id, a.rail, a.kind, a.reference, a.execution_id, a.amount, a.once, a.payout_id, caudal.now()
   from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::text[], $10::uuid[])
     as a (organization_id, id, payin_id, rail, kind, reference, execution_id, amount, once, payout_id)
   order by a.organization_id, a.once
   on conflict (organization_id, once) do nothing
   returning id`,
);

/** @returns the ids of the new anomalies; duplicates are skipped */
export async function insertAnomalies(tx: Tx, anomalies: readonly NewAnomaly[]): Promise<Set<string>> {
  if (anomalies.length === 0) return new Set();
  const rows = await tx.query<{ id: string }>(INSERT, [
    anomalies.map((anomaly) => anomaly.organizationId),
    anomalies.map((anomaly) => anomaly.id),
    anomalies.map((anomaly) => anomaly.payinId),
    anomalies.map((anomaly) => anomaly.rail),
    anomalies.map((anomaly) => anomaly.kind),
    anomalies.map((anomaly) => anomaly.reference),
    anomalies.map((anomaly) => anomaly.executionId),
    anomalies.map((anomaly) => anomaly.amount),
    anomalies.map((anomaly) => anomaly.once),
    anomalies.map((anomaly) => anomaly.payoutId),
  ]);
  return new Set(rows.map((row) => row.id));
}

export interface AnomalyRow {
  organization_id: string;
  id: string;
  payin_id: string | null;
  payout_id: string | null;
  rail: Anomaly['rail'];
  kind: Anomaly['kind'];
  reference: string;
  execution_id: string | null;
  amount_in_cents: bigint | null;
  noticed_at: Date;
  resolved_at: Date | null;
  resolution: Anomaly['resolution'];
  resolved_by: string | null;
  note: string | null;
  return_payout_id: string | null;
  accepted_at: Date | null;
  accepted_by: string | null;
  reversals: number;
}

export const ANOMALY_COLUMNS =
  'organization_id, id, payin_id, payout_id, rail, kind, reference, execution_id, amount_in_cents, noticed_at, resolved_at, resolution, resolved_by, note, return_payout_id, accepted_at, accepted_by, reversals';

const OF_PAYIN = statement(
  'anomaly.of-payin',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where organization_id = $1 and payin_id = $2 order by noticed_at, id`,
);

export async function anomaliesOfPayin(tx: Tx, organizationId: string, payinId: string): Promise<Anomaly[]> {
  return (await tx.query<AnomalyRow>(OF_PAYIN, [organizationId, payinId])).map(anomalyFromRow);
}

const OPEN = statement(
  'anomaly.open',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where resolved_at is null order by noticed_at, id limit $1`,
);

/** Unresolved anomalies, oldest first. */
export async function openAnomalies(tx: Pick<Tx, 'query'>, limit: number): Promise<Anomaly[]> {
  return (await tx.query<AnomalyRow>(OPEN, [limit])).map(anomalyFromRow);
}

const RECENT = statement(
  'anomaly.recent',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies order by noticed_at desc, id desc limit $1`,
);

/** All anomalies including resolved ones, newest first. */
export async function recentAnomalies(tx: Pick<Tx, 'query'>, limit: number): Promise<Anomaly[]> {
  return (await tx.query<AnomalyRow>(RECENT, [limit])).map(anomalyFromRow);
}

const FIND = statement('anomaly.find', `select ${ANOMALY_COLUMNS} from caudal.anomalies where id = $1`);

export async function findAnomaly(tx: Tx, id: string): Promise<Anomaly | null> {
  const [row] = await tx.query<AnomalyRow>(FIND, [id]);
  return row ? anomalyFromRow(row) : null;
}

const LOCK = statement(
  'anomaly.lock',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where id = $1 order by organization_id for update`,
);

/** By id alone: operators do not know the organization. */
export async function lockAnomaly(tx: Tx, id: string): Promise<Anomaly | null> {
  const [row] = await tx.query<AnomalyRow>(LOCK, [id]);
  return row ? anomalyFromRow(row) : null;
}

const RESOLVE = statement(
  'anomaly.resolve',
  `update caudal.anomalies set resolved_at = caudal.now(), resolution = $3, resolved_by = $4, note = $5, return_payout_id = $6
   where organization_id = $1 and id = $2 and resolved_at is null`,
);

export async function resolveAnomaly(
  tx: Tx,
  anomaly: Anomaly,
  resolution: { readonly by: string; readonly how: Resolution; readonly note: string | null },
  returnPayoutId: string | null = null,
): Promise<void> {
  await tx.query(RESOLVE, [
    anomaly.organizationId,
    anomaly.id,
    resolution.how,
    resolution.by,
    resolution.note,
    returnPayoutId,
  ]);
}

const OF_PAYOUT = statement(
  'anomaly.of-payout',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where organization_id = $1 and payout_id = $2 order by noticed_at, id`,
);

export async function anomaliesOfPayout(
  tx: Tx,
  organizationId: string,
  payoutId: string,
): Promise<Anomaly[]> {
  return (await tx.query<AnomalyRow>(OF_PAYOUT, [organizationId, payoutId])).map(anomalyFromRow);
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
   from unnest($1::uuid[], $2::uuid[]) as p (organization_id, id)
   where a.organization_id = p.organization_id and a.payin_id = p.id and a.kind = 'payment_not_listed' and a.resolved_at is null`,
);

/** Resolves the `payment_not_listed` anomalies of payins whose payment the rail now lists: they may settle. */
export async function resolveListed(
  tx: Tx,
  payins: readonly { readonly organizationId: string; readonly id: string }[],
): Promise<void> {
  if (payins.length === 0) return;
  await tx.query(LISTED, [payins.map((payin) => payin.organizationId), payins.map((payin) => payin.id)]);
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
export async function reopenReversed(
  tx: Tx,
  { organizationId, id }: Pick<Anomaly, 'organizationId' | 'id'>,
): Promise<boolean> {
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

export function anomalyFromRow(row: AnomalyRow): Anomaly {
  return {
    organizationId: row.organization_id,
    id: row.id,
    payinId: row.payin_id,
    payoutId: row.payout_id,
    rail: row.rail,
    kind: row.kind,
    reference: row.reference,
    executionId: row.execution_id,
    amount: row.amount_in_cents,
    noticedAt: row.noticed_at,
    resolvedAt: row.resolved_at,
    resolution: row.resolution,
    resolvedBy: row.resolved_by,
    note: row.note,
    returnPayoutId: row.return_payout_id,
    acceptedAt: row.accepted_at,
    acceptedBy: row.accepted_by,
    reversals: row.reversals,
  };
}
