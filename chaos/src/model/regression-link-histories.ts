import type { RegressionHistory } from './regression-histories.ts';
import type { Step } from './step.ts';

const LINK: Step = { do: 'create_link', cents: 600_000, hasCustomer: true, api: 0 };
const ON_BREB: Step = { do: 'start_attempt', nth: 0, rail: 'BRE_B', api: 0, awaitIdle: true };
const ON_PSE: Step = { ...ON_BREB, rail: 'PSE', api: 1 };
const PAYS: Step = {
  do: 'pay_attempt',
  nth: 0,
  back: 0,
  share: 'full',
  times: 1,
  anyway: false,
  awaitIdle: true,
};
const READS: Step = { do: 'read_link', nth: 0 };

/** Histories of payment links. */
export const REGRESSION_LINK_HISTORIES: readonly RegressionHistory[] = [
  {
    name: 'a link paid in three parts settles its whole amount',
    steps: [
      LINK,
      ON_BREB,
      { ...PAYS, share: 'less' },
      ON_BREB,
      { ...PAYS, share: 'less' },
      READS,
      { ...ON_PSE, rail: 'BRE_B' },
      { ...PAYS, share: 'more' },
      READS,
      { do: 'settle' },
      { do: 'balance', awaitIdle: true },
    ],
  },
  {
    name: 'both rails of a link are paid at the same time, after a part',
    steps: [
      LINK,
      ON_PSE,
      ON_BREB,
      { ...PAYS, share: 'less' },
      ON_BREB,
      { do: 'contend', nth: 0, other: 2, awaitIdle: true },
      READS,
      { do: 'accept', nth: 0 },
      { do: 'accept', nth: 2, awaitIdle: true },
    ],
  },
  {
    name: 'two browsers start attempts of a link at the same time',
    steps: [
      { ...LINK, hasCustomer: false },
      { do: 'concurrent_attempts', nth: 0, rails: ['BRE_B', 'BRE_B'] },
      { do: 'concurrent_attempts', nth: 0, rails: ['PSE', 'PSE'], awaitIdle: true },
      { do: 'pay_two_attempts', nth: 0, awaitIdle: true },
      { do: 'concurrent_attempts', nth: 0, rails: ['BRE_B', 'PSE'], awaitIdle: true },
    ],
  },
  {
    name: 'a payment after a change of method stays in suspense, and the next attempt completes the link',
    steps: [
      LINK,
      ON_BREB,
      { do: 'change_method', nth: 0, api: 1, awaitIdle: true },
      { ...PAYS, anyway: true },
      READS,
      ON_PSE,
      PAYS,
      { do: 'accept', nth: 0, awaitIdle: true },
    ],
  },
  {
    name: 'a part is paid twice, and the completed link once more',
    steps: [
      LINK,
      ON_BREB,
      { ...PAYS, share: 'less', times: 2 },
      ON_BREB,
      PAYS,
      { ...PAYS, anyway: true },
      { ...PAYS, back: 1, anyway: true },
    ],
  },
  {
    name: 'a link with a part is closed while it waits for the bank, and expires with an anomaly per part',
    steps: [
      LINK,
      ON_PSE,
      ON_BREB,
      { ...PAYS, share: 'less' },
      ON_BREB,
      { ...PAYS, share: 'less' },
      { do: 'close_link', nth: 0, both: true, awaitIdle: true },
      ON_BREB,
      { do: 'end', nth: 0, how: 'refused', anyway: false, awaitIdle: true },
      READS,
      { do: 'accept', nth: 1 },
      { do: 'accept', nth: 2, awaitIdle: true },
    ],
  },
];
