import { ApiError, type Caudal, type Payout } from '@caudal/sdk';
import type { Payment } from './payroll.ts';

/** What is known of a payment before any money moves. */
export interface Checked {
  readonly payment: Payment;
  /** Who holds the key, as far as the directory shows: `Jan*** Smi*** at Banco Prueba`. */
  readonly holder: string;
  /** Why it is not paid; null when it can be. */
  readonly trouble: string | null;
  /** Proof of the lookup: should the key change hands before the money leaves, the payout is declined. */
  readonly lookupId: string | null;
  /** The payout that already has this reference. */
  readonly earlier: Payout | null;
}

/** The dry run: asks whose each key is, and whether the reference was used before. Moves nothing. */
export async function lookUp(caudal: Caudal, payment: Payment): Promise<Checked> {
  const { data: earlier } = await caudal.payouts.list({ reference: payment.reference });
  if (earlier[0]) return { payment, holder: '', trouble: null, lookupId: null, earlier: earlier[0] };
  try {
    const { details, match, lookupId } = await caudal.breb.lookUp(payment.key, {
      name: payment.customer.name,
    });
    const holder = `${details.name}, ${details.bankName}`;
    const trouble = match?.name === 'NONE' ? `the key is somebody else's: ${holder}` : null;
    return { payment, holder, trouble, lookupId, earlier: null };
  } catch (error) {
    // What the directory says of this key is trouble of this row; that it cannot be asked is trouble of the whole run.
    if (!(error instanceof ApiError) || !error.code.startsWith('breb_key_')) throw error;
    return { payment, holder: '', trouble: error.title, lookupId: null, earlier: null };
  }
}
