import type { RegressionHistory } from './regression-histories.ts';
import type { Step } from './step.ts';

const PAYOUT: Extract<Step, { do: 'payout' }> = {
  do: 'payout',
  to: 'ok',
  cents: 150_000,
  covered: true,
  lookUp: 'no',
  idempotent: true,
  api: 0,
};
/** A payout that is sent before the next step. */
const SENT = { ...PAYOUT, awaitIdle: true };
const LOOKED_UP = { ...PAYOUT, to: 'own', lookUp: 'named' } as const;
/** More than the network's limit per order; rejected at submission. */
const OVER_LIMIT = { ...PAYOUT, cents: 1_200_000_000 };

function orders(fault: 'down' | 'lost-answer' | 'reset' | 'hang' | 'slow' | 'rate-limited', times = 1): Step {
  return { do: 'fault', rail: 'BRE_B', on: 'order', fault, times };
}

const LOSES_NOTICE: Step = { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 };

/** Races and message losses that payouts must survive, independent of random draws. */
export const REGRESSION_PAYOUT_HISTORIES: readonly RegressionHistory[] = [
  {
    name: 'every kind of receiver with and without lookup, and insufficient funds',
    steps: [
      { ...PAYOUT, lookUp: 'newest' },
      { ...PAYOUT, to: 'declined', lookUp: 'named' },
      { ...PAYOUT, to: 'lost_answer', idempotent: false },
      { ...PAYOUT, to: 'suspended', api: 1 },
      { ...PAYOUT, to: 'missing', lookUp: 'newest' },
      { ...PAYOUT, to: 'never' },
      LOOKED_UP,
      OVER_LIMIT,
      { ...PAYOUT, covered: false, awaitIdle: true },
      { do: 'read_payout', nth: 8 },
      { do: 'balance' },
      { do: 'repeat_payout', nth: 8, how: 'same', api: 1 },
    ],
  },
  {
    name: 'the balance covers only one of two concurrent payouts',
    steps: [
      { do: 'competing_payouts', meet: true, awaitIdle: true },
      { do: 'competing_payouts', meet: false },
      { do: 'cancel', nth: 2, both: true, awaitIdle: true },
    ],
  },
  {
    name: 'the same request runs concurrently on both APIs and is then repeated in every way',
    steps: [
      { ...PAYOUT, do: 'concurrent_payouts' },
      { ...PAYOUT, do: 'concurrent_payouts', idempotent: false, lookUp: 'named', awaitIdle: true },
      { do: 'repeat_payout', nth: 0, how: 'same', api: 1 },
      { do: 'repeat_payout', nth: 0, how: 'other_body', api: 0 },
      { do: 'repeat_payout', nth: 1, how: 'other_key', api: 1 },
    ],
  },
  {
    name: 'a payout canceled while its order is about to be sent is canceled or sent, never both',
    steps: [
      { ...PAYOUT, do: 'payout_then_cancel', both: false },
      { ...PAYOUT, do: 'payout_then_cancel', both: true },
      { ...PAYOUT, do: 'payout_then_cancel', both: true, awaitIdle: true },
      PAYOUT,
      { do: 'cancel', nth: -1, both: true },
      PAYOUT,
      { do: 'lock', what: 'payout', nth: -1 },
      { do: 'release_locks' },
      { do: 'cancel', nth: -1, both: false, awaitIdle: true },
      { do: 'cancel', nth: 0, both: true },
      { do: 'cancel', nth: 1, both: true },
    ],
  },
  {
    name: 'the response and the notice are lost: a poll confirms the payout once',
    steps: [
      orders('lost-answer'),
      LOSES_NOTICE,
      SENT,
      { do: 'shift', seconds: 2 },
      { do: 'fault', rail: 'BRE_B', on: 'order-query', fault: 'lost-answer', times: 1 },
      { do: 'shift', seconds: 31, awaitIdle: true },
    ],
  },
  {
    name: 'an order that never arrived is resent only when no order can be in flight',
    steps: [
      orders('reset'),
      SENT,
      { do: 'shift', seconds: 3, awaitIdle: true },
      { do: 'shift', seconds: 31, awaitIdle: true },
      { do: 'shift', seconds: 15, awaitIdle: true },
    ],
  },
  {
    name: 'an order that the rail does not accept now is sent later; the payout can be canceled unless the rail may have an order',
    steps: [
      orders('rate-limited'),
      SENT,
      { do: 'shift', seconds: 3, awaitIdle: true },
      orders('rate-limited'),
      SENT,
      { do: 'cancel', nth: -1, both: true },
      orders('down'),
      SENT,
      orders('rate-limited'),
      { do: 'shift', seconds: 45, awaitIdle: true },
      { do: 'cancel', nth: -1, both: true },
      { do: 'shift', seconds: 45, awaitIdle: true },
    ],
  },
  {
    name: 'a resend is rejected at submission: the server polls the rail before it declines',
    steps: [
      orders('lost-answer'),
      { ...OVER_LIMIT, awaitIdle: true },
      { do: 'shift', seconds: 45, awaitIdle: true },
      { do: 'shift', seconds: 31, awaitIdle: true },
    ],
  },
  {
    name: 'all workers die between the commit and the call, then between the call and its record',
    steps: [
      { do: 'arm_workers', failpoint: 'BRE_B pay: before call' },
      PAYOUT,
      { do: 'await_worker_death' },
      { do: 'age_leases' },
      { do: 'cancel', nth: 0, both: false },
      { do: 'arm_workers', failpoint: 'record attempts: before commit' },
      { ...PAYOUT, to: 'never' },
      { do: 'await_worker_death' },
      { do: 'age_leases' },
      { do: 'shift', seconds: 45, awaitIdle: true },
      { do: 'end_order', nth: 1, how: 'settled', anyway: false, awaitIdle: true },
    ],
  },
  {
    name: 'an execution after a rejection goes to suspense',
    steps: [
      { ...SENT, to: 'declined' },
      { do: 'end_order', nth: 0, how: 'settled', anyway: true, awaitIdle: true },
      { do: 'end_order', nth: 0, how: 'settled', anyway: true, awaitIdle: true },
    ],
  },
  {
    name: 'the last poll finds an execution after a rejection without a notice',
    steps: [
      { ...SENT, to: 'declined' },
      LOSES_NOTICE,
      { do: 'end_order', nth: 0, how: 'settled', anyway: true },
      { do: 'shift', seconds: 61, awaitIdle: true },
    ],
  },
  {
    name: 'settled without a notice, then denied: the poll confirms the payout',
    steps: [
      { ...SENT, to: 'never' },
      LOSES_NOTICE,
      { do: 'end_order', nth: 0, how: 'settled', anyway: false },
      { do: 'end_order', nth: 0, how: 'refused', anyway: true, awaitIdle: true },
      { do: 'end_order', nth: 0, how: 'fraud', anyway: true, awaitIdle: true },
    ],
  },
  {
    name: 'notices are duplicated, have a wrong amount or an unknown id, or arrive all at once',
    steps: [
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'duplicate', times: 1 },
      SENT,
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'wrong-amount', times: 1 },
      SENT,
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'unknown-id', times: 1 },
      SENT,
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'down', times: 1 },
      PAYOUT,
      { ...PAYOUT, to: 'declined' },
      { do: 'shift', seconds: 31, awaitIdle: true },
      { do: 'clear', awaitIdle: true },
    ],
  },
  {
    name: 'an expired key resolution is refreshed and the same person is paid',
    steps: [
      orders('down'),
      { ...LOOKED_UP, awaitIdle: true },
      { do: 'shift', seconds: 660, awaitIdle: true },
    ],
  },
  {
    name: 'a paused payout whose key changes owner is never sent; another paused payout can be canceled',
    steps: [
      { do: 'pause' },
      LOOKED_UP,
      PAYOUT,
      { do: 'directory', how: 'other_person', awaitIdle: true },
      { do: 'cancel', nth: 1, both: true },
      { do: 'shift', seconds: 1210 },
      { do: 'fault', rail: 'BRE_B', on: 'resolve', fault: 'lost-answer', times: 1 },
      { do: 'resume' },
      { do: 'shift', seconds: 6, awaitIdle: true },
    ],
  },
  {
    name: 'the directory removes a key, answers with an error, or does not answer while a payout waits',
    steps: [
      orders('down', 2),
      { ...LOOKED_UP, awaitIdle: true },
      { ...SENT, lookUp: 'named' },
      { do: 'directory', how: 'gone' },
      { do: 'fault', rail: 'BRE_B', on: 'resolve', fault: 'rejected', code: '5000', times: 1 },
      { do: 'shift', seconds: 660, awaitIdle: true },
      { do: 'shift', seconds: 6, awaitIdle: true },
    ],
  },
  {
    name: 'payouts spend settled payins',
    steps: [
      {
        do: 'create',
        rail: 'BRE_B',
        cents: 250_000,
        payer: 'plain',
        idempotent: true,
        api: 0,
        awaitIdle: true,
      },
      { do: 'pay', nth: 0, share: 'full', times: 1, anyway: false, awaitIdle: true },
      PAYOUT,
      { do: 'settle' },
      { ...PAYOUT, to: 'lost_answer' },
      { do: 'balance', awaitIdle: true },
    ],
  },
];
