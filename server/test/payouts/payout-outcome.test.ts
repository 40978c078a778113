import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cents } from '../../src/kit/money.ts';
import {
  type Judged,
  type Judgement,
  judgeMessage,
  judgeStanding,
  standsBy,
} from '../../src/payouts/payout.outcome.ts';
import { nextQuestionMs } from '../../src/payouts/payout.questions.ts';
import { isFinal, PAYOUT_STATUSES } from '../../src/payouts/payout.states.ts';
import type { OrderStanding, Told } from '../../src/rails/contract.ts';

const OURS = cents(5000n);
const OTHER = cents(4999n);
const BOTH = [true, false];

/** Every payout there can be: one that is unsent has nothing under way, and only one that was sent ends at the rail. */
const PAYOUTS: readonly Judged[] = PAYOUT_STATUSES.flatMap((status) =>
  (status === 'CANCELED' ? [0] : status === 'CONFIRMED' ? [1, 2] : [0, 1, 2]).flatMap((attempts) =>
    BOTH.flatMap((refusesDuplicates) =>
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
            refusesDuplicates,
          })),
        ),
      ),
    ),
  ),
);

const standing = (state: OrderStanding['state'], changes: Partial<OrderStanding> = {}): OrderStanding => ({
  endToEndId: 'E2E',
  state,
  executionId: null,
  amount: null,
  errorCode: null,
  ...changes,
});
const settled = (executionId: string, amount = OURS) => standing('settled', { executionId, amount });

const STANDINGS: readonly OrderStanding[] = [
  standing('processing'),
  standing('not_found'),
  standing('rejected', { errorCode: 'ACCOUNT_NOT_FOUND' }),
  standing('rejected'),
  ...['e1', 'e2'].flatMap((id) => [settled(id), settled(id, OTHER)]),
];

const paid = (executionId: string, amount = OURS): Told => ({ kind: 'paid', executionId, amount });
const DECLINED: Told = { kind: 'declined', errorCode: 'LIMIT_EXCEEDED' };
const REFUSED: Told = { kind: 'refused', errorCode: 'KEY_INVALID' };
const WORDS: readonly Told[] = [
  ...['e1', 'e2'].flatMap((id) => [paid(id), paid(id, OTHER)]),
  DECLINED,
  REFUSED,
];

const OPEN: Judged = {
  status: 'PROCESSING',
  amount: OURS,
  attempts: 1,
  executionId: null,
  refusal: null,
  nothingUnderWay: false,
  refusesDuplicates: true,
};
const open = (changes: Partial<Judged> = {}): Judged => ({ ...OPEN, ...changes });
const ended = (status: Judged['status']): Judged => ({
  ...OPEN,
  status,
  executionId: status === 'CONFIRMED' ? 'e1' : null,
});

/** No execution is accounted to another payout. */
const free = () => false;

/** Everything the rail can answer about everything, with and without a message before. */
function everyAnswer(
  check: (judgement: Judgement, payout: Judged | null, answer: OrderStanding, told: Told | null) => void,
): void {
  for (const payout of [null, ...PAYOUTS])
    for (const answer of STANDINGS)
      for (const told of [null, ...WORDS])
        check(judgeStanding(payout, answer, free, told), payout, answer, told);
}

/** Everything it can tell by itself; only what is believed. */
function everyBelief(check: (judgement: Judgement, payout: Judged | null, told: Told) => void): void {
  for (const payout of [null, ...PAYOUTS])
    for (const told of WORDS) {
      const judgement = judgeMessage(payout, told, free);
      if (typeof judgement !== 'string') check(judgement, payout, told);
    }
}

describe('whatever a rail says', () => {
  it('a final state absorbs it: no move and nothing sent again', () => {
    const untouched = ({ move, sendAgain }: Judgement, payout: Judged | null) => {
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
    everyBelief(({ move }, payout, told) => {
      if (move?.to !== 'CONFIRMED') return;
      expect(told).toEqual(paid(move.executionId ?? ''));
      expect(payout?.attempts, 'what was never sent is asked about').toBeGreaterThan(0);
    });
  });

  it('nothing is sent again but an open order that the rail never had, when nothing is under way and it refuses doubles', () => {
    everyAnswer(({ sendAgain, move }, payout, answer) => {
      const may =
        payout?.status === 'PROCESSING' &&
        payout.attempts > 0 &&
        payout.nothingUnderWay &&
        payout.refusesDuplicates &&
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
    everyAnswer(({ move, oddities, adopt }, payout, answer) => {
      if (answer.state !== 'settled') return;
      const confirms = (move?.executionId ?? adopt) === answer.executionId;
      const known = payout?.status === 'CONFIRMED' && payout.executionId === answer.executionId;
      const money = oddities.filter(({ amount }) => amount !== null);
      const looks = oddities.filter(
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
    everyBelief(({ oddities }) => expect(oddities.every(({ amount }) => amount === null)).toBe(true));
    everyAnswer(({ oddities }, _payout, answer) => {
      if (answer.state !== 'settled') expect(oddities.every(({ amount }) => amount === null)).toBe(true);
    });
  });

  it('an announced execution that the rail does not stand by is never dropped', () => {
    everyAnswer(({ oddities }, payout, answer, told) => {
      if (told?.kind !== 'paid' || standsBy(answer, told)) return;
      expect(oddities).toContainEqual({
        kind: payout ? 'unfounded' : 'unmatched',
        executionId: told.executionId,
        amount: null,
      });
    });
  });

  it('through any history, each execution is booked once at most, and what is final stays', () => {
    const word = fc.oneof(
      fc.record({ answer: fc.constantFrom(...STANDINGS), told: fc.constantFrom(null, ...WORDS) }),
      fc.record({ answer: fc.constant(null), told: fc.constantFrom(...WORDS) }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...PAYOUTS), fc.array(word, { maxLength: 12 }), (first, words) => {
        let payout = first;
        const booked = new Set(first.executionId === null ? [] : [first.executionId]);
        for (const { answer, told } of words) {
          const judgement = answer
            ? judgeStanding(payout, answer, free, told)
            : told && judgeMessage(payout, told, free);
          if (judgement === null || typeof judgement === 'string') continue;
          const { move, oddities, adopt } = judgement;
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
          for (const { executionId, amount } of oddities) if (amount !== null) booked.add(executionId ?? '');
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
  it.each<[string, Judged | null, Told, ReturnType<typeof judgeMessage>]>([
    ['that nobody knows the order of', null, paid('e1'), 'doubtful'],
    ['of a settlement over another amount', open(), paid('e1', OTHER), 'doubtful'],
    ['of a settlement of what was never sent', open({ attempts: 0 }), paid('e1'), 'doubtful'],
    ['of a rejection', open(), DECLINED, 'doubtful'],
    ['of a refusal of a repeat', open({ attempts: 2 }), REFUSED, 'doubtful'],
    ['of the execution that confirmed it', ended('CONFIRMED'), paid('e1'), 'known'],
    ['of another execution', ended('CONFIRMED'), paid('e2'), 'doubtful'],
    ['of a settlement of what was declined', ended('DECLINED'), paid('e1'), 'doubtful'],
    ['of a settlement of what was canceled', ended('CANCELED'), paid('e1'), 'doubtful'],
    ['of a rejection of what was declined', ended('DECLINED'), DECLINED, 'known'],
    ['of a refusal of what was confirmed', ended('CONFIRMED'), REFUSED, 'known'],
  ])('%s', (_what, payout, told, result) => {
    expect(judgeMessage(payout, told, free)).toEqual(result);
  });

  it('of the settlement that was to be expected confirms', () => {
    for (const attempts of [1, 2])
      expect(judgeMessage(open({ attempts }), paid('e7'), free)).toEqual({
        move: { to: 'CONFIRMED', errorCode: null, executionId: 'e7', cause: 'settled, by notice' },
        oddities: [],
        sendAgain: false,
        adopt: null,
      });
  });

  it('of a settlement by an execution of another payout is not believed: the rail is queried', () => {
    expect(judgeMessage(open(), paid('e7'), (id) => id === 'e7')).toBe('doubtful');
  });

  it('of the refusal of a first and only attempt declines', () => {
    expect(judgeMessage(open(), REFUSED, free)).toMatchObject({
      move: { to: 'DECLINED', errorCode: 'KEY_INVALID', executionId: null, cause: 'refused by the rail' },
    });
  });

  it('of a rejection of what was confirmed is a contradiction and nothing else', () => {
    expect(judgeMessage(ended('CONFIRMED'), DECLINED, free)).toEqual({
      move: null,
      oddities: [{ kind: 'contradiction', executionId: null, amount: null }],
      sendAgain: false,
      adopt: null,
    });
  });
});

describe('an answer', () => {
  it.each<[Judged | null, string]>([
    [null, 'unmatched'],
    [ended('CONFIRMED'), 'sent_again'],
    [ended('DECLINED'), 'sent_late'],
    [ended('CANCELED'), 'sent_late'],
  ])('of money that left where no open payout waits: suspense owes it', (payout, kind) => {
    expect(judgeStanding(payout, settled('e9', OTHER), free, null)).toEqual({
      move: null,
      oddities: [{ kind, executionId: 'e9', amount: OTHER }],
      sendAgain: false,
      adopt: null,
    });
  });

  it('of a settlement over another amount leaves it open, and a person must look', () => {
    expect(judgeStanding(open(), settled('e9', OTHER), free, null)).toEqual({
      move: null,
      oddities: [{ kind: 'contradiction', executionId: 'e9', amount: null }],
      sendAgain: false,
      adopt: null,
    });
  });

  it('of a rejection declines with its reason, or RAIL_REJECTED where it gives none', () => {
    const codeOf = (answer: OrderStanding) => judgeStanding(open(), answer, free, null).move?.errorCode;
    expect(codeOf(standing('rejected', { errorCode: 'SUSPECTED_FRAUD' }))).toBe('SUSPECTED_FRAUD');
    expect(codeOf(standing('rejected'))).toBe('RAIL_REJECTED');
  });

  it('of a settlement by an execution of another payout moves neither state nor money: a contradiction', () => {
    for (const payout of [null, ...PAYOUTS])
      for (const amount of [OURS, OTHER])
        expect(judgeStanding(payout, settled('e9', amount), () => true, null)).toEqual({
          move: null,
          oddities: [{ kind: 'contradiction', executionId: 'e9', amount: null }],
          sendAgain: false,
          adopt: null,
        });
  });

  it('that is settled without saying by which execution is no answer', () => {
    expect(() => judgeStanding(open(), standing('settled'), free, null)).toThrow('without an execution');
  });
});

describe('whether an answer bears a message out', () => {
  it.each<[string, OrderStanding, Told, boolean]>([
    ['a settlement, and it names the execution', settled('e1'), paid('e1'), true],
    ['a settlement of another amount than it says', settled('e1'), paid('e1', OTHER), true],
    ['a settlement, and it names another execution', settled('e2'), paid('e1'), false],
    ['a settlement, and it is in process', standing('processing'), paid('e1'), false],
    ['a settlement, and it was rejected', standing('rejected'), paid('e1'), false],
    ['a rejection, and it was rejected', standing('rejected'), DECLINED, true],
    ['a rejection, and it was settled', settled('e1'), DECLINED, true],
    ['a rejection, and it is in process', standing('processing'), DECLINED, false],
    ['a rejection of what it does not know', standing('not_found'), DECLINED, false],
  ])('%s', (_what, answer, told, result) => {
    expect(standsBy(answer, told)).toBe(result);
  });
});

it('the rail is asked often at first and rarely later, but always again', () => {
  expect([0, 119_999, 120_000, 3_599_999, 3_600_000, 1e12].map(nextQuestionMs)).toEqual([
    5000, 5000, 30_000, 30_000, 300_000, 300_000,
  ]);
});
