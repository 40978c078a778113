import type { Rail } from '../rails/contract.ts';

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

/** Where a payin begins: a Bre-B key can be paid at once, a PSE payin waits for its bank page. */
export const FIRST_STATUS = { BRE_B: 'PROCESSING', PSE: 'PENDING' } as const satisfies Record<Rail, string>;

export type PayinStatus = keyof typeof PAYIN_STATES;

export const PAYIN_STATUSES = Object.keys(PAYIN_STATES) as [PayinStatus, ...PayinStatus[]];

/** A final state absorbs whatever comes later. */
export function isFinal(status: PayinStatus): boolean {
  return PAYIN_STATES[status].length === 0;
}

/** The states from which a move to this one is legal, as a list for SQL: `where status in (…)` is the guard of every move. */
export function statesBefore(status: PayinStatus): string {
  const before = PAYIN_STATUSES.filter((each) => (PAYIN_STATES[each] as readonly string[]).includes(status));
  return before.map((each) => `'${each}'`).join(', ');
}

/** `from_status` of the row that records the creation. */
export const NOT_YET = 'NONE';
