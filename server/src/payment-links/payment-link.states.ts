/** Allowed transitions of a payment link. A state without transitions is final; each final state has one event. */
export const LINK_STATES = {
  PENDING: ['COMPLETED', 'EXPIRED'],
  COMPLETED: [],
  EXPIRED: [],
} as const;

export type LinkStatus = keyof typeof LINK_STATES;

export const LINK_STATUSES = Object.keys(LINK_STATES) as [LinkStatus, ...LinkStatus[]];
