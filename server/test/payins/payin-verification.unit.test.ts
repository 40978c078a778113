import { describe, expect, it } from 'vitest';
import { cents } from '../../src/kit/money.ts';
import {
  decideFromNotification,
  decideFromStatus,
  type OutcomeInput,
} from '../../src/payins/payin.outcome.ts';
import { lastTask, verificationTask } from '../../src/payins/payin.polling.ts';
import type { CollectionStatus, Payment } from '../../src/rails/contract.ts';

const AMOUNT = cents(5000n);
const open: OutcomeInput = {
  status: 'PROCESSING',
  amount: AMOUNT,
  expired: false,
  noOrderInFlight: false,
  opened: false,
  link: null,
  amountPolicy: 'EXACT',
  unverified: null,
  reversed: false,
};
const confirmed = (changes: Partial<NonNullable<OutcomeInput['unverified']>> = {}): OutcomeInput => ({
  ...open,
  status: 'CONFIRMED',
  unverified: { executionId: 'e1', amount: AMOUNT, pastProcessingTime: false, ...changes },
});
const payment = (executionId: string, amount = AMOUNT): Payment => ({ executionId, amount, at: null });
const collectionStatus = (payments: Payment[], state: CollectionStatus['state'] = 'closed') => ({
  state,
  payments,
  errorCode: null,
});
const none = () => false;
const alreadyPosted = (id: string) => id === 'e1';
const NOT_LISTED = { kind: 'payment_not_listed', executionId: 'e1', amount: null };

describe('a payin is verified only by a polled status', () => {
  it('a notification confirms it and does not verify its payment', () => {
    expect(
      decideFromNotification(open, { kind: 'paid', executionId: 'e1', amount: AMOUNT }, none, none),
    ).toMatchObject({
      transition: { to: 'CONFIRMED', payment: { executionId: 'e1', verified: false } },
    });
  });

  it('a notification of an execution with a reversed posting confirms nothing before the rail is polled', () => {
    const notification = { kind: 'paid', executionId: 'e1', amount: AMOUNT } as const;
    expect(decideFromNotification(open, notification, none, alreadyPosted)).toBe('needs_verification');
    expect(
      decideFromStatus(open, collectionStatus([payment('e1')], 'paid'), none, notification),
    ).toMatchObject({
      transition: { to: 'CONFIRMED', payment: { executionId: 'e1', verified: true } },
    });
  });

  it('a status that lists the payment of an open payin confirms it and verifies its payment', () => {
    expect(decideFromStatus(open, collectionStatus([payment('e1')], 'paid'), none, null)).toMatchObject({
      transition: { to: 'CONFIRMED', payment: { executionId: 'e1', verified: true } },
    });
  });

  it('a status that lists the notified execution verifies a confirmed payin, also after the processing time', () => {
    for (const pastProcessingTime of [false, true])
      expect(
        decideFromStatus(
          confirmed({ pastProcessingTime }),
          collectionStatus([payment('e1')]),
          alreadyPosted,
          null,
        ),
      ).toEqual({ transition: null, postings: [], anomalies: [], verifies: true });
  });

  it('a payin that is already verified is not verified again', () => {
    const verified: OutcomeInput = { ...open, status: 'CONFIRMED' };
    expect(decideFromStatus(verified, collectionStatus([]), alreadyPosted, null)).toMatchObject({
      anomalies: [],
      verifies: false,
    });
  });

  it('a payin of an earlier version is verified by a posted execution of its amount', () => {
    const payin = confirmed({ executionId: null, pastProcessingTime: true });
    expect(decideFromStatus(payin, collectionStatus([payment('e1')]), alreadyPosted, null)).toMatchObject({
      verifies: true,
    });
    expect(decideFromStatus(payin, collectionStatus([]), alreadyPosted, null)).toMatchObject({
      verifies: false,
      anomalies: [{ kind: 'payment_not_listed', executionId: null }],
    });
  });
});

describe('a payment that the rail does not list', () => {
  it('is awaited within the processing time and becomes an anomaly afterwards', () => {
    expect(decideFromStatus(confirmed(), collectionStatus([]), alreadyPosted, null)).toMatchObject({
      anomalies: [],
      verifies: false,
    });
    expect(
      decideFromStatus(confirmed({ pastProcessingTime: true }), collectionStatus([]), alreadyPosted, null),
    ).toEqual({
      transition: null,
      postings: [],
      anomalies: [NOT_LISTED],
      verifies: false,
    });
  });

  it('listed with another amount is an anomaly immediately: the polled amount counts', () => {
    expect(
      decideFromStatus(confirmed(), collectionStatus([payment('e1', cents(4999n))]), alreadyPosted, null),
    ).toMatchObject({
      postings: [],
      anomalies: [NOT_LISTED],
      verifies: false,
    });
  });

  it('is not replaced by another execution, whose money goes to suspense', () => {
    expect(
      decideFromStatus(
        confirmed({ pastProcessingTime: true }),
        collectionStatus([payment('e2')]),
        alreadyPosted,
        null,
      ),
    ).toEqual({
      transition: null,
      postings: [{ executionId: 'e2', amount: AMOUNT, into: 'suspense' }],
      anomalies: [{ kind: 'paid_again', executionId: 'e2', amount: AMOUNT }, NOT_LISTED],
      verifies: false,
    });
  });

  it('listed after its posting was reversed is late: its money goes to suspense', () => {
    const reversed: OutcomeInput = { ...open, status: 'CONFIRMED', reversed: true };
    expect(decideFromStatus(reversed, collectionStatus([payment('e1')]), none, null)).toEqual({
      transition: null,
      postings: [{ executionId: 'e1', amount: AMOUNT, into: 'suspense' }],
      anomalies: [{ kind: 'paid_late', executionId: 'e1', amount: AMOUNT }],
      verifies: false,
    });
  });
});

describe('polls for a payment that the rail does not list', () => {
  const now = new Date('2026-03-01T12:00:00Z');
  const nextPollMs = (endedMsAgo: number, reversed = false, decided = endedMsAgo >= 20_000) => {
    const task = verificationTask({ now, endedMsAgo, maxProcessingMs: 20_000, decided, reversed });
    return task && task.at.getTime() - now.getTime();
  };

  it.each([
    [0, 1000],
    [4000, 2000],
    [12_000, 6000],
    [16_000, 4000],
    [19_500, 500],
    [20_000, 10_000],
    [600_000, 300_000],
    [86_400_000, 3_600_000],
  ])('%d ms after the confirmation: again in %d ms', (endedMsAgo, afterMs) => {
    expect(nextPollMs(endedMsAgo)).toBe(afterMs);
  });

  it('poll immediately when the processing time ended while the answer was in flight', () => {
    expect(nextPollMs(65_000, false, false)).toBe(0);
  });

  it('poll a reversed payment for seven days', () => {
    expect(nextPollMs(6 * 86_400_000, true)).toBe(3_600_000);
    expect(nextPollMs(7 * 86_400_000, true)).toBeNull();
    expect(nextPollMs(30 * 86_400_000)).toBe(3_600_000);
  });

  it('poll a closed key once more, a minute after the poll that verified it', () => {
    const last = (justDone: 'poll' | 'close', endedMsAgo: number, rail: 'BRE_B' | 'PSE' = 'BRE_B') =>
      lastTask(rail, { now, endedMsAgo, justDone, maxProcessingMs: 20_000 });
    const inAMinute = { task: 'poll', at: new Date(now.getTime() + 60_000) };
    expect(last('close', 100)).toEqual(inAMinute);
    expect(last('close', 600_000)).toEqual(inAMinute);
    expect(last('poll', 5000)).toEqual(inAMinute);
    expect(last('poll', 60_000)).toBeNull();
    expect(last('poll', 5000, 'PSE')).toBeNull();
  });

  it("poll a closed key for the last time after the rail's processing time, when that exceeds a minute", () => {
    const last = (justDone: 'poll' | 'close', endedMsAgo: number) =>
      lastTask('BRE_B', { now, endedMsAgo, justDone, maxProcessingMs: 120_000 });
    const afterProcessing = { task: 'poll', at: new Date(now.getTime() + 120_000) };
    expect(last('close', 100)).toEqual(afterProcessing);
    expect(last('poll', 60_000)).toEqual(afterProcessing);
    expect(last('poll', 120_000)).toBeNull();
  });
});
