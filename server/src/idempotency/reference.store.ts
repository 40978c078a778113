import { text, uuid } from '../db/columns.ts';
import { type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

export type ReferenceKind = 'payin' | 'payout' | 'payment_link';

const RESERVATIONS = new RowSet({ organization_id: uuid, reference: text(), resource_id: uuid });
const KIND = RESERVATIONS.scalar(1);

export type ReferenceReservation = RecordOf<typeof RESERVATIONS>;

/** `do update` for the same reason as with idempotency keys: a 409 must survive a failover. */
const RESERVE = statement(
  'reference.reserve',
  `insert into caudal.resource_references (organization_id, kind, reference, resource_id)
   select organization_id, ${KIND}, reference, resource_id from ${RESERVATIONS.as('reservation')}
   on conflict on constraint reference_once do update set repeats = resource_references.repeats + 1
   returning resource_id, reference`,
);

/**
 * Reserves references permanently.
 * @param reservations sorted by organization and reference, without duplicates
 * @returns the resource that holds each reference, in the given order
 */
export async function reserveReferences(
  tx: Tx,
  kind: ReferenceKind,
  reservations: readonly ReferenceReservation[],
): Promise<string[]> {
  if (reservations.length === 0) return [];
  const rows = await tx.query<{ resource_id: string; reference: string }>(RESERVE, [
    ...RESERVATIONS.parameters(reservations),
    kind,
  ]);
  return reservations.map((reservation, index) => {
    const row = rows[index];
    if (row?.reference !== reservation.reference)
      throw new Error('reservations were returned in a different order');
    return row.resource_id;
  });
}

const RELEASE = statement(
  'reference.release',
  `delete from caudal.resource_references r using ${RESERVATIONS.as('reservation')}
   where r.organization_id = reservation.organization_id and r.kind = ${KIND} and r.reference = reservation.reference and r.resource_id = reservation.resource_id`,
);

/** Releases the references of commands that created nothing. */
export async function releaseReferences(
  tx: Tx,
  kind: ReferenceKind,
  reservations: readonly ReferenceReservation[],
): Promise<void> {
  if (reservations.length > 0) await tx.query(RELEASE, [...RESERVATIONS.parameters(reservations), kind]);
}
