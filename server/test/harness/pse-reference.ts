import { resourceReference } from '../../src/kit/resource-reference.ts';
import type { TestDatabase } from './database.ts';

/** The reference under which PSE knows a payin. */
export async function readPseReference(database: TestDatabase, payinId: string): Promise<string> {
  const [row] = await database.query<{ number: number }>(
    'select o.number from caudal.organizations o join caudal.payins p on p.organization_id = o.id where p.id = $1',
    [payinId],
  );
  return resourceReference(payinId, row?.number ?? 0);
}
