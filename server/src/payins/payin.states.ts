/**
 * The life of a payin on one screen. A state that leads nowhere is final and absorbs whatever comes later; each move
 * leaves a row in `payin_history`, whose key allows one move out of a state.
 */
export const PAYIN_STATES = {
  PENDING: ['PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'],
  PROCESSING: ['CONFIRMED', 'DECLINED', 'CANCELED'],
  CONFIRMED: [],
  DECLINED: [],
  CANCELED: [],
} as const;

export type PayinStatus = keyof typeof PAYIN_STATES;

export const PAYIN_STATUSES = Object.keys(PAYIN_STATES) as [PayinStatus, ...PayinStatus[]];

/** `from_status` of the row that records the creation. */
export const NOT_YET = 'NONE';
