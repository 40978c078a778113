import { queryRow } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

export type VerifiedBy = 'schedule' | 'command';

export interface LastVerification {
  readonly at: Date;
  readonly by: VerifiedBy;
  readonly inconsistencies: number;
  /** False: it stopped after many inconsistent rows, before the remaining checks. */
  readonly complete: boolean;
}

const READ = statement(
  'ledger-status.read',
  'select suspense_in_cents::text as suspense, verified_at, verified_by, inconsistencies, complete from caudal.ledger_status',
);

interface StatusRow {
  readonly suspense: string | null;
  readonly verified_at: Date | null;
  readonly verified_by: VerifiedBy | null;
  readonly inconsistencies: number | null;
  readonly complete: boolean | null;
}

/** Null: never verified, or not computed yet. */
export async function readLedgerStatus(db: Pick<Tx, 'query'>): Promise<{
  readonly verification: LastVerification | null;
  readonly suspense: bigint | null;
}> {
  const row = await queryRow<StatusRow>(db, READ);
  const verification =
    row?.verified_at && row.verified_by
      ? {
          at: row.verified_at,
          by: row.verified_by,
          inconsistencies: row.inconsistencies ?? 0,
          complete: row.complete ?? false,
        }
      : null;
  return { verification, suspense: row?.suspense ? BigInt(row.suspense) : null };
}

const MOMENT = statement('ledger-status.moment', 'select clock_timestamp() as at');

/** The real time of the database. */
export async function readMoment(tx: Tx): Promise<Date> {
  const row = await queryRow<{ at: Date }>(tx, MOMENT);
  if (!row) throw new Error('the database returned no time');
  return row.at;
}

const RECORD = statement(
  'ledger-status.record',
  // The time is that of the snapshot: a verification that began later may have ended before.
  `update caudal.ledger_status set verified_at = $1, verified_by = $2, inconsistencies = $3, complete = $4
   where verified_at is null or verified_at <= $1`,
);

export async function recordVerification(
  db: Pick<Tx, 'query'>,
  { at, by, inconsistencies, complete }: LastVerification,
): Promise<void> {
  await db.query(RECORD, [at, by, inconsistencies, complete]);
}

const RECORD_SUSPENSE = statement(
  'ledger-status.suspense',
  'update caudal.ledger_status set suspense_in_cents = $1 where suspense_in_cents is distinct from $1',
);

export async function recordSuspense(db: Pick<Tx, 'query'>, cents: bigint): Promise<void> {
  await db.query(RECORD_SUSPENSE, [cents.toString()]);
}
