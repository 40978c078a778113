import type { CauseKind, Transfer } from './transfer.ts';

/**
 * The postings that an operator can reverse: those that moved money only between our own accounts. Money that entered or
 * left through a rail is corrected at the rail. `partly`: a partial amount is possible. `wholly`: only the whole amount,
 * because the reversal reopens what the posting resolved.
 */
export const REVERSIBLE: Readonly<Record<CauseKind, 'no' | 'partly' | 'wholly'>> = {
  deposit: 'partly',
  // Credits, charges and write-offs. A return leaves through a rail and is posted as a payout.
  anomaly: 'wholly',
  // A mistaken reversal is corrected with a new deposit or a new resolution.
  reversal: 'no',
  payment: 'no',
  payment_excess: 'no',
  payment_reversal: 'no',
  payment_relisted: 'no',
  link_parts: 'no',
  settlement: 'no',
  payout_hold: 'no',
  payout_release: 'no',
  payout: 'no',
  execution: 'no',
};

/** A transfer is reversed at most once. */
export function reversalCause(transferId: string): Transfer['cause'] {
  return { kind: 'reversal', id: transferId };
}
