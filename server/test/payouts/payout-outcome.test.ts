import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
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

/** Every payout there can be: one that is unsent has nothing under way, and only one that was sent ends at the rail. */
const PAYOUTS: readonly OutcomeInput[] = PAYOUT_STATUSES.flatMap((status) =>
  (status === 'CANCELED' ? [0] : status === 'CONFIRMED' ? [1, 2] : [0, 1, 2]).flatMap((attempts) =>
    BOTH.flatMap((rejectsDuplicateOrders) =>
      (attempts === 0 ? [false] : BOTH).flatMap((nothingUnderWay) =>
        (attempts === 0 ? [null] : [null, 'KEY_INVALID' as const]).flatMap((refusal) =>
          // Confirmed without an execution: by an operator's word.
          (status === 'CONFIRMED' ? ['e1', null] : [null]).map((executionId) => ({
            status,
            amount: OURS,
            attempts,
            executionId,
            refusal,
            nothingUnderWay,
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

const STANDINGS: readonly OrderStatus[] = [
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
const WORDS: readonly RailNotification[] = [
  ...['e1', 'e2'].flatMap((id) => [paid(id), paid(id, OTHER)]),
  DECLINED,
  REFUSED,
];

const OPEN: OutcomeInput = {
  status: 'PROCESSING',
  amount: OURS,
  attempts: 1,
  executionId: null,
  refusal: null,
  nothingUnderWay: false,
  rejectsDuplicateOrders: true,
};
const open = (changes: Partial<OutcomeInput> = {}): OutcomeInput => ({ ...OPEN, ...changes });
const ended = (status: OutcomeInput['status']): OutcomeInput => ({
  ...OPEN,
  status,
  executionId: status === 'CONFIRMED' ? 'e1' : null,
});

/** No execution is accounted to another payout. */
const free = () => false;

/** Everything the rail can answer about everything, with and without a message before. */
function everyAnswer(
  check: (
    judgement: Decision,
    payout: OutcomeInput | null,
    answer: OrderStatus,
    notification: RailNotification | null,
  ) => void,
): void {
  for (const payout of [null, ...PAYOUTS])
    for (const answer of STANDINGS)
      for (const notification of [null, ...WORDS])
        check(decideFromStatus(payout, answer, free, notification), payout, answer, notification);
}

/** Everything it can tell by itself; only what is believed. */
function everyBelief(
  check: (judgement: Decision, payout: OutcomeInput | null, notification: RailNotification) => void,
): void {
  for (const payout of [null, ...PAYOUTS])
    for (const notification of WORDS) {
      const judgement = decideFromNotification(payout, notification, free);
      if (typeof judgement !== 'string') check(judgement, payout, notification);
    }
}

describe('whatever a rail says', () => {
  it('a final state absorbs it: no move and nothing sent again', () => {
    const untouched = ({ move, sendAgain }: Decision, payout: OutcomeInput | null) => {
      if (!payout || !isFinal(payout.status)) return;
      expect({ move, sendAgain }).toEqual({ move: null, sendAgain: false });
    };
    everyAnswer(untouched);
    everyBelief(untouched);
  });

  it('a payout is confirmed only over its own amount, by an execution that was named', () => {
    everyAnswer(({ move }, payout, answer) => {
      if (move?.to !== 'CONFIRMED') return;
      expect([answer.state, answer.amount, move.executionId]).toEqual(['settled', OURS, answer.executionId]);
      expect(payout?.status).toBe('PROCESSING');
    });
    everyBelief(({ move }, payout, notification) => {
      if (move?.to !== 'CONFIRMED') return;
      expect(notification).toEqual(paid(move.executionId ?? ''));
      expect(payout?.attempts, 'what was never sent is asked about').toBeGreaterThan(0);
    });
  });

  it('nothing is sent again but an open order that the rail never had, when nothing is under way and it refuses doubles', () => {
    everyAnswer(({ sendAgain, move }, payout, answer) => {
      const may =
        payout?.status === 'PROCESSING' &&
        payout.attempts > 0 &&
        payout.nothingUnderWay &&
        payout.rejectsDuplicateOrders &&
        payout.refusal === null &&
        answer.state === 'not_found';
      expect(sendAgain).toBe(may);
      if (sendAgain) expect(move).toBeNull();
    });
    everyBelief(({ sendAgain }) => expect(sendAgain).toBe(false));
  });

  it('"no such order" declines only what was refused, by that refusal, and never while something may be under way', () => {
    everyAnswer(({ move }, payout, answer) => {
      if (answer.state !== 'not_found' || !payout) return;
      const may = payout.status === 'PROCESSING' && payout.nothingUnderWay && payout.refusal !== null;
      expect(move?.to ?? null).toBe(may ? 'DECLINED' : null);
      if (move) expect(move.errorCode).toBe(payout.refusal);
    });
  });

  it('"in process" ends nothing', () => {
    everyAnswer(({ move, sendAgain }, _payout, answer) => {
      if (answer.state !== 'processing') return;
      expect([move, sendAgain]).toEqual([null, false]);
    });
  });

  it('money that left is answered for once: by its payout, by suspense, or a person looks while it stays open', () => {
    everyAnswer(({ move, detectedAnomalies, adopt }, payout, answer) => {
      if (answer.state !== 'settled') return;
      const confirms = (move?.executionId ?? adopt) === answer.executionId;
      const known = payout?.status === 'CONFIRMED' && payout.executionId === answer.executionId;
      const money = detectedAnomalies.filter(({ amount }) => amount !== null);
      const looks = detectedAnomalies.filter(
        ({ kind, executionId }) => kind === 'contradiction' && executionId === answer.executionId,
      );
      expect(Number(confirms) + Number(known) + money.length + looks.length).toBe(1);
      for (const each of money)
        expect([each.executionId, each.amount]).toEqual([answer.executionId, answer.amount]);
    });
  });

  it('only what an operator confirmed takes an execution in, and only over its own amount', () => {
    everyAnswer(({ adopt }, payout, answer) => {
      const may =
        payout?.status === 'CONFIRMED' &&
        payout.executionId === null &&
        answer.state === 'settled' &&
        answer.amount === OURS;
      expect(adopt).toBe(may ? answer.executionId : null);
    });
    everyBelief(({ adopt }) => expect(adopt).toBeNull());
  });

  it('no message alone moves money that nobody answers for, and without "settled" no answer does', () => {
    everyBelief(({ detectedAnomalies }) =>
      expect(detectedAnomalies.every(({ amount }) => amount === null)).toBe(true),
    );
    everyAnswer(({ detectedAnomalies }, _payout, answer) => {
      if (answer.state !== 'settled')
        expect(detectedAnomalies.every(({ amount }) => amount === null)).toBe(true);
    });
  });

  it('an announced execution that the rail does not stand by is never dropped', () => {
    everyAnswer(({ detectedAnomalies }, payout, answer, notification) => {
      if (notification?.kind !== 'paid' || isConfirmedBy(answer, notification)) return;
      expect(detectedAnomalies).toContainEqual({
        kind: payout ? 'unconfirmed' : 'unmatched',
        executionId: notification.executionId,
        amount: null,
      });
    });
  });

  it('through any history, each execution is booked once at most, and what is final stays', () => {
    const word = fc.oneof(
      fc.record({ answer: fc.constantFrom(...STANDINGS), notification: fc.constantFrom(null, ...WORDS) }),
      fc.record({ answer: fc.constant(null), notification: fc.constantFrom(...WORDS) }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...PAYOUTS), fc.array(word, { maxLength: 12 }), (first, words) => {
        let payout = first;
        const booked = new Set(first.executionId === null ? [] : [first.executionId]);
        for (const { answer, notification } of words) {
          const judgement = answer
            ? decideFromStatus(payout, answer, free, notification)
            : notification && decideFromNotification(payout, notification, free);
          if (judgement === null || typeof judgement === 'string') continue;
          const { move, detectedAnomalies, adopt } = judgement;
          if (adopt !== null) {
            expect(payout.executionId).toBeNull();
            payout = { ...payout, executionId: adopt };
            booked.add(adopt);
          }
          if (move) {
            expect(payout.status).toBe('PROCESSING');
            payout = { ...payout, status: move.to, executionId: move.executionId };
            if (move.executionId !== null) booked.add(move.executionId);
          }
          for (const { executionId, amount } of detectedAnomalies)
            if (amount !== null) booked.add(executionId ?? '');
          // What an answer stands by is in the books from then on, unless a person has to look first.
          if (answer?.state === 'settled' && payout.status !== 'PROCESSING')
            expect(booked.has(answer.executionId ?? '')).toBe(true);
        }
      }),
      { numRuns: 5000 },
    );
  });
});

describe('a message', () => {
  it.each<[string, OutcomeInput | null, RailNotification, ReturnType<typeof decideFromNotification>]>([
    ['that nobody knows the order of', null, paid('e1'), 'needs_verification'],
    ['of a settlement over another amount', open(), paid('e1', OTHER), 'needs_verification'],
    ['of a settlement of what was never sent', open({ attempts: 0 }), paid('e1'), 'needs_verification'],
    ['of a rejection', open(), DECLINED, 'needs_verification'],
    ['of a refusal of a repeat', open({ attempts: 2 }), REFUSED, 'needs_verification'],
    ['of the execution that confirmed it', ended('CONFIRMED'), paid('e1'), 'duplicate'],
    ['of another execution', ended('CONFIRMED'), paid('e2'), 'needs_verification'],
    ['of a settlement of what was declined', ended('DECLINED'), paid('e1'), 'needs_verification'],
    ['of a settlement of what was canceled', ended('CANCELED'), paid('e1'), 'needs_verification'],
    ['of a rejection of what was declined', ended('DECLINED'), DECLINED, 'duplicate'],
    ['of a refusal of what was confirmed', ended('CONFIRMED'), REFUSED, 'duplicate'],
  ])('%s', (_what, payout, notification, result) => {
    expect(decideFromNotification(payout, notification, free)).toEqual(result);
  });

  it('of the settlement that was to be expected confirms', () => {
    for (const attempts of [1, 2])
      expect(decideFromNotification(open({ attempts }), paid('e7'), free)).toEqual({
        move: { to: 'CONFIRMED', errorCode: null, executionId: 'e7', cause: 'settled_on_notification' },
        detectedAnomalies: [],
        sendAgain: false,
        adopt: null,
      });
  });

  it('of a settlement by an execution of another payout is not believed: the rail is queried', () => {
    expect(decideFromNotification(open(), paid('e7'), (id) => id === 'e7')).toBe('needs_verification');
  });

  it('of the refusal of a first and only attempt declines', () => {
    expect(decideFromNotification(open(), REFUSED, free)).toMatchObject({
      move: { to: 'DECLINED', errorCode: 'KEY_INVALID', executionId: null, cause: 'order_refused' },
    });
  });

  it('of a rejection of what was confirmed is a contradiction and nothing else', () => {
    expect(decideFromNotification(ended('CONFIRMED'), DECLINED, free)).toEqual({
      move: null,
      detectedAnomalies: [{ kind: 'contradiction', executionId: null, amount: null }],
      sendAgain: false,
      adopt: null,
    });
  });
});

describe('an answer', () => {
  it.each<[OutcomeInput | null, string]>([
    [null, 'unmatched'],
    [ended('CONFIRMED'), 'sent_again'],
    [ended('DECLINED'), 'sent_late'],
    [ended('CANCELED'), 'sent_late'],
  ])('of money that left where no open payout waits: suspense owes it', (payout, kind) => {
    expect(decideFromStatus(payout, settled('e9', OTHER), free, null)).toEqual({
      move: null,
      detectedAnomalies: [{ kind, executionId: 'e9', amount: OTHER }],
      sendAgain: false,
      adopt: null,
    });
  });

  it('of a settlement over another amount leaves it open, and a person must look', () => {
    expect(decideFromStatus(open(), settled('e9', OTHER), free, null)).toEqual({
      move: null,
      detectedAnomalies: [{ kind: 'contradiction', executionId: 'e9', amount: null }],
      sendAgain: false,
      adopt: null,
    });
  });

  it('of a rejection declines with its reason, or RAIL_REJECTED where it gives none', () => {
    const codeOf = (answer: OrderStatus) => decideFromStatus(open(), answer, free, null).move?.errorCode;
    expect(codeOf(railStatus('rejected', { errorCode: 'SUSPECTED_FRAUD' }))).toBe('SUSPECTED_FRAUD');
    expect(codeOf(railStatus('rejected'))).toBe('RAIL_REJECTED');
  });

  it('of a settlement by an execution of another payout moves neither state nor money: a contradiction', () => {
    for (const payout of [null, ...PAYOUTS])
      for (const amount of [OURS, OTHER])
        expect(decideFromStatus(payout, settled('e9', amount), () => true, null)).toEqual({
          move: null,
          detectedAnomalies: [{ kind: 'contradiction', executionId: 'e9', amount: null }],
          sendAgain: false,
          adopt: null,
        });
  });

  it('that is settled without saying by which execution is no answer', () => {
    expect(() => decideFromStatus(open(), railStatus('settled'), free, null)).toThrow('without an execution');
  });
});

describe('whether an answer bears a message out', () => {
  it.each<[string, OrderStatus, RailNotification, boolean]>([
    ['a settlement, and it names the execution', settled('e1'), paid('e1'), true],
    ['a settlement of another amount than it says', settled('e1'), paid('e1', OTHER), true],
    ['a settlement, and it names another execution', settled('e2'), paid('e1'), false],
    ['a settlement, and it is in process', railStatus('processing'), paid('e1'), false],
    ['a settlement, and it was rejected', railStatus('rejected'), paid('e1'), false],
    ['a rejection, and it was rejected', railStatus('rejected'), DECLINED, true],
    ['a rejection, and it was settled', settled('e1'), DECLINED, true],
    ['a rejection, and it is in process', railStatus('processing'), DECLINED, false],
    ['a rejection of what it does not know', railStatus('not_found'), DECLINED, false],
  ])('%s', (_what, answer, notification, result) => {
    expect(isConfirmedBy(answer, notification)).toBe(result);
  });
});

it('the rail is asked often at first and rarely later, but always again', () => {
  expect([0, 119_999, 120_000, 3_599_999, 3_600_000, 1e12].map(nextPollMs)).toEqual([
    5000, 5000, 30_000, 30_000, 300_000, 300_000,
  ]);
});
