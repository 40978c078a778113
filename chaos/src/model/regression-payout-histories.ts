import type { KeptHistory } from './kept-histories.ts';
import type { Step } from './step.ts';

const PAYOUT: Extract<Step, { do: 'payout' }> = {
  do: 'payout',
  to: 'ok',
  cents: 150_000,
  covered: true,
  lookUp: 'no',
  keyed: true,
  api: 0,
};
/** One whose first send is over before the next step. */
const SENT = { ...PAYOUT, quiet: true };
const LOOKED_UP = { ...PAYOUT, to: 'own', lookUp: 'named' } as const;
/** More than the network carries in one order: refused at its door. */
const OVER_LIMIT = { ...PAYOUT, cents: 1_200_000_000 };

function orders(fault: 'down' | 'lost-answer' | 'reset' | 'hang' | 'slow', times = 1): Step {
  return { do: 'fault', rail: 'BRE_B', on: 'order', fault, times };
}

const LOSES_NOTICE: Step = { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 };

/** The races and the losses that a payout must outlive, without luck. */
export const KEPT_PAYOUT_HISTORIES: readonly KeptHistory[] = [
  {
    name: 'every receiver there is, looked up and not, and more than there is to pay with',
    steps: [
      { ...PAYOUT, lookUp: 'newest' },
      { ...PAYOUT, to: 'declined', lookUp: 'named' },
      { ...PAYOUT, to: 'lost answer', keyed: false },
      { ...PAYOUT, to: 'suspended', api: 1 },
      { ...PAYOUT, to: 'missing', lookUp: 'newest' },
      { ...PAYOUT, to: 'never' },
      LOOKED_UP,
      OVER_LIMIT,
      { ...PAYOUT, covered: false, quiet: true },
      { do: 'read payout', nth: 8 },
      { do: 'balance' },
      { do: 'repeat payout', nth: 8, how: 'same', api: 1 },
    ],
  },
  {
    name: 'two that the balance covers one of, at the same time',
    steps: [
      { do: 'rivals', meet: true, quiet: true },
      { do: 'rivals', meet: false },
      { do: 'cancel', nth: 2, both: true, quiet: true },
    ],
  },
  {
    name: 'the same request on both APIs at once, then repeated in every way',
    steps: [
      { ...PAYOUT, do: 'payout twins' },
      { ...PAYOUT, do: 'payout twins', keyed: false, lookUp: 'named', quiet: true },
      { do: 'repeat payout', nth: 0, how: 'same', api: 1 },
      { do: 'repeat payout', nth: 0, how: 'other body', api: 0 },
      { do: 'repeat payout', nth: 1, how: 'other key', api: 1 },
    ],
  },
  {
    name: 'canceled while its order is about to leave: canceled or sent, never both',
    steps: [
      { ...PAYOUT, do: 'fleeting payout', both: false },
      { ...PAYOUT, do: 'fleeting payout', both: true },
      { ...PAYOUT, do: 'fleeting payout', both: true, quiet: true },
      PAYOUT,
      { do: 'cancel', nth: -1, both: true },
      PAYOUT,
      { do: 'hold', what: 'payout', nth: -1 },
      { do: 'let go' },
      { do: 'cancel', nth: -1, both: false, quiet: true },
      { do: 'cancel', nth: 0, both: true },
      { do: 'cancel', nth: 1, both: true },
    ],
  },
  {
    name: 'the answer and the notice are lost: it is asked about, and confirmed once',
    steps: [
      orders('lost-answer'),
      LOSES_NOTICE,
      SENT,
      { do: 'shift', seconds: 2 },
      { do: 'fault', rail: 'BRE_B', on: 'order-query', fault: 'lost-answer', times: 1 },
      { do: 'shift', seconds: 31, quiet: true },
    ],
  },
  {
    name: 'never arrived: the same order leaves again when nothing can be under way, and not before',
    steps: [
      orders('reset'),
      SENT,
      { do: 'shift', seconds: 3, quiet: true },
      { do: 'shift', seconds: 31, quiet: true },
      { do: 'shift', seconds: 15, quiet: true },
    ],
  },
  {
    name: 'a repeat is refused at the door: the rail is asked before that is believed',
    steps: [
      orders('lost-answer'),
      { ...OVER_LIMIT, quiet: true },
      { do: 'shift', seconds: 45, quiet: true },
      { do: 'shift', seconds: 31, quiet: true },
    ],
  },
  {
    name: 'all workers die between the commit and the call, then between the call and the answer',
    steps: [
      { do: 'arm workers', failpoint: 'BRE_B pay: before call' },
      PAYOUT,
      { do: 'await death' },
      { do: 'age claims' },
      { do: 'cancel', nth: 0, both: false },
      { do: 'arm workers', failpoint: 'record attempts: before commit' },
      { ...PAYOUT, to: 'never' },
      { do: 'await death' },
      { do: 'age claims' },
      { do: 'shift', seconds: 45, quiet: true },
      { do: 'end order', nth: 1, how: 'settled', anyway: false, quiet: true },
    ],
  },
  {
    name: 'rejected, then executed all the same: money in suspense that nobody answers for',
    steps: [
      { ...SENT, to: 'declined' },
      { do: 'end order', nth: 0, how: 'settled', anyway: true, quiet: true },
      { do: 'end order', nth: 0, how: 'settled', anyway: true, quiet: true },
    ],
  },
  {
    name: 'rejected, then executed without a word: the last question finds it',
    steps: [
      { ...SENT, to: 'declined' },
      LOSES_NOTICE,
      { do: 'end order', nth: 0, how: 'settled', anyway: true },
      { do: 'shift', seconds: 61, quiet: true },
    ],
  },
  {
    name: 'settled without a word, then denied: the denial is asked about, and it is confirmed',
    steps: [
      { ...SENT, to: 'never' },
      LOSES_NOTICE,
      { do: 'end order', nth: 0, how: 'settled', anyway: false },
      { do: 'end order', nth: 0, how: 'refused', anyway: true, quiet: true },
      { do: 'end order', nth: 0, how: 'fraud', anyway: true, quiet: true },
    ],
  },
  {
    name: 'notices twice, of another amount, of nobody, and in a flood',
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
      { do: 'shift', seconds: 31, quiet: true },
      { do: 'clear', quiet: true },
    ],
  },
  {
    name: 'the promise about a key has grown old: looked up again, the same person is paid',
    steps: [orders('down'), { ...LOOKED_UP, quiet: true }, { do: 'shift', seconds: 660, quiet: true }],
  },
  {
    name: 'kept back by a pause while its key changes hands: nothing is ever sent; another can be canceled',
    steps: [
      { do: 'pause' },
      LOOKED_UP,
      PAYOUT,
      { do: 'directory', how: 'other person', quiet: true },
      { do: 'cancel', nth: 1, both: true },
      { do: 'shift', seconds: 1210 },
      { do: 'fault', rail: 'BRE_B', on: 'resolve', fault: 'lost-answer', times: 1 },
      { do: 'resume' },
      { do: 'shift', seconds: 6, quiet: true },
    ],
  },
  {
    name: 'the directory takes a key away, says so wrongly, or says nothing, while its payout waits',
    steps: [
      orders('down', 2),
      { ...LOOKED_UP, quiet: true },
      { ...SENT, lookUp: 'named' },
      { do: 'directory', how: 'gone' },
      { do: 'fault', rail: 'BRE_B', on: 'resolve', fault: 'rejected', code: '5000', times: 1 },
      { do: 'shift', seconds: 660, quiet: true },
      { do: 'shift', seconds: 6, quiet: true },
    ],
  },
  {
    name: 'payins settle what payouts then spend',
    steps: [
      { do: 'create', rail: 'BRE_B', cents: 250_000, payer: 'plain', keyed: true, api: 0, quiet: true },
      { do: 'pay', nth: 0, share: 'full', times: 1, anyway: false, quiet: true },
      PAYOUT,
      { do: 'settle' },
      { ...PAYOUT, to: 'lost answer' },
      { do: 'balance', quiet: true },
    ],
  },
];
