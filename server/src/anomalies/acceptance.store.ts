import { queryRecord, queryRecords } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Actor } from '../kit/actor.ts';
import { ANOMALY_COLUMNS } from './anomaly.store.ts';
import type { Anomaly } from './anomaly.ts';

export interface AnomalyOfPayin {
  readonly organizationId: string;
  readonly payinId: string;
  readonly id: string;
}

const ACCEPT = statement(
  'acceptance.accept',
  // Waits for a concurrent resolution, which locks the row; after its commit the condition is false.
  `update caudal.anomalies set accepted_at = caudal.now(), accepted_by = $4
   where organization_id = $1 and payin_id = $2 and id = $3 and accepted_at is null and resolved_at is null and amount_in_cents > 0
   returning ${ANOMALY_COLUMNS}`,
);

/**
 * Records that the merchant accepts the money. Only the merchants' database role may write it.
 * @param by the API key
 * @returns null when the anomaly is unknown, has no money, or is already accepted or resolved
 */
export async function acceptAnomaly(tx: Tx, anomaly: AnomalyOfPayin, by: Actor): Promise<Anomaly | null> {
  const { organizationId, payinId, id } = anomaly;
  const [row] = await queryRecords<Anomaly>(tx, ACCEPT, [organizationId, payinId, id, by]);
  return row ?? null;
}

const LOCK = statement(
  'acceptance.lock',
  `select ${ANOMALY_COLUMNS} from caudal.anomalies where organization_id = $1 and payin_id = $2 and id = $3 for update`,
);

/** Locking writes to the row, so that the response waits for synchronous replication. */
export function lockAnomalyOfPayin(tx: Tx, anomaly: AnomalyOfPayin): Promise<Anomaly | null> {
  return queryRecord(tx, LOCK, [anomaly.organizationId, anomaly.payinId, anomaly.id]);
}

const RESOLUTION = "resolved_at = caudal.now(), resolution = 'credit', resolved_by = a.accepted_by";
const RETURNING = `returning ${ANOMALY_COLUMNS.replaceAll(/\w+/g, 'a.$&')}`;

const DUE =
  'accepted_at is not null and resolved_at is null and (posting_due_at is null or posting_due_at <= caudal.now())';

/** SQL condition: an accepted anomaly is due to be posted. */
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

/** Resolves up to `limit` accepted anomalies, oldest first. The caller posts their transfers in this transaction. */
export async function resolveAccepted(tx: Tx, limit: number): Promise<Anomaly[]> {
  return queryRecords(tx, RESOLVE_DUE, [limit]);
}

const RESOLVE_ONE = statement(
  'acceptance.resolve-one',
  `update caudal.anomalies a set ${RESOLUTION}
   where a.organization_id = $1 and a.id = $2 and a.accepted_at is not null and a.resolved_at is null
   ${RETURNING}`,
);

/** @returns an empty list when another worker has already resolved it */
export async function resolveAcceptedOne(
  tx: Tx,
  { organizationId, id }: Pick<Anomaly, 'organizationId' | 'id'>,
): Promise<Anomaly[]> {
  return queryRecords(tx, RESOLVE_ONE, [organizationId, id]);
}

const POSTPONE = statement(
  'acceptance.postpone',
  `update caudal.anomalies set posting_due_at = caudal.now() + make_interval(secs => $3::float8 / 1000)
   where organization_id = $1 and id = $2 and resolved_at is null`,
);

/** Postpones an anomaly whose posting failed, so that the others go first. */
export async function postponePosting(
  tx: Tx,
  { organizationId, id }: Pick<Anomaly, 'organizationId' | 'id'>,
  afterMs: number,
): Promise<void> {
  await tx.query(POSTPONE, [organizationId, id, afterMs]);
}
