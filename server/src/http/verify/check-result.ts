import type { ReceiptState } from '../../flows/receipts/issue-receipt.ts';
import type { ReceiptFacts } from '../../receipts/receipt-facts.ts';
import type { Rejection } from '../../receipts/receipt-keys.ts';

/** What was found out about a receipt. */
export interface CheckResult {
  readonly verdict: 'authentic' | Rejection | 'unknown_code' | 'invalid_code' | 'busy' | 'code_offline';
  readonly facts: ReceiptFacts | null;
  /** `unknown`: the service has no receipt with this code. `offline`: the service could not be asked. */
  readonly state: ReceiptState | 'unknown' | 'offline';
}
