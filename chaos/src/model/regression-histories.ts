import type { Step } from './step.ts';

export interface RegressionHistory {
  /** The bug that it found, or the behavior that it verifies. */
  readonly name: string;
  readonly steps: readonly Step[];
}

const BREB: Step = {
  do: 'create',
  rail: 'BRE_B',
  cents: 250_000,
  payer: 'plain',
  idempotent: true,
  api: 0,
  awaitIdle: true,
};
const PSE: Step = { ...BREB, rail: 'PSE' };
const PAYS: Step = { do: 'pay', nth: 0, share: 'full', times: 1, anyway: false };

/**
 * Histories that once failed, and cases that should not depend on random draws. They run before the random histories. A
 * failing run prints its steps in this format.
 */
export const REGRESSION_HISTORIES: readonly RegressionHistory[] = [
  {
    name: 'a payment settles only after the rail answers a query',
    steps: [
      BREB,
      PSE,
      { do: 'fault', rail: 'BRE_B', on: 'close', fault: 'down', times: 3 },
      { do: 'fault', rail: 'PSE', on: 'query', fault: 'down', times: 3 },
      PAYS,
      { ...PAYS, nth: 1 },
      { do: 'await_faults', count: 2 },
      { do: 'settle' },
      { do: 'clear', awaitIdle: true },
      { do: 'settle', awaitIdle: true },
    ],
  },
  {
    name: 'paid at the moment of expiry',
    steps: [BREB, { do: 'race', nth: 0, with: 'payment', awaitIdle: true }],
  },
  {
    name: 'rejected, then paid before a poll: the payin is confirmed and the rejection is an anomaly',
    steps: [
      PSE,
      { do: 'fault', rail: 'PSE', on: 'notice', fault: 'down', times: 1 },
      { do: 'end', nth: 0, how: 'refused', anyway: false },
      { ...PAYS, anyway: true },
      { do: 'clear', awaitIdle: true },
      { do: 'read', nth: 0 },
    ],
  },
  {
    name: 'notices of an hour arrive at once, long after the polls',
    steps: [
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'down', times: 1 },
      BREB,
      BREB,
      BREB,
      PAYS,
      { ...PAYS, nth: 1, share: 'less', times: 2 },
      { do: 'end', nth: 2, how: 'limit', anyway: false },
      { do: 'shift', seconds: 3660, awaitIdle: true },
      { do: 'clear', awaitIdle: true },
    ],
  },
  {
    name: 'the rail loses its responses to the first orders',
    steps: [
      { do: 'fault', rail: 'BRE_B', on: 'open', fault: 'lost-answer', times: 1 },
      { do: 'fault', rail: 'PSE', on: 'open', fault: 'lost-answer', times: 1 },
      BREB,
      PSE,
      { do: 'shift', seconds: 2, awaitIdle: true },
      { ...PAYS, awaitIdle: true },
      { ...PAYS, nth: 1, awaitIdle: true },
    ],
  },
  {
    name: 'the notice and the poll are lost, and closing the key finds the payment',
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 },
      { ...PAYS, share: 'more' },
      { do: 'fault', rail: 'BRE_B', on: 'query', fault: 'lost-answer', times: 1 },
      { do: 'shift', seconds: 31, awaitIdle: true },
      { do: 'fault', rail: 'BRE_B', on: 'close', fault: 'lost-answer', times: 1 },
      { do: 'shift', seconds: 3660, awaitIdle: true },
    ],
  },
  {
    name: 'the response to closing is lost, then a payment in flight arrives',
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'close', fault: 'lost-answer', times: 1 },
      { do: 'shift', seconds: 3660, awaitIdle: true },
      { ...PAYS, anyway: true, awaitIdle: true },
    ],
  },
  {
    // Seed 20261115, history 1540: a poll left over from an earlier history ran during this one.
    name: 'the last poll finds a second and a late payment without notices',
    steps: [
      BREB,
      BREB,
      { ...PAYS, awaitIdle: true },
      { do: 'shift', seconds: 3660, awaitIdle: true },
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 2 },
      { ...PAYS, anyway: true },
      { ...PAYS, nth: 1, anyway: true, awaitIdle: true },
    ],
  },
  {
    name: 'payments of the same and of different payins contend for the balance, then settle',
    steps: [
      BREB,
      BREB,
      { do: 'contend', nth: 0, other: 0, awaitIdle: true },
      { do: 'contend', nth: 0, other: 1, awaitIdle: true },
      { do: 'settle' },
      { do: 'balance', awaitIdle: true },
    ],
  },
  {
    name: 'the same request runs concurrently on both APIs, for both rails, with and without an idempotency key',
    steps: [
      { do: 'concurrent_payins', rail: 'BRE_B', cents: 250_000, payer: 'plain', idempotent: true },
      { do: 'concurrent_payins', rail: 'BRE_B', cents: 250_000, payer: 'plain', idempotent: false },
      { do: 'concurrent_payins', rail: 'PSE', cents: 250_000, payer: 'plain', idempotent: true },
      {
        do: 'concurrent_payins',
        rail: 'PSE',
        cents: 250_000,
        payer: 'none',
        idempotent: false,
        awaitIdle: true,
      },
      { do: 'repeat', nth: 0, how: 'same', api: 1 },
      { do: 'repeat', nth: 2, how: 'other_body', api: 0 },
      { do: 'repeat', nth: 3, how: 'other_key', api: 1 },
    ],
  },
  {
    name: 'an underpayment and an overpayment are accepted concurrently on both APIs, and again later',
    steps: [
      BREB,
      BREB,
      { ...PAYS, share: 'less' },
      { ...PAYS, nth: 1, share: 'more', awaitIdle: true },
      { do: 'accept', nth: 0 },
      { do: 'accept', nth: 1, awaitIdle: true },
      { do: 'accept', nth: 0 },
      { do: 'balance', awaitIdle: true },
    ],
  },
];
