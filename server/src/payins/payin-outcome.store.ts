import { statement, type Tx } from '../db/tx.ts';
import type { RailErrorCode } from '../rails/contract.ts';
import { statesBefore } from './payin.states.ts';

interface Refusal {
  readonly organizationId: string;
  readonly id: string;
  readonly errorCode: RailErrorCode;
}

const DECLINE = statement(
  'payin-outcome.decline',
  `with refusal as (
     select * from unnest($1::uuid[], $2::uuid[], $3::text[]) as r (organization_id, id, error_code)
   ),
   open as (
     select p.organization_id, p.id, p.status from caudal.payins p
     join refusal r on p.organization_id = r.organization_id and p.id = r.id
     where p.status in (${statesBefore('DECLINED')})
     order by p.organization_id, p.id for update of p
   ),
   declined as (
     update caudal.payins p set
       status = 'DECLINED', error_code = r.error_code, result_at = caudal.now(), updated_at = caudal.now(),
       rail_task = null, rail_due_at = null, claimed_until = null, claim_token = null
     from refusal r, open o
     where p.organization_id = o.organization_id and p.id = o.id and r.organization_id = o.organization_id and r.id = o.id
   )
   insert into caudal.payin_history (organization_id, payin_id, from_status, to_status, cause, at)
   select organization_id, id, status, 'DECLINED', 'refused by the rail', caudal.now() from open`,
);

/** Ends open payins that their rail refused. A payin that has ended already stays as it is. */
export async function declinePayins(tx: Tx, refusals: readonly Refusal[]): Promise<void> {
  if (refusals.length === 0) return;
  await tx.query(DECLINE, [
    refusals.map((refusal) => refusal.organizationId),
    refusals.map((refusal) => refusal.id),
    refusals.map((refusal) => refusal.errorCode),
  ]);
}
