import type { RowId } from '../db/columns.ts';
import { queryRecords, ROW_IDS } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Cents } from '../kit/money.ts';
import type { Rail } from '../rails/contract.ts';

/** A payment that an attempt of a link received and that did not reach the amount. */
export interface LinkPart {
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly payinId: string;
  readonly rail: Rail;
  readonly brebKey: string | null;
  readonly executionId: string;
  readonly amount: Cents;
}

const OF_LINKS = statement(
  'link-part.of-links',
  `select p.organization_id, p.id as payin_id, p.rail, p.breb_key,
     p.payment_execution_id as execution_id, p.confirmed_amount_in_cents as amount_in_cents,
     (select o.number from caudal.organizations o where o.id = p.organization_id) as organization_number
   from ${ROW_IDS.as('w')}
   join caudal.payins p on p.organization_id = w.organization_id and p.payment_link_id = w.id and p.error_code = 'UNDERPAID'
   order by p.organization_id, p.id`,
);

/** The underpaid attempts of these links. */
export async function linkParts(tx: Tx, links: readonly RowId[]): Promise<LinkPart[]> {
  return links.length === 0 ? [] : queryRecords(tx, OF_LINKS, ROW_IDS.parameters(links));
}
