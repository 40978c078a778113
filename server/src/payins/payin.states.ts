import type { Rail } from '../rails/contract.ts';

/**
 * The state machine of a payin. A state without successors is final and ignores later updates. Each transition inserts a
 * row into `payin_history`, whose primary key allows one transition out of a state.
 */
export const PAYIN_STATES = {
  PENDING: ['PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'],
  PROCESSING: ['CONFIRMED', 'DECLINED', 'CANCELED'],
  CONFIRMED: [],
  DECLINED: [],
  CANCELED: [],
} as const;

/** The initial status: a Bre-B key can be paid immediately, a PSE payin waits for its bank page. */
export const FIRST_STATUS = { BRE_B: 'PROCESSING', PSE: 'PENDING' } as const satisfies Record<Rail, string>;

export type PayinStatus = keyof typeof PAYIN_STATES;

export const PAYIN_STATUSES = Object.keys(PAYIN_STATES) as [PayinStatus, ...PayinStatus[]];

export function isFinal(status: PayinStatus): boolean {
  return PAYIN_STATES[status].length === 0;
}

/** The states that may transition to this one, as an SQL list: `where status in (…)` guards every transition. */
export function statesBefore(status: PayinStatus): string {
  const before = PAYIN_STATUSES.filter((each) => (PAYIN_STATES[each] as readonly string[]).includes(status));
  return before.map((each) => `'${each}'`).join(', ');
}

/** `from_status` of the history row that records the creation. */
export const NO_STATUS = 'NONE';
