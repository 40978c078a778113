/** The life of a payment link on one screen. A state that leads nowhere is final; each has its one event. */
export const LINK_STATES = {
  PENDING: ['COMPLETED', 'EXPIRED'],
  COMPLETED: [],
  EXPIRED: [],
} as const;

export type LinkStatus = keyof typeof LINK_STATES;

export const LINK_STATUSES = Object.keys(LINK_STATES) as [LinkStatus, ...LinkStatus[]];
