import type { CauseKind, Transfer } from './transfer.ts';

/**
 * Which bookings an operator can reverse: those that moved money between accounts of ours only. Money that came or left
 * by a rail is corrected at the rail. `partly`: by a part of the amount too. `wholly`: only by the whole amount, because
 * what the booking resolved is open again afterwards.
 */
export const REVERSIBLE: Readonly<Record<CauseKind, 'no' | 'partly' | 'wholly'>> = {
  deposit: 'partly',
  // Credits, charges and write-offs. A return leaves by a rail and is booked as a payout.
  anomaly: 'wholly',
  // A mistaken reversal is put right by a new deposit or a new resolution.
  reversal: 'no',
  payment: 'no',
  payment_excess: 'no',
  payment_reversal: 'no',
  payment_relisted: 'no',
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
