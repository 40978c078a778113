import { ApiError, type Caudal, type Payout } from '@caudal/sdk';
import type { Payment } from './payroll.ts';

/** Result of the checks before any money is sent. */
export interface Checked {
  readonly payment: Payment;
  /** Masked holder of the key from the directory, for example `JAN*** SMI***, BANCO PRUEBA`. */
  readonly holder: string;
  /** Why the payment cannot be sent; null when it can. */
  readonly problem: string | null;
  /** Id of the lookup: if the holder of the key changes before the payout is sent, the payout is declined. */
  readonly lookupId: string | null;
  /** The payout that already has this reference. */
  readonly earlier: Payout | null;
}

/** Dry run: looks up the holder of the key and whether the reference was used before. Sends no money. */
export async function lookUp(caudal: Caudal, payment: Payment): Promise<Checked> {
  const { data: earlier } = await caudal.payouts.list({ reference: payment.reference });
  if (earlier[0]) return { payment, holder: '', problem: null, lookupId: null, earlier: earlier[0] };
  try {
    const { details, match, lookupId } = await caudal.breb.lookUp(payment.key, {
      name: payment.customer.name,
    });
    const holder = `${details.name}, ${details.bankName}`;
    const problem = match?.name === 'NONE' ? `the key belongs to another person: ${holder}` : null;
    return { payment, holder, problem, lookupId, earlier: null };
  } catch (error) {
    // An error about this key is a problem of this row; an unavailable directory stops the whole run.
    if (!(error instanceof ApiError) || !error.code.startsWith('breb_key_')) throw error;
    return { payment, holder: '', problem: error.title, lookupId: null, earlier: null };
  }
}
