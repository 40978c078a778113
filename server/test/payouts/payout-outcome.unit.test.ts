import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { cents } from '../../src/kit/money.ts';
import {
  type Decision,
  decideFromNotification,
  decideFromStatus,
  isConfirmedBy,
  type OutcomeInput,
} from '../../src/payouts/payout.outcome.ts';
import { nextPollMs } from '../../src/payouts/payout.polling.ts';
import { isFinal, PAYOUT_STATUSES } from '../../src/payouts/payout.states.ts';
import type { OrderStatus, RailNotification } from '../../src/rails/contract.ts';

const OURS = cents(5000n);
const OTHER = cents(4999n);
const BOTH = [true, false];

/** All valid payouts: an unsent payout has no order in flight, and only a sent one ends at the rail. */
const PAYOUTS: readonly OutcomeInput[] = PAYOUT_STATUSES.flatMap((status) =>
  (status === 'CANCELED' ? [0] : status === 'CONFIRMED' ? [1, 2] : [0, 1, 2]).flatMap((sentAttempts) =>
    BOTH.flatMap((rejectsDuplicateOrders) =>
      (sentAttempts === 0 ? [false] : BOTH).flatMap((noOrderInFlight) =>
        (sentAttempts === 0 ? [null] : [null, 'KEY_INVALID' as const]).flatMap((rejection) =>
          // Null: confirmed by an operator, without an execution.
          (status === 'CONFIRMED' ? ['e1', null] : [null]).map((executionId) => ({
            status,
            amount: OURS,
            sentAttempts,
            executionId,
            rejection,
            noOrderInFlight,
            rejectsDuplicateOrders,
          })),
        ),
      ),
    ),
  ),
);

const railStatus = (state: OrderStatus['state'], changes: Partial<OrderStatus> = {}): OrderStatus => ({
  endToEndId: 'E2E',
  state,
  executionId: null,
  amount: null,
  errorCode: null,
  ...changes,
});
const settled = (executionId: string, amount = OURS) => railStatus('settled', { executionId, amount });

const STATUSES: readonly OrderStatus[] = [
  railStatus('processing'),
  railStatus('not_found'),
  railStatus('rejected', { errorCode: 'ACCOUNT_NOT_FOUND' }),
  railStatus('rejected'),
  ...['e1', 'e2'].flatMap((id) => [settled(id), settled(id, OTHER)]),
];

const paid = (executionId: string, amount = OURS): RailNotification => ({
  kind: 'paid',
  executionId,
  amount,
});
const DECLINED: RailNotification = { kind: 'declined', errorCode: 'LIMIT_EXCEEDED' };
const REFUSED: RailNotification = { kind: 'refused', errorCode: 'KEY_INVALID' };
const NOTIFICATIONS: readonly RailNotification[] = [
  ...['e1', 'e2'].flatMap((id) => [paid(id), paid(id, OTHER)]),
  DECLINED,
  REFUSED,
];

const OPEN: OutcomeInput = {
  status: 'PROCESSING',
  amount: OURS,
  sentAttempts: 1,
  executionId: null,
  rejection: null,
  noOrderInFlight: false,
  rejectsDuplicateOrders: true,
};
const open = (changes: Partial<OutcomeInput> = {}): OutcomeInput => ({ ...OPEN, ...changes });
const ended = (status: OutcomeInput['status']): OutcomeInput => ({
  ...OPEN,
  status,
  executionId: status === 'CONFIRMED' ? 'e1' : null,
});

/** No execution belongs to another payout. */
const notPosted = () => false;

/** Every rail status for every payout, with and without a preceding notification. */
function forEveryStatus(
  check: (
    decision: Decision,
    payout: OutcomeInput | null,
    status: OrderStatus,
    notification: RailNotification | null,
  ) => void,
): void {
  for (const payout of [null, ...PAYOUTS])
    for (const status of STATUSES)
      for (const notification of [null, ...NOTIFICATIONS])
        check(decideFromStatus(payout, status, notPosted, notification), payout, status, notification);
}

/** Every notification for every payout; only those applied without verification. */
function forEveryAppliedNotification(
  check: (decision: Decision, payout: OutcomeInput | null, notification: RailNotification) => void,
): void {
  for (const payout of [null, ...PAYOUTS])
    for (const notification of NOTIFICATIONS) {
      const decision = decideFromNotification(payout, notification, notPosted);
      if (typeof decision !== 'string') check(decision, payout, notification);
    }
}

describe('for every rail status and notification', () => {
  it('a final payout has no transition and is not sent again', () => {
    const expectUnchanged = ({ transition, sendAgain }: Decision, payout: OutcomeInput | null) => {
      if (!payout || !isFinal(payout.status)) return;
      expect({ transition, sendAgain }).toEqual({ transition: null, sendAgain: false });
    };
    forEveryStatus(expectUnchanged);
    forEveryAppliedNotification(expectUnchanged);
  });

  it('a payout is confirmed only with its own amount and a named execution', () => {
    forEveryStatus(({ transition }, payout, status) => {
      if (transition?.to !== 'CONFIRMED') return;
      expect([status.state, status.amount, transition.executionId]).toEqual([
        'settled',
        OURS,
        status.executionId,
      ]);
      expect(payout?.status).toBe('PROCESSING');
    });
    forEveryAppliedNotification(({ transition }, payout, notification) => {
      if (transition?.to !== 'CONFIRMED') return;
      expect(notification).toEqual(paid(transition.executionId ?? ''));
      expect(payout?.sentAttempts, 'an unsent payout is verified first').toBeGreaterThan(0);
    });
  });

  it('only an open order that the rail does not have, with none in flight and duplicates rejected, is sent again', () => {
    forEveryStatus(({ sendAgain, transition }, payout, status) => {
      const expected =
        payout?.status === 'PROCESSING' &&
        payout.sentAttempts > 0 &&
        payout.noOrderInFlight &&
        payout.rejectsDuplicateOrders &&
        payout.rejection === null &&
        status.state === 'not_found';
      expect(sendAgain).toBe(expected);
      if (sendAgain) expect(transition).toBeNull();
    });
    forEveryAppliedNotification(({ sendAgain }) => expect(sendAgain).toBe(false));
  });

  it('not_found declines only a rejected order, with that rejection, and never while an order may be in flight', () => {
    forEveryStatus(({ transition }, payout, status) => {
      if (status.state !== 'not_found' || !payout) return;
      const expected = payout.status === 'PROCESSING' && payout.noOrderInFlight && payout.rejection !== null;
      expect(transition?.to ?? null).toBe(expected ? 'DECLINED' : null);
      if (transition) expect(transition.errorCode).toBe(payout.rejection);
    });
  });

  it('processing ends nothing', () => {
    forEveryStatus(({ transition, sendAgain }, _payout, status) => {
      if (status.state !== 'processing') return;
      expect([transition, sendAgain]).toEqual([null, false]);
    });
  });

  it('an executed payment is accounted for once: by its payout, by suspense or by a contradiction', () => {
    forEveryStatus(({ transition, detectedAnomalies, adopt }, payout, status) => {
      if (status.state !== 'settled') return;
      const confirms = (transition?.executionId ?? adopt) === status.executionId;
      const known = payout?.status === 'CONFIRMED' && payout.executionId === status.executionId;
      const money = detectedAnomalies.filter(({ amount }) => amount !== null);
      const contradictions = detectedAnomalies.filter(
        ({ kind, executionId }) => kind === 'contradiction' && executionId === status.executionId,
      );
      expect(Number(confirms) + Number(known) + money.length + contradictions.length).toBe(1);
      for (const each of money)
        expect([each.executionId, each.amount]).toEqual([status.executionId, status.amount]);
    });
  });

  it('only a payout confirmed by an operator adopts an execution, and only with its own amount', () => {
    forEveryStatus(({ adopt }, payout, status) => {
      const expected =
        payout?.status === 'CONFIRMED' &&
        payout.executionId === null &&
        status.state === 'settled' &&
        status.amount === OURS;
      expect(adopt).toBe(expected ? status.executionId : null);
    });
    forEveryAppliedNotification(({ adopt }) => expect(adopt).toBeNull());
  });

  it('no notification and no status but "settled" creates an anomaly with money', () => {
    forEveryAppliedNotification(({ detectedAnomalies }) =>
      expect(detectedAnomalies.every(({ amount }) => amount === null)).toBe(true),
    );
    forEveryStatus(({ detectedAnomalies }, _payout, status) => {
      if (status.state !== 'settled')
        expect(detectedAnomalies.every(({ amount }) => amount === null)).toBe(true);
    });
  });

  it('a notified execution that the rail does not confirm is always recorded', () => {
    forEveryStatus(({ detectedAnomalies }, payout, status, notification) => {
      if (notification?.kind !== 'paid' || isConfirmedBy(status, notification)) return;
      expect(detectedAnomalies).toContainEqual({
        kind: payout ? 'unconfirmed' : 'unmatched',
        executionId: notification.executionId,
        amount: null,
      });
    });
  });

  it('through any history, each execution is posted at most once and a final status stays', () => {
    const update = fc.oneof(
      fc.record({
        status: fc.constantFrom(...STATUSES),
        notification: fc.constantFrom(null, ...NOTIFICATIONS),
      }),
      fc.record({ status: fc.constant(null), notification: fc.constantFrom(...NOTIFICATIONS) }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...PAYOUTS), fc.array(update, { maxLength: 12 }), (first, updates) => {
        let payout = first;
        const posted = new Set(first.executionId === null ? [] : [first.executionId]);
        for (const { status, notification } of updates) {
          const decision = status
            ? decideFromStatus(payout, status, notPosted, notification)
            : notification && decideFromNotification(payout, notification, notPosted);
          if (decision === null || typeof decision === 'string') continue;
          const { transition, detectedAnomalies, adopt } = decision;
          if (adopt !== null) {
            expect(payout.executionId).toBeNull();
            payout = { ...payout, executionId: adopt };
            posted.add(adopt);
          }
          if (transition) {
            expect(payout.status).toBe('PROCESSING');
            payout = { ...payout, status: transition.to, executionId: transition.executionId };
            if (transition.executionId !== null) posted.add(transition.executionId);
          }
          for (const { executionId, amount } of detectedAnomalies)
            if (amount !== null) posted.add(executionId ?? '');
          // A settled execution is posted from then on, unless an operator must decide first.
          if (status?.state === 'settled' && payout.status !== 'PROCESSING')
            expect(posted.has(status.executionId ?? '')).toBe(true);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

describe('decideFromNotification for a payout', () => {
  it.each<[string, OutcomeInput | null, RailNotification, ReturnType<typeof decideFromNotification>]>([
    ['requires verification of an unknown order', null, paid('e1'), 'needs_verification'],
    [
      'requires verification of a settlement with another amount',
      open(),
      paid('e1', OTHER),
      'needs_verification',
    ],
    [
      'requires verification of a settlement of an unsent payout',
      open({ sentAttempts: 0 }),
      paid('e1'),
      'needs_verification',
    ],
    ['requires verification of a rejection', open(), DECLINED, 'needs_verification'],
    ['requires verification of a refused retry', open({ sentAttempts: 2 }), REFUSED, 'needs_verification'],
    ['ignores the execution that confirmed it', ended('CONFIRMED'), paid('e1'), 'duplicate'],
    ['requires verification of another execution', ended('CONFIRMED'), paid('e2'), 'needs_verification'],
    [
      'requires verification of a settlement of a declined payout',
      ended('DECLINED'),
      paid('e1'),
      'needs_verification',
    ],
    [
      'requires verification of a settlement of a canceled payout',
      ended('CANCELED'),
      paid('e1'),
      'needs_verification',
    ],
    ['ignores a rejection of a declined payout', ended('DECLINED'), DECLINED, 'duplicate'],
    ['ignores a refusal of a confirmed payout', ended('CONFIRMED'), REFUSED, 'duplicate'],
  ])('%s', (_what, payout, notification, result) => {
    expect(decideFromNotification(payout, notification, notPosted)).toEqual(result);
  });

  it('confirms the expected settlement', () => {
    for (const sentAttempts of [1, 2])
      expect(decideFromNotification(open({ sentAttempts }), paid('e7'), notPosted)).toEqual({
        transition: { to: 'CONFIRMED', errorCode: null, executionId: 'e7', cause: 'settled_on_notification' },
        detectedAnomalies: [],
        sendAgain: false,
        adopt: null,
      });
  });

  it('requires verification of a settlement by the execution of another payout', () => {
    expect(decideFromNotification(open(), paid('e7'), (id) => id === 'e7')).toBe('needs_verification');
  });

  it('declines when the only attempt is refused', () => {
    expect(decideFromNotification(open(), REFUSED, notPosted)).toMatchObject({
      transition: { to: 'DECLINED', errorCode: 'KEY_INVALID', executionId: null, cause: 'order_refused' },
    });
  });

  it('records only a contradiction for a rejection of a confirmed payout', () => {
    expect(decideFromNotification(ended('CONFIRMED'), DECLINED, notPosted)).toEqual({
      transition: null,
      detectedAnomalies: [{ kind: 'contradiction', executionId: null, amount: null }],
      sendAgain: false,
      adopt: null,
    });
  });
});

describe('decideFromStatus for a payout', () => {
  it.each<[OutcomeInput | null, string]>([
    [null, 'unmatched'],
    [ended('CONFIRMED'), 'sent_again'],
    [ended('DECLINED'), 'sent_late'],
    [ended('CANCELED'), 'sent_late'],
  ])('charges an executed payment without an open payout to suspense', (payout, kind) => {
    expect(decideFromStatus(payout, settled('e9', OTHER), notPosted, null)).toEqual({
      transition: null,
      detectedAnomalies: [{ kind, executionId: 'e9', amount: OTHER }],
      sendAgain: false,
      adopt: null,
    });
  });

  it('keeps a payout open with a contradiction when the settled amount differs', () => {
    expect(decideFromStatus(open(), settled('e9', OTHER), notPosted, null)).toEqual({
      transition: null,
      detectedAnomalies: [{ kind: 'contradiction', executionId: 'e9', amount: null }],
      sendAgain: false,
      adopt: null,
    });
  });

  it("declines with the rail's error code, or with RAIL_REJECTED when there is none", () => {
    const errorCodeFor = (status: OrderStatus) =>
      decideFromStatus(open(), status, notPosted, null).transition?.errorCode;
    expect(errorCodeFor(railStatus('rejected', { errorCode: 'SUSPECTED_FRAUD' }))).toBe('SUSPECTED_FRAUD');
    expect(errorCodeFor(railStatus('rejected'))).toBe('RAIL_REJECTED');
  });

  it('records only a contradiction for a settlement by the execution of another payout', () => {
    for (const payout of [null, ...PAYOUTS])
      for (const amount of [OURS, OTHER])
        expect(decideFromStatus(payout, settled('e9', amount), () => true, null)).toEqual({
          transition: null,
          detectedAnomalies: [{ kind: 'contradiction', executionId: 'e9', amount: null }],
          sendAgain: false,
          adopt: null,
        });
  });

  it('rejects a settlement without an execution', () => {
    expect(() => decideFromStatus(open(), railStatus('settled'), notPosted, null)).toThrow(
      'without an execution',
    );
  });
});

describe('isConfirmedBy for a payout', () => {
  it.each<[string, OrderStatus, RailNotification, boolean]>([
    ['a settlement, and the status names the execution', settled('e1'), paid('e1'), true],
    ['a settlement, and the status has another amount', settled('e1'), paid('e1', OTHER), true],
    ['a settlement, and the status names another execution', settled('e2'), paid('e1'), false],
    ['a settlement, and the status is processing', railStatus('processing'), paid('e1'), false],
    ['a settlement, and the status is rejected', railStatus('rejected'), paid('e1'), false],
    ['a rejection, and the status is rejected', railStatus('rejected'), DECLINED, true],
    ['a rejection, and the status is settled', settled('e1'), DECLINED, true],
    ['a rejection, and the status is processing', railStatus('processing'), DECLINED, false],
    ['a rejection, and the status is not_found', railStatus('not_found'), DECLINED, false],
  ])('%s', (_what, status, notification, result) => {
    expect(isConfirmedBy(status, notification)).toBe(result);
  });
});

it('the poll interval grows to five minutes and polling never stops', () => {
  expect([0, 119_999, 120_000, 3_599_999, 3_600_000, 1e12].map(nextPollMs)).toEqual([
    5000, 5000, 30_000, 30_000, 300_000, 300_000,
  ]);
});
