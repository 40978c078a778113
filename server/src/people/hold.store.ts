import { queryRecords, queryRow } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

/** A legal hold as stored: the identifier is encrypted with the operator organization's data key. */
export interface StoredHold {
  readonly id: string;
  readonly person: Buffer;
  readonly identifier: Buffer;
  readonly reason: string;
  readonly placedBy: string;
  readonly placedAt: Date;
}

const LIST = statement(
  'person-hold.list',
  'select id, person, identifier, reason, placed_by, placed_at from caudal.person_holds where organization_id = $1 order by id',
);

export function listHolds(tx: Pick<Tx, 'query'>, operatorOrganizationId: string): Promise<StoredHold[]> {
  return queryRecords(tx, LIST, [operatorOrganizationId]);
}

const INSERT = statement(
  'person-hold.insert',
  `insert into caudal.person_holds (organization_id, id, person, identifier, reason, placed_by) values ($1, $2, $3, $4, $5, $6)
   on conflict on constraint person_hold_once do nothing returning id`,
);

/** @returns false when the person is already held */
export async function insertHold(
  tx: Tx,
  operatorOrganizationId: string,
  { id, person, identifier, reason, placedBy }: Omit<StoredHold, 'placedAt'>,
): Promise<boolean> {
  const values = [operatorOrganizationId, id, person, identifier, reason, placedBy];
  return (await queryRow(tx, INSERT, values)) !== null;
}

const DELETE = statement(
  'person-hold.delete',
  'delete from caudal.person_holds where organization_id = $1 and person = $2 returning id',
);

/** @returns false when the person is not held */
export async function deleteHold(tx: Tx, operatorOrganizationId: string, person: Buffer): Promise<boolean> {
  return (await queryRow(tx, DELETE, [operatorOrganizationId, person])) !== null;
}
