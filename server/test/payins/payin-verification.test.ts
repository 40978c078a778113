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
  nothingUnderWay: false,
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
const stands = (payments: Payment[], state: CollectionStatus['state'] = 'closed') => ({
  state,
  payments,
  errorCode: null,
});
const none = () => false;
const booked = (id: string) => id === 'e1';
const NOT_LISTED = { kind: 'payment_not_listed', executionId: 'e1', amount: null };

describe('a payin is verified only by a status that was queried', () => {
  it('a notification confirms it and does not verify its payment', () => {
    expect(
      decideFromNotification(open, { kind: 'paid', executionId: 'e1', amount: AMOUNT }, none, none),
    ).toMatchObject({
      move: { to: 'CONFIRMED', payment: { executionId: 'e1', verified: false } },
    });
  });

  it('a notification of an execution whose booking was reversed confirms nothing before the rail was queried', () => {
    const notification = { kind: 'paid', executionId: 'e1', amount: AMOUNT } as const;
    expect(decideFromNotification(open, notification, none, booked)).toBe('needs_verification');
    expect(decideFromStatus(open, stands([payment('e1')], 'paid'), none, notification)).toMatchObject({
      move: { to: 'CONFIRMED', payment: { executionId: 'e1', verified: true } },
    });
  });

  it('a status that lists the payment of an open payin confirms it and verifies its payment', () => {
    expect(decideFromStatus(open, stands([payment('e1')], 'paid'), none, null)).toMatchObject({
      move: { to: 'CONFIRMED', payment: { executionId: 'e1', verified: true } },
    });
  });

  it('a status that lists the notified execution verifies a confirmed payin, also after the processing time', () => {
    for (const pastProcessingTime of [false, true])
      expect(
        decideFromStatus(confirmed({ pastProcessingTime }), stands([payment('e1')]), booked, null),
      ).toEqual({ move: null, postings: [], detectedAnomalies: [], verifies: true });
  });

  it('a payin that is verified, or that another version confirmed and verified, is not verified again', () => {
    const verified: OutcomeInput = { ...open, status: 'CONFIRMED' };
    expect(decideFromStatus(verified, stands([]), booked, null)).toMatchObject({
      detectedAnomalies: [],
      verifies: false,
    });
  });

  it('a payin of an earlier version is verified by a booked execution of its amount', () => {
    const payin = confirmed({ executionId: null, pastProcessingTime: true });
    expect(decideFromStatus(payin, stands([payment('e1')]), booked, null)).toMatchObject({ verifies: true });
    expect(decideFromStatus(payin, stands([]), booked, null)).toMatchObject({
      verifies: false,
      detectedAnomalies: [{ kind: 'payment_not_listed', executionId: null }],
    });
  });
});

describe('a payment that the rail does not list', () => {
  it('is waited for within the processing time, and an anomaly after it', () => {
    expect(decideFromStatus(confirmed(), stands([]), booked, null)).toMatchObject({
      detectedAnomalies: [],
      verifies: false,
    });
    expect(decideFromStatus(confirmed({ pastProcessingTime: true }), stands([]), booked, null)).toEqual({
      move: null,
      postings: [],
      detectedAnomalies: [NOT_LISTED],
      verifies: false,
    });
  });

  it('listed with another amount is an anomaly at once: the queried amount counts', () => {
    expect(decideFromStatus(confirmed(), stands([payment('e1', cents(4999n))]), booked, null)).toMatchObject({
      postings: [],
      detectedAnomalies: [NOT_LISTED],
      verifies: false,
    });
  });

  it('is not replaced by another execution, whose money goes to suspense', () => {
    expect(
      decideFromStatus(confirmed({ pastProcessingTime: true }), stands([payment('e2')]), booked, null),
    ).toEqual({
      move: null,
      postings: [{ executionId: 'e2', amount: AMOUNT, into: 'suspense' }],
      detectedAnomalies: [{ kind: 'paid_again', executionId: 'e2', amount: AMOUNT }, NOT_LISTED],
      verifies: false,
    });
  });

  it('listed after its booking was reversed came late: its money goes to suspense', () => {
    const reversed: OutcomeInput = { ...open, status: 'CONFIRMED', reversed: true };
    expect(decideFromStatus(reversed, stands([payment('e1')]), none, null)).toEqual({
      move: null,
      postings: [{ executionId: 'e1', amount: AMOUNT, into: 'suspense' }],
      detectedAnomalies: [{ kind: 'paid_late', executionId: 'e1', amount: AMOUNT }],
      verifies: false,
    });
  });
});

describe('when the rail is queried again for a payment that it does not list', () => {
  const now = new Date('2026-03-01T12:00:00Z');
  const after = (endedMsAgo: number, reversed = false, decided = endedMsAgo >= 20_000) => {
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
  ])('%d ms after the confirmation: in %d ms', (endedMsAgo, afterMs) => {
    expect(after(endedMsAgo)).toBe(afterMs);
  });

  it('queries at once when the processing time ended while the answer was on its way', () => {
    expect(after(65_000, false, false)).toBe(0);
  });

  it('queries a reversed payment for seven days', () => {
    expect(after(6 * 86_400_000, true)).toBe(3_600_000);
    expect(after(7 * 86_400_000, true)).toBeNull();
    expect(after(30 * 86_400_000)).toBe(3_600_000);
  });

  it('queries a closed key once more, a minute after the query that verified it', () => {
    const last = (justDone: 'ask' | 'close', endedMsAgo: number, rail: 'BRE_B' | 'PSE' = 'BRE_B') =>
      lastTask(rail, { now, endedMsAgo, justDone, maxProcessingMs: 20_000 });
    const inAMinute = { task: 'ask', at: new Date(now.getTime() + 60_000) };
    expect(last('close', 100)).toEqual(inAMinute);
    expect(last('close', 600_000)).toEqual(inAMinute);
    expect(last('ask', 5000)).toEqual(inAMinute);
    expect(last('ask', 60_000)).toBeNull();
    expect(last('ask', 5000, 'PSE')).toBeNull();
  });

  it('queries a closed key for the last time after the processing time of the rail, when that is over a minute', () => {
    const last = (justDone: 'ask' | 'close', endedMsAgo: number) =>
      lastTask('BRE_B', { now, endedMsAgo, justDone, maxProcessingMs: 120_000 });
    const afterProcessing = { task: 'ask', at: new Date(now.getTime() + 120_000) };
    expect(last('close', 100)).toEqual(afterProcessing);
    expect(last('ask', 60_000)).toEqual(afterProcessing);
    expect(last('ask', 120_000)).toBeNull();
  });
});
