import { isLockTimeout, statementOf } from '../db/failures.ts';
import { statement, type Tx } from '../db/tx.ts';

export interface IdempotencyReservation {
  readonly organizationId: string;
  /** Of the operation and the key together: the same key may be used for another operation. */
  readonly keyHash: Buffer;
  readonly bodyHash: Buffer;
  /** The id the resource will have if the claim is won. */
  readonly resourceId: string;
}

export interface IdempotencyHolder {
  readonly resourceId: string;
  readonly bodyHash: Buffer;
}

/**
 * "Do update" and not "do nothing": an answer given from a row that is already there is a promise too, and only a
 * transaction that wrote something waits for the standby to have it. The moment is materialized: asked for in every
 * row, it costs as much as the insert.
 */
const CLAIM = statement(
  'idempotency.claim',
  `with moment as materialized (select caudal.now() as at)
   insert into caudal.idempotency_keys (organization_id, key_hash, body_hash, resource_id, created_at)
   select organization_id, key_hash, body_hash, resource_id, at
   from moment, unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::uuid[]) as claim (organization_id, key_hash, body_hash, resource_id)
   on conflict on constraint idempotency_key_once do update set repeats = idempotency_keys.repeats + 1
   returning resource_id, body_hash, key_hash`,
);

/**
 * Claims keys for their commands; answers who holds each, in the order of the claims. A concurrent claim of the same
 * key waits for the first to commit.
 * @param claims sorted by organization and key, no two equal: two batches then wait for each other, never in a circle
 */
export async function reserveIdempotencyKeys(
  tx: Tx,
  claims: readonly IdempotencyReservation[],
): Promise<IdempotencyHolder[]> {
  if (claims.length === 0) return [];
  const rows = await tx.query<{ resource_id: string; body_hash: Buffer; key_hash: Buffer }>(CLAIM, [
    claims.map((claim) => claim.organizationId),
    claims.map((claim) => claim.keyHash),
    claims.map((claim) => claim.bodyHash),
    claims.map((claim) => claim.resourceId),
  ]);
  return claims.map((claim, index) => {
    const row = rows[index];
    if (!row?.key_hash.equals(claim.keyHash)) throw new Error('claims came back in another order');
    return { resourceId: row.resource_id, bodyHash: row.body_hash };
  });
}

/** Whether the claim of a key waited too long, for another holder of it or for the whole table. */
export function isReservationTimeout(error: unknown): boolean {
  return isLockTimeout(error) && statementOf(error) === CLAIM.name;
}

const LOCK_TABLE = statement(
  'idempotency.lock-table',
  'lock table caudal.idempotency_keys in row exclusive mode nowait',
);

/**
 * Fails with a lock timeout when the table itself is locked, by a migration or by maintenance: then a claim did not wait
 * for a holder of its key.
 */
export async function lockIdempotencyTable(tx: Tx): Promise<void> {
  await tx.query(LOCK_TABLE);
}

const RELEASE = statement(
  'idempotency.release',
  `delete from caudal.idempotency_keys i using unnest($1::uuid[], $2::bytea[], $3::uuid[]) as claim (organization_id, key_hash, resource_id)
   where i.organization_id = claim.organization_id and i.key_hash = claim.key_hash and i.resource_id = claim.resource_id`,
);

/** Takes back claims of commands that came to nothing: only what was created is remembered. */
export async function releaseIdempotencyKeys(
  tx: Tx,
  claims: readonly IdempotencyReservation[],
): Promise<void> {
  if (claims.length === 0) return;
  await tx.query(RELEASE, [
    claims.map((claim) => claim.organizationId),
    claims.map((claim) => claim.keyHash),
    claims.map((claim) => claim.resourceId),
  ]);
}

const PURGE = statement(
  'idempotency.purge',
  `delete from caudal.idempotency_keys where ctid = any (array(
     select ctid from caudal.idempotency_keys where created_at < caudal.now() - interval '30 days' order by created_at limit 5000))
   returning 1`,
);

/** @returns how many rows left; call again while it is not zero */
export async function purgeIdempotencyKeys(tx: Pick<Tx, 'query'>): Promise<number> {
  return (await tx.query(PURGE)).length;
}
