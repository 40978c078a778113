import { bytes, copied, insertSelect, uuid } from '../db/columns.ts';
import { failedStatement, isLockTimeout } from '../db/failures.ts';
import { type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

const COLUMNS = {
  organization_id: uuid,
  /** Hash of the operation and the idempotency key: the same key may be used for another operation. */
  key_hash: bytes,
  body_hash: bytes,
  /** The id of the resource if this reservation succeeds. */
  resource_id: uuid,
};
const RESERVATIONS = new RowSet(COLUMNS);

export type IdempotencyReservation = RecordOf<typeof RESERVATIONS>;

export interface IdempotencyHolder {
  readonly resourceId: string;
  readonly bodyHash: Buffer;
}

/**
 * `do update` instead of `do nothing`: a response based on an existing row must survive a failover too, and only a
 * transaction that writes waits for synchronous replication. `moment` is materialized, because evaluating it per row costs
 * as much as the insert.
 */
const RESERVE = statement(
  'idempotency.reserve',
  `with moment as materialized (select caudal.now() as at)
   ${insertSelect('caudal.idempotency_keys', { ...copied(COLUMNS), created_at: 'at' })} from moment, ${RESERVATIONS.as('reservation')}
   on conflict on constraint idempotency_key_once do update set repeats = idempotency_keys.repeats + 1
   returning resource_id, body_hash, key_hash`,
);

/**
 * Reserves idempotency keys. A concurrent reservation of the same key waits for the first to commit.
 * @param reservations sorted by organization and key hash, without duplicates, so that concurrent batches cannot deadlock
 * @returns the holder of each key, in the given order
 */
export async function reserveIdempotencyKeys(
  tx: Tx,
  reservations: readonly IdempotencyReservation[],
): Promise<IdempotencyHolder[]> {
  if (reservations.length === 0) return [];
  const rows = await tx.query<{ resource_id: string; body_hash: Buffer; key_hash: Buffer }>(
    RESERVE,
    RESERVATIONS.parameters(reservations),
  );
  return reservations.map((reservation, index) => {
    const row = rows[index];
    if (!row?.key_hash.equals(reservation.keyHash))
      throw new Error('reservations were returned in a different order');
    return { resourceId: row.resource_id, bodyHash: row.body_hash };
  });
}

/** Whether a reservation timed out waiting for a lock, on the same key or on the whole table. */
export function isReservationTimeout(error: unknown): boolean {
  return isLockTimeout(error) && failedStatement(error) === RESERVE.name;
}

const LOCK_TABLE = statement(
  'idempotency.lock-table',
  'lock table caudal.idempotency_keys in row exclusive mode nowait',
);

/**
 * Fails with a lock timeout when a migration or maintenance has locked the table: then a reservation did not wait for
 * another holder of its key.
 */
export async function lockIdempotencyTable(tx: Tx): Promise<void> {
  await tx.query(LOCK_TABLE);
}

const RELEASE = statement(
  'idempotency.release',
  `delete from caudal.idempotency_keys i using ${RESERVATIONS.as('reservation')}
   where i.organization_id = reservation.organization_id and i.key_hash = reservation.key_hash and i.resource_id = reservation.resource_id`,
);

/** Releases the keys of commands that created nothing: only successful creations are replayed. */
export async function releaseIdempotencyKeys(
  tx: Tx,
  reservations: readonly IdempotencyReservation[],
): Promise<void> {
  if (reservations.length > 0) await tx.query(RELEASE, RESERVATIONS.parameters(reservations));
}

const PURGE = statement(
  'idempotency.purge',
  `delete from caudal.idempotency_keys where ctid = any (array(
     select ctid from caudal.idempotency_keys where created_at < caudal.now() - interval '30 days' order by created_at limit 5000))
   returning 1`,
);

/** @returns the number of deleted rows; call again while it is not zero */
export async function purgeIdempotencyKeys(tx: Pick<Tx, 'query'>): Promise<number> {
  return (await tx.query(PURGE)).length;
}
