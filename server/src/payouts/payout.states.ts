/**
 * The life of a payout on one screen. A state that leads nowhere is final and absorbs whatever comes later; each move
 * leaves a row in `payout_history`, whose key allows one move out of a state.
 */
export const PAYOUT_STATES = {
  PROCESSING: ['CONFIRMED', 'DECLINED', 'CANCELED'],
  CONFIRMED: [],
  DECLINED: [],
  CANCELED: [],
} as const;

export type PayoutStatus = keyof typeof PAYOUT_STATES;

export const PAYOUT_STATUSES = Object.keys(PAYOUT_STATES) as [PayoutStatus, ...PayoutStatus[]];

/** A final state absorbs whatever comes later. */
export function isFinal(status: PayoutStatus): boolean {
  return PAYOUT_STATES[status].length === 0;
}

/** `from_status` of the row that records the creation. */
export const NOT_YET = 'NONE';
