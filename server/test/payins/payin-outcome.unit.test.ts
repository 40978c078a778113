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
  noOrderInFlight: false,
  opened: false,
  link: null,
  amountPolicy: 'EXACT',
  unverified: null,
  reversed: false,
};
const UNPAID = { paid: cents(0n), missing: AMOUNT };
const withStatus = (status: OutcomeInput['status'], changes: Partial<OutcomeInput> = {}): OutcomeInput => ({
  ...open,
  status,
  ...changes,
});
const none = () => false;
const alreadyPosted =
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
const collectionStatus = (
  state: CollectionStatus['state'],
  payments: Payment[] = [],
  errorCode: RailErrorCode | null = null,
) => ({ state, payments, errorCode });

describe('decideFromNotification', () => {
  it.each<[string, OutcomeInput | null, RailNotification, ReturnType<typeof decideFromNotification>]>([
    ['ignores an execution that is already posted', withStatus('CONFIRMED'), paid('e1'), 'duplicate'],
    ['requires verification of a payment without a payin', null, paid('e2'), 'needs_verification'],
    ['requires verification of a different amount', open, paid('e2', cents(4999n)), 'needs_verification'],
    [
      'requires verification of a payment for a final payin',
      withStatus('CANCELED'),
      paid('e2'),
      'needs_verification',
    ],
    ['requires verification of a second payment', withStatus('CONFIRMED'), paid('e2'), 'needs_verification'],
    ['requires verification of a decline', open, declined(), 'needs_verification'],
    ['requires verification of a decline without a payin', null, declined(), 'needs_verification'],
    [
      'ignores a decline of a payin that ended without money',
      withStatus('CANCELED'),
      declined(),
      'duplicate',
    ],
    [
      'ignores a refusal of a paid payin',
      withStatus('CONFIRMED'),
      { kind: 'refused', errorCode: 'KEY_INVALID' },
      'duplicate',
    ],
    [
      'requires verification of a refusal after expiry',
      withStatus('PROCESSING', { expired: true }),
      { kind: 'refused', errorCode: 'KEY_NOT_FOUND' },
      'needs_verification',
    ],
  ])('%s', (_what, payin, notification, result) => {
    expect(decideFromNotification(payin, notification, alreadyPosted('e1'), none)).toEqual(result);
  });

  it('confirms a payment of the requested amount, also for a PENDING or expired payin', () => {
    for (const payin of [open, withStatus('PENDING'), withStatus('PROCESSING', { expired: true })])
      expect(decideFromNotification(payin, paid('e1'), none, none)).toMatchObject({
        transition: { to: 'CONFIRMED', confirmedAmount: AMOUNT },
        postings: [{ executionId: 'e1', into: 'pending' }],
        anomalies: [],
      });
  });

  it('records only a contradiction for a decline of a paid payin', () => {
    expect(decideFromNotification(withStatus('CONFIRMED'), declined(), none, none)).toEqual({
      transition: null,
      postings: [],
      anomalies: [{ kind: 'contradiction', executionId: null, amount: null }],
      verifies: false,
    });
  });
});

describe('decideFromStatus', () => {
  it('confirms with the earliest of several exact payments and posts the others to suspense', () => {
    const payments = [
      payment('e2', AMOUNT, '2026-01-01T00:00:02Z'),
      payment('e1', AMOUNT, '2026-01-01T00:00:01Z'),
    ];
    expect(decideFromStatus(open, collectionStatus('paid', payments), none, null)).toMatchObject({
      transition: { to: 'CONFIRMED', confirmedAmount: AMOUNT },
      postings: [
        { executionId: 'e1', into: 'pending' },
        { executionId: 'e2', into: 'suspense' },
      ],
      anomalies: [{ kind: 'paid_again', executionId: 'e2', amount: AMOUNT }],
    });
  });

  it('posts an execution once when the status lists it twice', () => {
    const { postings } = decideFromStatus(
      open,
      collectionStatus('paid', [payment('e1'), payment('e1')]),
      none,
      null,
    );
    expect(postings).toHaveLength(1);
  });

  it.each<[OutcomeInput | null, string]>([
    [null, 'unmatched'],
    [withStatus('CONFIRMED'), 'paid_again'],
    [withStatus('DECLINED'), 'paid_late'],
    [withStatus('CANCELED'), 'paid_late'],
  ])('posts a payment without an open payin to suspense', (payin, kind) => {
    const decision = decideFromStatus(payin, collectionStatus('paid', [payment('e9')]), none, null);
    expect(decision.transition).toBeNull();
    expect(decision.postings).toEqual([{ executionId: 'e9', amount: AMOUNT, into: 'suspense' }]);
    expect(decision.anomalies).toEqual([{ kind, executionId: 'e9', amount: AMOUNT }]);
  });

  it.each<[string, OutcomeInput, ReturnType<typeof collectionStatus>, object | null]>([
    [
      'declined',
      open,
      collectionStatus('declined', [], 'LIMIT_EXCEEDED'),
      { to: 'DECLINED', errorCode: 'LIMIT_EXCEEDED' },
    ],
    [
      'declined because the payer canceled',
      open,
      collectionStatus('declined', [], 'PAYER_CANCELED'),
      { to: 'CANCELED', errorCode: 'PAYER_CANCELED' },
    ],
    [
      'declined because the payer abandoned',
      withStatus('PENDING'),
      collectionStatus('declined', [], 'PAYER_ABANDONED'),
      { to: 'CANCELED' },
    ],
    [
      'closed and unpaid, after expiry',
      withStatus('PROCESSING', { expired: true }),
      collectionStatus('closed'),
      { to: 'CANCELED', errorCode: 'EXPIRED' },
    ],
    ['closed and unpaid, before expiry', open, collectionStatus('closed'), null],
    ['open, after expiry', withStatus('PROCESSING', { expired: true }), collectionStatus('open'), null],
    [
      'not found, after expiry, with a call in flight',
      withStatus('PENDING', { expired: true }),
      collectionStatus('not_found'),
      null,
    ],
    [
      'not found, after expiry, with no call in flight',
      withStatus('PENDING', { expired: true, noOrderInFlight: true }),
      collectionStatus('not_found'),
      { to: 'CANCELED', errorCode: 'EXPIRED' },
    ],
    [
      'not found, before expiry',
      withStatus('PENDING', { noOrderInFlight: true }),
      collectionStatus('not_found'),
      null,
    ],
  ])('%s', (_what, payin, railStatus, transition) => {
    const decision = decideFromStatus(payin, railStatus, none, null);
    if (transition === null) expect(decision.transition).toBeNull();
    else expect(decision.transition).toMatchObject(transition);
    expect(decision.postings).toEqual([]);
  });

  it('never changes a final payin', () => {
    for (const status of ['CONFIRMED', 'DECLINED', 'CANCELED'] as const)
      for (const state of ['open', 'closed', 'paid', 'declined', 'not_found'] as const)
        for (const payments of [[], [payment('e1')]])
          expect(
            decideFromStatus(
              withStatus(status, { expired: true }),
              collectionStatus(state, payments, 'RAIL_REJECTED'),
              none,
              null,
            ).transition,
          ).toBeNull();
  });

  it('marks a notified payment that the rail does not list as unconfirmed, without money', () => {
    expect(decideFromStatus(open, collectionStatus('open'), none, paid('e1')).anomalies).toEqual([
      { kind: 'unconfirmed', executionId: 'e1', amount: null },
    ]);
    expect(decideFromStatus(null, collectionStatus('not_found'), none, paid('e1')).anomalies).toEqual([
      { kind: 'unmatched', executionId: 'e1', amount: null },
    ]);
  });

  it('keeps an open payin open with a contradiction when its execution is posted for another payin', () => {
    expect(
      decideFromStatus(open, collectionStatus('paid', [payment('e1')]), alreadyPosted('e1'), null),
    ).toEqual({
      transition: null,
      postings: [],
      anomalies: [{ kind: 'contradiction', executionId: 'e1', amount: null }],
      verifies: false,
    });
  });

  it('treats an unknown transaction that the rail itself created as a contradiction, not as an end', () => {
    const decision = decideFromStatus(
      withStatus('PROCESSING', { expired: true, opened: true }),
      collectionStatus('not_found'),
      none,
      null,
    );
    expect(decision.transition).toBeNull();
    expect(decision.anomalies).toMatchObject([{ kind: 'contradiction' }]);
  });
});

describe('the amount of a direct payin', () => {
  const paidWith = (amount: bigint, changes: Partial<OutcomeInput> = {}) =>
    decideFromStatus(
      withStatus('PROCESSING', changes),
      collectionStatus('paid', [payment('e1', cents(amount))]),
      none,
      null,
    );

  it('declines a payin that received less with UNDERPAID and keeps the money in suspense', () => {
    expect(paidWith(4999n)).toEqual({
      transition: {
        to: 'DECLINED',
        confirmedAmount: 4999n,
        errorCode: 'UNDERPAID',
        settles: false,
        earlierParts: null,
        payment: { executionId: 'e1', verified: true },
        cause: 'underpaid',
      },
      postings: [{ executionId: 'e1', amount: 4999n, into: 'suspense' }],
      anomalies: [{ kind: 'underpaid', executionId: 'e1', amount: 4999n }],
      verifies: false,
    });
  });

  it('confirms a payin that received more with the requested amount and keeps the excess in suspense', () => {
    expect(paidWith(5001n)).toEqual({
      transition: {
        to: 'CONFIRMED',
        confirmedAmount: AMOUNT,
        errorCode: null,
        settles: true,
        earlierParts: null,
        payment: { executionId: 'e1', verified: true },
        cause: 'paid_on_poll',
      },
      postings: [
        { executionId: 'e1', amount: AMOUNT, into: 'pending' },
        { executionId: 'e1', amount: 1n, into: 'suspense', excess: true },
      ],
      anomalies: [{ kind: 'overpaid', executionId: 'e1', amount: 1n }],
      verifies: false,
    });
  });

  it('confirms with the exact payment when an earlier payment of less is listed with it', () => {
    const payments = [
      payment('e1', cents(10n), '2026-01-01T00:00:01Z'),
      payment('e2', AMOUNT, '2026-01-01T00:00:02Z'),
    ];
    expect(decideFromStatus(open, collectionStatus('paid', payments), none, null)).toMatchObject({
      transition: { to: 'CONFIRMED', confirmedAmount: AMOUNT },
      anomalies: [{ kind: 'paid_again', executionId: 'e1', amount: 10n }],
    });
  });

  it('declines by the earliest payment when none is exact; the next payment is late', () => {
    const payments = [
      payment('e2', cents(4990n), '2026-01-01T00:00:02Z'),
      payment('e1', cents(10n), '2026-01-01T00:00:01Z'),
    ];
    expect(decideFromStatus(open, collectionStatus('paid', payments), none, null)).toMatchObject({
      transition: { to: 'DECLINED', confirmedAmount: 10n, errorCode: 'UNDERPAID' },
      anomalies: [
        { kind: 'underpaid', executionId: 'e1', amount: 10n },
        { kind: 'paid_late', executionId: 'e2', amount: 4990n },
      ],
    });
  });

  it.each([1n, 4999n, 5000n, 5001n])('confirms with %s cents under the policy ANY', (amount) => {
    expect(paidWith(amount, { amountPolicy: 'ANY' })).toMatchObject({
      transition: { to: 'CONFIRMED', confirmedAmount: amount, settles: true },
      postings: [{ executionId: 'e1', amount, into: 'pending' }],
      anomalies: [],
    });
  });

  it('is verified with the rail under every policy before a notification of another amount is applied', () => {
    for (const amountPolicy of ['EXACT', 'ANY'] as const)
      expect(decideFromNotification({ ...open, amountPolicy }, paid('e1', cents(1n)), none, none)).toBe(
        'needs_verification',
      );
  });
});

describe('a payin of a payment link', () => {
  const waiting = withStatus('PROCESSING', { link: UNPAID });
  const ended = withStatus('PROCESSING', { link: 'ended' });
  const sum = (postings: readonly { readonly amount: bigint }[]) =>
    postings.reduce((total, { amount }) => total + amount, 0n);

  it.each<[string, OutcomeInput]>([
    ['by notification', waiting],
    ['after expiry', { ...waiting, expired: true }],
    ['before its bank page is known', { ...waiting, status: 'PENDING' }],
  ])('settles when paid with the exact amount, %s', (_how, payin) => {
    const expected = {
      transition: { to: 'CONFIRMED', confirmedAmount: AMOUNT, settles: true },
      postings: [{ executionId: 'e1', amount: AMOUNT, into: 'pending' }],
      anomalies: [],
    };
    expect(decideFromNotification(payin, paid('e1'), none, none)).toMatchObject(expected);
    expect(decideFromStatus(payin, collectionStatus('paid', [payment('e1')]), none, null)).toMatchObject(
      expected,
    );
  });

  it('requires verification of a notification with a different amount', () => {
    for (const amount of [4999n, 5001n])
      expect(decideFromNotification(waiting, paid('e1', cents(amount)), none, none)).toBe(
        'needs_verification',
      );
  });

  it('is DECLINED when underpaid; the money waits in suspense for the other parts, without an anomaly', () => {
    const short = cents(4999n);
    expect(
      decideFromStatus(waiting, collectionStatus('paid', [payment('e1', short)]), none, paid('e1', short)),
    ).toEqual({
      transition: {
        to: 'DECLINED',
        confirmedAmount: short,
        errorCode: 'UNDERPAID',
        settles: false,
        earlierParts: null,
        payment: { executionId: 'e1', verified: true },
        cause: 'underpaid',
      },
      postings: [{ executionId: 'e1', amount: short, into: 'suspense' }],
      anomalies: [],
      verifies: false,
    });
  });

  it('settles with the earlier parts when it pays what is missing, after verification', () => {
    const rest = { ...waiting, amount: cents(2000n), link: { paid: cents(3000n), missing: cents(2000n) } };
    expect(decideFromNotification(rest, paid('e2', cents(2000n)), none, none)).toBe('needs_verification');
    expect(
      decideFromStatus(rest, collectionStatus('paid', [payment('e2', cents(2000n))]), none, null),
    ).toMatchObject({
      transition: { to: 'CONFIRMED', confirmedAmount: 2000n, settles: true, earlierParts: 3000n },
      postings: [{ executionId: 'e2', amount: 2000n, into: 'pending' }],
      anomalies: [],
    });
  });

  it('settles only what is missing when another attempt paid a part in the meantime', () => {
    const late = { ...waiting, link: { paid: cents(3000n), missing: cents(2000n) } };
    expect(decideFromNotification(late, paid('e2'), none, none)).toBe('needs_verification');
    expect(decideFromStatus(late, collectionStatus('paid', [payment('e2')]), none, null)).toMatchObject({
      transition: { to: 'CONFIRMED', confirmedAmount: 2000n, settles: true, earlierParts: 3000n },
      postings: [
        { executionId: 'e2', amount: 2000n, into: 'pending' },
        { executionId: 'e2', amount: 3000n, into: 'suspense', excess: true },
      ],
      anomalies: [{ kind: 'overpaid', executionId: 'e2', amount: 3000n }],
    });
  });

  it('settles the requested amount when overpaid; the excess is in suspense with an anomaly', () => {
    const over = cents(5001n);
    const decision = decideFromStatus(waiting, collectionStatus('paid', [payment('e1', over)]), none, null);
    expect(decision).toEqual({
      transition: {
        to: 'CONFIRMED',
        confirmedAmount: AMOUNT,
        errorCode: null,
        settles: true,
        earlierParts: null,
        payment: { executionId: 'e1', verified: true },
        cause: 'paid_on_poll',
      },
      postings: [
        { executionId: 'e1', amount: AMOUNT, into: 'pending' },
        { executionId: 'e1', amount: 1n, into: 'suspense', excess: true },
      ],
      anomalies: [{ kind: 'overpaid', executionId: 'e1', amount: 1n }],
      verifies: false,
    });
  });

  it('is decided by the payment of the missing amount, and the other one is an anomaly', () => {
    const payments = [payment('e1', cents(10n)), payment('e2', AMOUNT)];
    const decision = decideFromStatus(waiting, collectionStatus('paid', payments), none, null);
    expect(decision.transition).toMatchObject({ confirmedAmount: AMOUNT, settles: true });
    expect(decision.anomalies.map(({ kind, amount }) => [kind, amount])).toEqual([['paid_again', 10n]]);
  });

  it('of a final link goes to suspense whatever the amount', () => {
    // Money that only a notification reported must not be credited from suspense.
    expect(decideFromNotification(ended, paid('e1'), none, none)).toBe('needs_verification');
    for (const amount of [1n, 5000n, 9999n])
      expect(
        decideFromStatus(ended, collectionStatus('paid', [payment('e1', cents(amount))]), none, null),
      ).toMatchObject({
        transition: { to: 'CONFIRMED', settles: false },
        postings: [{ into: 'suspense', amount }],
        anomalies: [{ kind: 'paid_again', amount }],
      });
  });

  it('posts every cent once, and every cent in suspense has an anomaly', () => {
    for (const link of ['ended', null] as const)
      for (const status of ['PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'] as const)
        for (const first of [1n, 4999n, 5000n, 5001n, 10_000n])
          for (const rest of [[], [payment('e2', cents(7n))]]) {
            const payments = [payment('e1', cents(first)), ...rest];
            const decision = decideFromStatus(
              withStatus(status, { link }),
              collectionStatus('paid', payments),
              none,
              null,
            );
            expect(sum(decision.postings)).toBe(sum(payments));
            const inSuspense = sum(decision.postings.filter(({ into }) => into === 'suspense'));
            const notification = decision.anomalies.reduce((total, { amount }) => total + (amount ?? 0n), 0n);
            expect([link, status, first, notification]).toEqual([link, status, first, inSuspense]);
          }
  });

  it('without money ends like any other payin', () => {
    expect(
      decideFromStatus(waiting, collectionStatus('declined', [], 'LIMIT_EXCEEDED'), none, null),
    ).toMatchObject({
      transition: { to: 'DECLINED', settles: false, confirmedAmount: null },
      postings: [],
    });
    expect(
      decideFromStatus({ ...waiting, expired: true }, collectionStatus('closed'), none, null),
    ).toMatchObject({
      transition: { to: 'CANCELED', errorCode: 'EXPIRED', settles: false },
    });
  });
});

describe('isConfirmedBy', () => {
  it.each<[string, OutcomeInput | null, ReturnType<typeof collectionStatus>, RailNotification, boolean]>([
    ['a payment that the status lists', open, collectionStatus('paid', [payment('e1')]), paid('e1'), true],
    [
      'a payment that the status does not list',
      withStatus('CANCELED'),
      collectionStatus('closed'),
      paid('e1'),
      false,
    ],
    [
      'a payment, and the status lists another',
      open,
      collectionStatus('paid', [payment('e2')]),
      paid('e1'),
      false,
    ],
    ['a decline, and the status is declined', open, collectionStatus('declined'), declined(), true],
    ['a decline, and the status is open', open, collectionStatus('open'), declined(), false],
    [
      'a decline, and the status lists a payment',
      open,
      collectionStatus('paid', [payment('e1')]),
      declined(),
      true,
    ],
    ['a decline without a payin', null, collectionStatus('not_found'), declined(), false],
  ])('%s', (_what, payin, railStatus, notification, result) => {
    expect(isConfirmedBy(payin, railStatus, notification)).toBe(result);
  });
});

describe('nextTask schedules the next poll', () => {
  const createdAt = new Date('2026-03-01T12:00:00Z');
  const expiresAt = new Date('2026-03-01T13:00:00Z');
  const next = (rail: 'BRE_B' | 'PSE', minutes: number, closed = false) => {
    const now = new Date(createdAt.getTime() + minutes * 60_000);
    const { task, at } = nextTask(rail, { createdAt, expiresAt, now, closed });
    return [task, (at.getTime() - createdAt.getTime()) / 60_000];
  };

  it.each([
    ['BRE_B', 0, 'poll', 0.5],
    ['BRE_B', 0.5, 'poll', 5],
    ['BRE_B', 5, 'poll', 20],
    ['BRE_B', 20, 'close', 60],
    ['BRE_B', 90, 'close', 60],
    ['PSE', 0, 'poll', 7],
    ['PSE', 7, 'poll', 12],
    ['PSE', 36, 'poll', 60],
    ['PSE', 60, 'poll', 65],
    ['PSE', 600, 'poll', 605],
  ] as const)('%s after %d minutes: %s at %d', (rail, minutes, task, at) => {
    expect(next(rail, minutes)).toEqual([task, at]);
  });

  it('polls a closed key whose status is not yet closed after half a minute, not immediately', () => {
    expect(next('BRE_B', 60, true)).toEqual(['close', 60.5]);
    expect(next('BRE_B', 90, true)).toEqual(['close', 90.5]);
  });
});
