import { failedStatement, isLockTimeout } from '../db/failures.ts';
import { statement, type Tx } from '../db/tx.ts';

export interface IdempotencyReservation {
  readonly organizationId: string;
  /** Hash of the operation and the idempotency key: the same key may be used for another operation. */
  readonly keyHash: Buffer;
  readonly bodyHash: Buffer;
  /** The id of the resource if this reservation succeeds. */
  readonly resourceId: string;
}

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
   insert into caudal.idempotency_keys (organization_id, key_hash, body_hash, resource_id, created_at)
   select organization_id, key_hash, body_hash, resource_id, at
   from moment, unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::uuid[]) as reservation (organization_id, key_hash, body_hash, resource_id)
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
  const rows = await tx.query<{ resource_id: string; body_hash: Buffer; key_hash: Buffer }>(RESERVE, [
    reservations.map((reservation) => reservation.organizationId),
    reservations.map((reservation) => reservation.keyHash),
    reservations.map((reservation) => reservation.bodyHash),
    reservations.map((reservation) => reservation.resourceId),
  ]);
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
  `delete from caudal.idempotency_keys i using unnest($1::uuid[], $2::bytea[], $3::uuid[]) as reservation (organization_id, key_hash, resource_id)
   where i.organization_id = reservation.organization_id and i.key_hash = reservation.key_hash and i.resource_id = reservation.resource_id`,
);

/** Releases the keys of commands that created nothing: only successful creations are replayed. */
export async function releaseIdempotencyKeys(
  tx: Tx,
  reservations: readonly IdempotencyReservation[],
): Promise<void> {
  if (reservations.length === 0) return;
  await tx.query(RELEASE, [
    reservations.map((reservation) => reservation.organizationId),
    reservations.map((reservation) => reservation.keyHash),
    reservations.map((reservation) => reservation.resourceId),
  ]);
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
