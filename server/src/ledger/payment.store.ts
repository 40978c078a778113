import type { RowId } from '../db/columns.ts';
import { queryRecord } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { SharedAccount } from './transfer.ts';

const POSTED = statement(
  'payment.posted',
  // Transfers have no index by resource. The scanned id range is short, and only an operator command runs this.
  `select t.debit_account as clearing, t.amount_in_cents, t.cause_id from caudal.ledger_transfers t
   where t.organization_id = $1 and t.id >= caudal.uuid_floor($3::timestamptz - interval '1 day') and t.resource_id = $2
     and t.cause_kind in ('payment', 'payment_relisted') and t.credit_account = 'pending'`,
);

interface BookedPayment {
  readonly clearing: SharedAccount;
  readonly amount: bigint;
  readonly causeId: string;
}

/** The payment of a payin as posted for its merchant; the cause id contains its rail and execution. */
export function bookedPayment(
  tx: Tx,
  { organizationId, id, since }: RowId & { readonly since: Date },
): Promise<BookedPayment | null> {
  return queryRecord(tx, POSTED, [organizationId, id, since]);
}
