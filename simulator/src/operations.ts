export type Rail = 'BRE_B' | 'PSE';

/** Operations of each rail. Faults target these names, and calls are counted by them. */
export const OPERATIONS = {
  BRE_B: [
    'token',
    'register',
    'close',
    'query',
    'resolve',
    'order',
    'order-query',
    'order-list',
    'payment-list',
  ],
  PSE: ['banks', 'create', 'query', 'transaction-list'],
} as const satisfies Record<Rail, readonly string[]>;

export type Operation = (typeof OPERATIONS)[Rail][number];

/** Target of a fault: a call on a rail, or the notices a rail sends. */
export type FaultTarget = Operation | 'notice';
