export type Rail = 'BRE_B' | 'PSE';

/** What each rail offers. Faults are aimed at these names and calls are counted by them. */
export const OPERATIONS = {
  BRE_B: ['token', 'register', 'close', 'query', 'resolve', 'order', 'order-query'],
  PSE: ['banks', 'create', 'query'],
} as const satisfies Record<Rail, readonly string[]>;

export type Operation = (typeof OPERATIONS)[Rail][number];

/** What a fault may be aimed at: a call on a rail, or the notices that a rail sends. */
export type FaultTarget = Operation | 'notice';
