import { queryRow } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Logo } from './logo.ts';

const SET = statement(
  'logo.set',
  `insert into caudal.organization_logos (organization_id, id, preview, header, icon) values ($1, $2, $3, $4, $5)
   on conflict (organization_id) do update set
     id = excluded.id, preview = excluded.preview, header = excluded.header, icon = excluded.icon, created_at = caudal.now()`,
);
const REMOVE = statement('logo.remove', 'delete from caudal.organization_logos where organization_id = $1');

/** @param logo null: removes the logo */
export async function setLogo(tx: Tx, organizationId: string, logo: Logo | null): Promise<void> {
  if (logo === null) await tx.query(REMOVE, [organizationId]);
  else await tx.query(SET, [organizationId, logo.id, logo.preview, logo.header, logo.icon]);
}

const FIND = statement(
  'logo.find',
  'select id, preview, header, icon from caudal.organization_logos where id = $1 limit 1',
);

export function findLogo(tx: Pick<Tx, 'query'>, id: string): Promise<Logo | null> {
  return queryRow<Logo>(tx, FIND, [id]);
}
