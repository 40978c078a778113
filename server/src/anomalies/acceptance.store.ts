import { statement, type Tx } from '../db/tx.ts';
import { ANOMALY_COLUMNS, type AnomalyRow, anomalyOf } from './anomaly.store.ts';
import type { Anomaly } from './anomaly.ts';

export interface AnomalyOfPayin {
  readonly organizationId: string;
  readonly payinId: string;
  readonly id: string;
}

const ACCEPT = statement(
  'acceptance.accept',
  // A concurrent resolution holds the row; once it has committed, the condition no longer holds.
  `update caudal.anomalies set accepted_at = caudal.now(), accepted_by = $4
   where organization_id = $1 and payin_id = $2 and id = $3 and accepted_at is null and resolved_at is null and amount_in_cents > 0
   returning ${ANOMALY_COLUMNS}`,
);

/**
 * Records that the merchant takes the money. Only the merchants' role may.
 * @param by the id of the API key
 * @returns null when there is nothing to accept: unknown, without money, or decided already
 */
export async function acceptAnomaly(tx: Tx, anomaly: AnomalyOfPayin, by: string): Promise<Anomaly | null> {
  const { organizationId, payinId, id } = anomaly;
  const [row] = await tx.query<AnomalyRow>(ACCEPT, [organizationId, payinId, id, by]);
  return row ? anomalyOf(row) : null;
}

const LOCK = statement(
  'acceptance.lock',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where organization_id = $1 and payin_id = $2 and id = $3 for update`,
);

/** The lock is a write, so that an answer from this row waits for the standby. */
export async function lockAnomalyOfPayin(tx: Tx, anomaly: AnomalyOfPayin): Promise<Anomaly | null> {
  const [row] = await tx.query<AnomalyRow>(LOCK, [anomaly.organizationId, anomaly.payinId, anomaly.id]);
  return row ? anomalyOf(row) : null;
}

const RESOLUTION = "resolved_at = caudal.now(), resolution = 'credit', resolved_by = a.accepted_by";
const RETURNING = `returning ${ANOMALY_COLUMNS.replaceAll(/\w+/g, 'a.$&')}`;

const DUE =
  'accepted_at is not null and resolved_at is null and (posting_due_at is null or posting_due_at <= caudal.now())';

/** As a condition, for the poll of all due work. */
export const ACCEPTANCES_DUE = `exists (select from caudal.anomalies where ${DUE})`;

const RESOLVE_DUE = statement(
  'acceptance.resolve-due',
  `with due as (
     select organization_id, id from caudal.anomalies where ${DUE}
     order by accepted_at limit $1 for update skip locked
   )
   update caudal.anomalies a set ${RESOLUTION}
   from due where a.organization_id = due.organization_id and a.id = due.id
   ${RETURNING}`,
);

/** Resolves up to `limit` accepted anomalies, the longest waiting first. The caller books them in this transaction. */
export async function resolveAccepted(tx: Tx, limit: number): Promise<Anomaly[]> {
  return (await tx.query<AnomalyRow>(RESOLVE_DUE, [limit])).map(anomalyOf);
}

const RESOLVE_ONE = statement(
  'acceptance.resolve-one',
  `update caudal.anomalies a set ${RESOLUTION}
   where a.organization_id = $1 and a.id = $2 and a.accepted_at is not null and a.resolved_at is null
   ${RETURNING}`,
);

/** @returns none when another worker has resolved it meanwhile */
export async function resolveAcceptedOne(
  tx: Tx,
  { organizationId, id }: Pick<Anomaly, 'organizationId' | 'id'>,
): Promise<Anomaly[]> {
  return (await tx.query<AnomalyRow>(RESOLVE_ONE, [organizationId, id])).map(anomalyOf);
}

const POSTPONE = statement(
  'acceptance.postpone',
  `update caudal.anomalies set posting_due_at = caudal.now() + make_interval(secs => $3::float8 / 1000)
   where organization_id = $1 and id = $2 and resolved_at is null`,
);

/** Its booking failed: it is tried again later, and those behind it go first. */
export async function postponePosting(
  tx: Tx,
  { organizationId, id }: Pick<Anomaly, 'organizationId' | 'id'>,
  afterMs: number,
): Promise<void> {
  await tx.query(POSTPONE, [organizationId, id, afterMs]);
}
