import { describe, expect, it } from 'vitest';
import { cents } from '../../src/kit/money.ts';
import {
  decideFromNotification,
  decideFromStatus,
  isConfirmedBy,
  type OutcomeInput,
} from '../../src/payins/payin.outcome.ts';
import { nextTask } from '../../src/payins/payin.polling.ts';
import type { CollectionStatus, Payment, RailErrorCode, RailNotification } from '../../src/rails/contract.ts';

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
const in_ = (status: OutcomeInput['status'], changes: Partial<OutcomeInput> = {}): OutcomeInput => ({
  ...open,
  status,
  ...changes,
});
const none = () => false;
const booked =
  (...ids: string[]) =>
  (id: string) =>
    ids.includes(id);
const paid = (executionId: string, amount = AMOUNT): RailNotification => ({
  kind: 'paid',
  executionId,
  amount,
});
const declined = (errorCode: RailErrorCode = 'RAIL_REJECTED'): RailNotification => ({
  kind: 'declined',
  errorCode,
});
const payment = (executionId: string, amount = AMOUNT, at: string | null = null): Payment => ({
  executionId,
  amount,
  at: at === null ? null : new Date(at),
});
const stands = (
  state: CollectionStatus['state'],
  payments: Payment[] = [],
  errorCode: RailErrorCode | null = null,
) => ({ state, payments, errorCode });

describe('a message', () => {
  it.each<[string, OutcomeInput | null, RailNotification, ReturnType<typeof decideFromNotification>]>([
    ['of what is booked already', in_('CONFIRMED'), paid('e1'), 'duplicate'],
    ['of a payment for what nobody knows', null, paid('e2'), 'needs_verification'],
    ['of another amount', open, paid('e2', cents(4999n)), 'needs_verification'],
    ['of a payment for what has ended', in_('CANCELED'), paid('e2'), 'needs_verification'],
    ['of a further payment', in_('CONFIRMED'), paid('e2'), 'needs_verification'],
    ['of a decline', open, declined(), 'needs_verification'],
    ['of a decline of what nobody knows', null, declined(), 'needs_verification'],
    ['of a decline of what has ended without money', in_('CANCELED'), declined(), 'duplicate'],
    [
      'of a refusal of what was paid',
      in_('CONFIRMED'),
      { kind: 'refused', errorCode: 'KEY_INVALID' },
      'duplicate',
    ],
    [
      'of a refusal past its time',
      in_('PROCESSING', { expired: true }),
      { kind: 'refused', errorCode: 'KEY_NOT_FOUND' },
      'needs_verification',
    ],
  ])('%s', (_what, payin, notification, result) => {
    expect(decideFromNotification(payin, notification, booked('e1'), none)).toEqual(result);
  });

  it('of the payment that was asked for confirms, also what is still PENDING or past its time', () => {
    for (const payin of [open, in_('PENDING'), in_('PROCESSING', { expired: true })])
      expect(decideFromNotification(payin, paid('e1'), none, none)).toMatchObject({
        move: { to: 'CONFIRMED', confirmedAmount: AMOUNT },
        postings: [{ executionId: 'e1', into: 'pending' }],
        detectedAnomalies: [],
      });
  });

  it('of a decline of what was paid is a contradiction and nothing else', () => {
    expect(decideFromNotification(in_('CONFIRMED'), declined(), none, none)).toEqual({
      move: null,
      postings: [],
      detectedAnomalies: [{ kind: 'contradiction', executionId: null, amount: null }],
      verifies: false,
    });
  });
});

describe('an answer', () => {
  it('of several payments of the amount: the earliest confirms, the rest goes to suspense', () => {
    const payments = [
      payment('e2', AMOUNT, '2026-01-01T00:00:02Z'),
      payment('e1', AMOUNT, '2026-01-01T00:00:01Z'),
    ];
    expect(decideFromStatus(open, stands('paid', payments), none, null)).toMatchObject({
      move: { to: 'CONFIRMED', confirmedAmount: AMOUNT },
      postings: [
        { executionId: 'e1', into: 'pending' },
        { executionId: 'e2', into: 'suspense' },
      ],
      detectedAnomalies: [{ kind: 'paid_again', executionId: 'e2', amount: AMOUNT }],
    });
  });

  it('that lists one execution twice books it once', () => {
    const { postings } = decideFromStatus(open, stands('paid', [payment('e1'), payment('e1')]), none, null);
    expect(postings).toHaveLength(1);
  });

  it.each<[OutcomeInput | null, string]>([
    [null, 'unmatched'],
    [in_('CONFIRMED'), 'paid_again'],
    [in_('DECLINED'), 'paid_late'],
    [in_('CANCELED'), 'paid_late'],
  ])('of money where there is no open payin: suspense', (payin, kind) => {
    const judged = decideFromStatus(payin, stands('paid', [payment('e9')]), none, null);
    expect(judged.move).toBeNull();
    expect(judged.postings).toEqual([{ executionId: 'e9', amount: AMOUNT, into: 'suspense' }]);
    expect(judged.detectedAnomalies).toEqual([{ kind, executionId: 'e9', amount: AMOUNT }]);
  });

  it.each<[string, OutcomeInput, ReturnType<typeof stands>, object | null]>([
    [
      'declined',
      open,
      stands('declined', [], 'LIMIT_EXCEEDED'),
      { to: 'DECLINED', errorCode: 'LIMIT_EXCEEDED' },
    ],
    [
      'declined because the payer canceled',
      open,
      stands('declined', [], 'PAYER_CANCELED'),
      { to: 'CANCELED', errorCode: 'PAYER_CANCELED' },
    ],
    [
      'declined because the payer left',
      in_('PENDING'),
      stands('declined', [], 'PAYER_ABANDONED'),
      { to: 'CANCELED' },
    ],
    [
      'closed and unpaid, past its time',
      in_('PROCESSING', { expired: true }),
      stands('closed'),
      { to: 'CANCELED', errorCode: 'EXPIRED' },
    ],
    ['closed and unpaid, in its time', open, stands('closed'), null],
    ['open, past its time', in_('PROCESSING', { expired: true }), stands('open'), null],
    [
      'not found, past its time, something under way',
      in_('PENDING', { expired: true }),
      stands('not_found'),
      null,
    ],
    [
      'not found, past its time, nothing under way',
      in_('PENDING', { expired: true, nothingUnderWay: true }),
      stands('not_found'),
      { to: 'CANCELED', errorCode: 'EXPIRED' },
    ],
    ['not found, in its time', in_('PENDING', { nothingUnderWay: true }), stands('not_found'), null],
  ])('%s', (_what, payin, railStatus, move) => {
    const judged = decideFromStatus(payin, railStatus, none, null);
    if (move === null) expect(judged.move).toBeNull();
    else expect(judged.move).toMatchObject(move);
    expect(judged.postings).toEqual([]);
  });

  it('never changes what has ended, whatever it says', () => {
    for (const status of ['CONFIRMED', 'DECLINED', 'CANCELED'] as const)
      for (const state of ['open', 'closed', 'paid', 'declined', 'not_found'] as const)
        for (const payments of [[], [payment('e1')]])
          expect(
            decideFromStatus(
              in_(status, { expired: true }),
              stands(state, payments, 'RAIL_REJECTED'),
              none,
              null,
            ).move,
          ).toBeNull();
  });

  it('that knows nothing of an announced payment makes it unconfirmed, without money', () => {
    expect(decideFromStatus(open, stands('open'), none, paid('e1')).detectedAnomalies).toEqual([
      { kind: 'unconfirmed', executionId: 'e1', amount: null },
    ]);
    expect(decideFromStatus(null, stands('not_found'), none, paid('e1')).detectedAnomalies).toEqual([
      { kind: 'unmatched', executionId: 'e1', amount: null },
    ]);
  });

  it('of money that was booked for somebody else leaves an open payin open, and somebody must look', () => {
    expect(decideFromStatus(open, stands('paid', [payment('e1')]), booked('e1'), null)).toEqual({
      move: null,
      postings: [],
      detectedAnomalies: [{ kind: 'contradiction', executionId: 'e1', amount: null }],
      verifies: false,
    });
  });

  it('that a transaction is unknown which the rail itself made is a contradiction, not an end', () => {
    const judged = decideFromStatus(
      in_('PROCESSING', { expired: true, opened: true }),
      stands('not_found'),
      none,
      null,
    );
    expect(judged.move).toBeNull();
    expect(judged.detectedAnomalies).toMatchObject([{ kind: 'contradiction' }]);
  });
});

describe('the amount of a direct payin', () => {
  const paidWith = (amount: bigint, changes: Partial<OutcomeInput> = {}) =>
    decideFromStatus(in_('PROCESSING', changes), stands('paid', [payment('e1', cents(amount))]), none, null);

  it('declines a payin that received less with UNDERPAID and keeps the money in suspense', () => {
    expect(paidWith(4999n)).toEqual({
      move: {
        to: 'DECLINED',
        confirmedAmount: 4999n,
        errorCode: 'UNDERPAID',
        settles: false,
        payment: { executionId: 'e1', verified: true },
        cause: 'underpaid',
      },
      postings: [{ executionId: 'e1', amount: 4999n, into: 'suspense' }],
      detectedAnomalies: [{ kind: 'underpaid', executionId: 'e1', amount: 4999n }],
      verifies: false,
    });
  });

  it('confirms a payin that received more with the requested amount and keeps the excess in suspense', () => {
    expect(paidWith(5001n)).toEqual({
      move: {
        to: 'CONFIRMED',
        confirmedAmount: AMOUNT,
        errorCode: null,
        settles: true,
        payment: { executionId: 'e1', verified: true },
        cause: 'paid_on_poll',
      },
      postings: [
        { executionId: 'e1', amount: AMOUNT, into: 'pending' },
        { executionId: 'e1', amount: 1n, into: 'suspense', excess: true },
      ],
      detectedAnomalies: [{ kind: 'overpaid', executionId: 'e1', amount: 1n }],
      verifies: false,
    });
  });

  it('confirms with the exact payment when an earlier payment of less is listed with it', () => {
    const payments = [
      payment('e1', cents(10n), '2026-01-01T00:00:01Z'),
      payment('e2', AMOUNT, '2026-01-01T00:00:02Z'),
    ];
    expect(decideFromStatus(open, stands('paid', payments), none, null)).toMatchObject({
      move: { to: 'CONFIRMED', confirmedAmount: AMOUNT },
      detectedAnomalies: [{ kind: 'paid_again', executionId: 'e1', amount: 10n }],
    });
  });

  it('declines by the earliest payment when none is exact; the next payment is late', () => {
    const payments = [
      payment('e2', cents(4990n), '2026-01-01T00:00:02Z'),
      payment('e1', cents(10n), '2026-01-01T00:00:01Z'),
    ];
    expect(decideFromStatus(open, stands('paid', payments), none, null)).toMatchObject({
      move: { to: 'DECLINED', confirmedAmount: 10n, errorCode: 'UNDERPAID' },
      detectedAnomalies: [
        { kind: 'underpaid', executionId: 'e1', amount: 10n },
        { kind: 'paid_late', executionId: 'e2', amount: 4990n },
      ],
    });
  });

  it.each([1n, 4999n, 5000n, 5001n])('confirms with %s cents under the policy ANY', (amount) => {
    expect(paidWith(amount, { amountPolicy: 'ANY' })).toMatchObject({
      move: { to: 'CONFIRMED', confirmedAmount: amount, settles: true },
      postings: [{ executionId: 'e1', amount, into: 'pending' }],
      detectedAnomalies: [],
    });
  });

  it('is checked with the rail under every policy before a notification of another amount is applied', () => {
    for (const amountPolicy of ['EXACT', 'ANY'] as const)
      expect(decideFromNotification({ ...open, amountPolicy }, paid('e1', cents(1n)), none, none)).toBe(
        'needs_verification',
      );
  });
});

describe('an attempt to pay a link', () => {
  const waiting = in_('PROCESSING', { link: 'waiting' });
  const ended = in_('PROCESSING', { link: 'ended' });
  const sum = (postings: readonly { readonly amount: bigint }[]) =>
    postings.reduce((total, { amount }) => total + amount, 0n);

  it.each<[string, OutcomeInput]>([
    ['by notice', waiting],
    ['past its time', { ...waiting, expired: true }],
    ['before its bank page was known', { ...waiting, status: 'PENDING' }],
  ])('with its amount settles, %s', (_how, payin) => {
    const judgement = {
      move: { to: 'CONFIRMED', confirmedAmount: AMOUNT, settles: true },
      postings: [{ executionId: 'e1', amount: AMOUNT, into: 'pending' }],
      detectedAnomalies: [],
    };
    expect(decideFromNotification(payin, paid('e1'), none, none)).toMatchObject(judgement);
    expect(decideFromStatus(payin, stands('paid', [payment('e1')]), none, null)).toMatchObject(judgement);
  });

  it('with another amount is not believed before the rail was asked', () => {
    for (const amount of [4999n, 5001n])
      expect(decideFromNotification(waiting, paid('e1', cents(amount)), none, none)).toBe(
        'needs_verification',
      );
  });

  it('with less is CONFIRMED with it, settles nothing, and an anomaly tells of the money in suspense', () => {
    const short = cents(4999n);
    expect(
      decideFromStatus(waiting, stands('paid', [payment('e1', short)]), none, paid('e1', short)),
    ).toEqual({
      move: {
        to: 'CONFIRMED',
        confirmedAmount: short,
        errorCode: null,
        settles: false,
        payment: { executionId: 'e1', verified: true },
        cause: 'paid_on_poll',
      },
      postings: [{ executionId: 'e1', amount: short, into: 'suspense' }],
      detectedAnomalies: [{ kind: 'underpaid', executionId: 'e1', amount: short }],
      verifies: false,
    });
  });

  it('with more settles its amount; what is beyond it is in suspense, and an anomaly tells of that', () => {
    const over = cents(5001n);
    const judged = decideFromStatus(waiting, stands('paid', [payment('e1', over)]), none, null);
    expect(judged).toEqual({
      move: {
        to: 'CONFIRMED',
        confirmedAmount: over,
        errorCode: null,
        settles: true,
        payment: { executionId: 'e1', verified: true },
        cause: 'paid_on_poll',
      },
      postings: [
        { executionId: 'e1', amount: AMOUNT, into: 'pending' },
        { executionId: 'e1', amount: 1n, into: 'suspense', excess: true },
      ],
      detectedAnomalies: [{ kind: 'overpaid', executionId: 'e1', amount: 1n }],
      verifies: false,
    });
  });

  it('paid twice at once: the first decides, and neither detectedAnomaly hides the other', () => {
    const payments = [payment('e1', cents(10n)), payment('e2', AMOUNT)];
    const judged = decideFromStatus(waiting, stands('paid', payments), none, null);
    expect(judged.move).toMatchObject({ confirmedAmount: 10n, settles: false });
    expect(judged.detectedAnomalies.map(({ kind, amount }) => [kind, amount])).toEqual([
      ['underpaid', 10n],
      ['paid_again', AMOUNT],
    ]);
  });

  it('of a link that has ended is nobody’s, whatever it amounts to', () => {
    // Money that only a notification reported must not be credited from suspense.
    expect(decideFromNotification(ended, paid('e1'), none, none)).toBe('needs_verification');
    for (const amount of [1n, 5000n, 9999n])
      expect(
        decideFromStatus(ended, stands('paid', [payment('e1', cents(amount))]), none, null),
      ).toMatchObject({
        move: { to: 'CONFIRMED', settles: false },
        postings: [{ into: 'suspense', amount }],
        detectedAnomalies: [{ kind: 'paid_again', amount }],
      });
  });

  it('every cent that comes is booked once, and every cent in suspense has its detectedAnomaly', () => {
    for (const link of ['waiting', 'ended', null] as const)
      for (const status of ['PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'] as const)
        for (const first of [1n, 4999n, 5000n, 5001n, 10_000n])
          for (const rest of [[], [payment('e2', cents(7n))]]) {
            const payments = [payment('e1', cents(first)), ...rest];
            const judged = decideFromStatus(in_(status, { link }), stands('paid', payments), none, null);
            expect(sum(judged.postings)).toBe(sum(payments));
            const suspended = sum(judged.postings.filter(({ into }) => into === 'suspense'));
            const notification = judged.detectedAnomalies.reduce(
              (total, { amount }) => total + (amount ?? 0n),
              0n,
            );
            expect([link, status, first, notification]).toEqual([link, status, first, suspended]);
          }
  });

  it('that ends without money ends as any other', () => {
    expect(decideFromStatus(waiting, stands('declined', [], 'LIMIT_EXCEEDED'), none, null)).toMatchObject({
      move: { to: 'DECLINED', settles: false, confirmedAmount: null },
      postings: [],
    });
    expect(decideFromStatus({ ...waiting, expired: true }, stands('closed'), none, null)).toMatchObject({
      move: { to: 'CANCELED', errorCode: 'EXPIRED', settles: false },
    });
  });
});

describe('whether an answer bears a message out', () => {
  it.each<[string, OutcomeInput | null, ReturnType<typeof stands>, RailNotification, boolean]>([
    ['a payment that it lists', open, stands('paid', [payment('e1')]), paid('e1'), true],
    ['a payment that it does not list', in_('CANCELED'), stands('closed'), paid('e1'), false],
    ['a payment of which it lists another', open, stands('paid', [payment('e2')]), paid('e1'), false],
    ['a decline, and it says declined', open, stands('declined'), declined(), true],
    ['a decline, and it still says open', open, stands('open'), declined(), false],
    ['a decline, and there is money', open, stands('paid', [payment('e1')]), declined(), true],
    ['a decline of what nobody knows', null, stands('not_found'), declined(), false],
  ])('%s', (_what, payin, railStatus, notification, result) => {
    expect(isConfirmedBy(payin, railStatus, notification)).toBe(result);
  });
});

describe('when a rail is asked next', () => {
  const createdAt = new Date('2026-03-01T12:00:00Z');
  const expiresAt = new Date('2026-03-01T13:00:00Z');
  const next = (rail: 'BRE_B' | 'PSE', minutes: number, closed = false) => {
    const now = new Date(createdAt.getTime() + minutes * 60_000);
    const { task, at } = nextTask(rail, { createdAt, expiresAt, now, closed });
    return [task, (at.getTime() - createdAt.getTime()) / 60_000];
  };

  it.each([
    ['BRE_B', 0, 'ask', 0.5],
    ['BRE_B', 0.5, 'ask', 5],
    ['BRE_B', 5, 'ask', 20],
    ['BRE_B', 20, 'close', 60],
    ['BRE_B', 90, 'close', 60],
    ['PSE', 0, 'ask', 7],
    ['PSE', 7, 'ask', 12],
    ['PSE', 36, 'ask', 60],
    ['PSE', 60, 'ask', 65],
    ['PSE', 600, 'ask', 605],
  ] as const)('%s after %d minutes: %s at %d', (rail, minutes, task, at) => {
    expect(next(rail, minutes)).toEqual([task, at]);
  });

  it('a key that was closed and does not stand as closed is asked about half a minute later, not at once', () => {
    expect(next('BRE_B', 60, true)).toEqual(['close', 60.5]);
    expect(next('BRE_B', 90, true)).toEqual(['close', 90.5]);
  });
});
