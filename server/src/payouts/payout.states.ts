/**
 * The payout state machine. A state without transitions is final. Each transition writes a row to `payout_history`, whose
 * primary key allows one transition out of a state.
 */
export const PAYOUT_STATES = {
  PROCESSING: ['CONFIRMED', 'DECLINED', 'CANCELED'],
  CONFIRMED: [],
  DECLINED: [],
  CANCELED: [],
} as const;

export type PayoutStatus = keyof typeof PAYOUT_STATES;

export const PAYOUT_STATUSES = Object.keys(PAYOUT_STATES) as [PayoutStatus, ...PayoutStatus[]];

/** Later rail updates do not change a final state. */
export function isFinal(status: PayoutStatus): boolean {
  return PAYOUT_STATES[status].length === 0;
}

/** `from_status` of the row that records the creation. */
export const NO_STATUS = 'NONE';
