import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as breb from '../../src/rails/breb/translate.ts';
import { ERROR_CODES, type RailAnswer, type RailErrorCode } from '../../src/rails/contract.ts';
import { BANKS } from '../../src/rails/pse/banks.ts';
import * as pse from '../../src/rails/pse/translate.ts';
import { type FaultyPeer, json, startFaultyPeer } from '../harness/faulty-peer.ts';
import { afterToken, BREB, PSE, type RailUnderTest } from '../harness/rails-under-test.ts';

/** Names that every object has: a table looked up with one of them must not answer with a function. */
const NAMES_OF_EVERY_OBJECT = ['constructor', '__proto__'];

describe('a rejection by the Bre-B node', () => {
  const order = BREB.order();
  const rejected = (code?: string) => {
    const result = { key: order.reference, status: 'REJECTED', ...(code === undefined ? {} : { code }) };
    return breb.openedAnswers([order], { results: [result] });
  };

  it.each<[string, string, RailErrorCode]>([
    ['0004', 'no such key or canceled', 'KEY_NOT_FOUND'],
    ['0005', 'suspended by client', 'KEY_SUSPENDED'],
    ['0006', 'suspended by participant', 'KEY_SUSPENDED'],
    ['4000', 'bad format', 'KEY_INVALID'],
    ['4001', 'bad format', 'KEY_INVALID'],
    ['5005', 'bad format', 'KEY_INVALID'],
    ['4011', 'risk or fraud', 'SUSPECTED_FRAUD'],
    ['4012', 'limit of the low-value deposit', 'LIMIT_EXCEEDED'],
    ['4013', 'limit of the network', 'NETWORK_LIMIT_EXCEEDED'],
    ['4014', 'limit of the participant', 'LIMIT_EXCEEDED'],
    ['4016', 'rejected', 'RAIL_REJECTED'],
  ])('with %s (%s) is a no, told to the merchant as %s', (railCode, _meaning, errorCode) => {
    expect(rejected(railCode)).toEqual([{ kind: 'no', errorCode, railCode }]);
    expect(ERROR_CODES).toContain(errorCode);
  });

  it.each([
    ['5000', 'a failure inside the node'],
    ['5001', 'a duplicate in process, which may be our own earlier call'],
    ['4017', 'a time-out'],
    ['4019', 'a time-out'],
    ['4010', 'no such account, which says nothing about a key'],
  ])('with %s, %s, is unknown', (code) => {
    expect(rejected(code)).toMatchObject([{ kind: 'unknown' }]);
  });

  it.each(['9999', '', undefined, ...NAMES_OF_EVERY_OBJECT])(
    'with the undocumented code %s is unknown',
    (code) => {
      expect(rejected(code)).toMatchObject([{ kind: 'unknown' }]);
    },
  );
});

describe('how a key stands', () => {
  const standing = (status: string, payments: unknown[]) =>
    breb.statusAnswers(['@KEY01'], { results: [{ key: '@KEY01', status, payments }] });
  const payment = { executionId: 'E1', amount: '49800.05', at: '2026-01-15T10:00:00.000Z' };

  it.each([
    ['REGISTERED', 'open'],
    ['CLOSED', 'closed'],
    ['NOT_FOUND', 'not_found'],
  ])('is read from %s without payments as %s', (status, state) => {
    expect(standing(status, [])).toMatchObject([{ kind: 'yes', value: { state, payments: [] } }]);
  });

  it.each(['REGISTERED', 'CLOSED', 'NOT_FOUND'])('is paid when %s comes with a payment', (status) => {
    const at = new Date(payment.at);
    expect(standing(status, [payment])).toMatchObject([
      { kind: 'yes', value: { state: 'paid', payments: [{ executionId: 'E1', amount: 4_980_005n, at }] } },
    ]);
  });

  it('keeps every payment of a key that was paid twice', () => {
    const [answer] = standing('CLOSED', [payment, { ...payment, executionId: 'E2', amount: '0.01' }]);
    expect(answer?.kind === 'yes' && answer.value.payments.map(({ amount }) => amount)).toEqual([
      4_980_005n,
      1n,
    ]);
  });

  it.each([
    ['a number', 49_800.05],
    ['without decimals', '49800'],
    ['with one decimal', '49800.5'],
    ['negative', '-49800.05'],
    ['with thousands', '49.800,05'],
    ['in exponents', '4.98e4'],
    ['nothing', null],
  ])('cannot be read from a payment whose amount is %s', (_what, amount) => {
    expect(answerOrUnknown(() => standing('REGISTERED', [{ ...payment, amount }])[0])?.kind).toBe('unknown');
  });

  it.each([
    ['nothing', null],
    ['a truth', true],
    ['no time', 'yesterday'],
  ])('cannot be read from a payment whose time is %s', (_what, at) => {
    expect(answerOrUnknown(() => standing('REGISTERED', [{ ...payment, at }])[0])?.kind).toBe('unknown');
  });
});

describe('an answer of PSE to "create transaction"', () => {
  const order = PSE.order();

  it.each<[string, RailErrorCode]>([
    ['FAIL_ENTITYNOTEXISTSORDISABLED', 'RAIL_REJECTED'],
    ['FAIL_BANKNOTEXISTSORDISABLED', 'BANK_UNAVAILABLE'],
    ['FAIL_SERVICENOTEXISTS', 'RAIL_REJECTED'],
    ['FAIL_INVALIDAMOUNT', 'LIMIT_EXCEEDED'],
    ['FAIL_BANKUNREACHEABLE', 'BANK_UNAVAILABLE'],
    ['FAIL_NOTCONFIRMEDBYBANK', 'BANK_UNAVAILABLE'],
    ['FAIL_EXCEEDEDLIMIT', 'LIMIT_EXCEEDED'],
    ['FAIL_TRANSACTIONNOTALLOWED', 'RAIL_REJECTED'],
    ['FAIL_RISK', 'SUSPECTED_FRAUD'],
    ['FAIL_NOHOST', 'BANK_UNAVAILABLE'],
    ['FAIL_NOTALLOWEDBYTIME', 'BANK_UNAVAILABLE'],
  ])('%s is a no, told to the merchant as %s', (returnCode, errorCode) => {
    const answer = pse.openedAnswer(order, { returnCode });
    expect(answer).toEqual({ kind: 'no', errorCode, railCode: returnCode });
    expect(ERROR_CODES).toContain(errorCode);
  });

  it.each(['FAIL_TIMEOUT', 'FAIL_CANNOTGETCURRENTCYCLE', 'FAIL_ACCESSDENIED', 'FAIL_NEVERSEENBEFORE'])(
    '%s says nothing about the payer, so it is unknown',
    (returnCode) => {
      expect(pse.openedAnswer(order, { returnCode })).toMatchObject({ kind: 'unknown' });
    },
  );

  it('SUCCESS carries the page, the transaction and its CUS', () => {
    const body = {
      returnCode: 'SUCCESS',
      transactionId: 'T1',
      trazabilityCode: '1234567',
      transactionCycle: '1',
      bankUrl: 'https://bank.example/pay?t=1',
    };
    expect(pse.openedAnswer(order, body)).toEqual({
      kind: 'yes',
      value: {
        reference: order.reference,
        pageUrl: 'https://bank.example/pay?t=1',
        transactionId: 'T1',
        traceId: '1234567',
      },
    });
  });

  it('is given for every bank we offer under a network code of its own', () => {
    const codes = BANKS.map(({ code }) => {
      const bank = { code, business: false, returnUrl: 'https://pay.example/p/x' };
      return (pse.transaction(PSE.order({ bank })) as { bankCode: string }).bankCode;
    });
    expect(codes.filter((code) => !/^1\d{3}$/.test(code))).toEqual([]);
    expect(new Set(codes).size).toBe(BANKS.length);
  });
});

describe('how a PSE transaction stands', () => {
  const information = {
    reference: 'REF1',
    state: 'PENDING',
    transactionId: 'T1',
    trazabilityCode: '1234567',
    bankUrl: 'https://bank.example/pay',
    amount: '49800.00',
    reason: null,
  };
  const standing = (changes: object) =>
    pse.statusAnswers(['REF1'], { results: [{ ...information, ...changes }] })[0];
  const declined = (reason: unknown, state = 'NOT_AUTHORIZED') => {
    const answer = standing({ state, reason });
    return answer?.kind === 'yes' ? answer.value : null;
  };

  it.each<[number, string, RailErrorCode]>([
    [1, 'payer cancelled', 'PAYER_CANCELED'],
    [2, 'account seized', 'ACCOUNT_BLOCKED'],
    [3, 'account inactive', 'ACCOUNT_BLOCKED'],
    [4, 'account does not exist', 'ACCOUNT_NOT_FOUND'],
    [5, 'account not enabled', 'ACCOUNT_BLOCKED'],
    [6, 'account not assigned', 'ACCOUNT_NOT_FOUND'],
    [7, 'account closed', 'ACCOUNT_CLOSED'],
    [8, 'over the limit', 'LIMIT_EXCEEDED'],
    [9, 'institution unavailable', 'BANK_UNAVAILABLE'],
    [10, 'technical failure', 'RAIL_REJECTED'],
    [11, 'insufficient funds', 'INSUFFICIENT_FUNDS'],
    [12, 'inconsistent data', 'INVALID_DATA'],
    [13, 'account cancelled', 'ACCOUNT_CLOSED'],
    [14, 'pending time over', 'PAYER_ABANDONED'],
    [15, 'not concluded by the user', 'PAYER_ABANDONED'],
    [16, 'invalid login', 'INVALID_DATA'],
    [17, 'service not active', 'RAIL_REJECTED'],
  ])('decline reason %i (%s) is told to the merchant as %s', (reason, _meaning, errorCode) => {
    expect(ERROR_CODES).toContain(errorCode);
    for (const written of [reason, String(reason)])
      for (const state of ['NOT_AUTHORIZED', 'FAILED'])
        expect(declined(written, state)).toMatchObject({ state: 'declined', errorCode, payments: [] });
  });

  it.each([0, 18, '', 'R99', null])(
    'decline reason %s, which nobody documented, is a rejection',
    (reason) => {
      expect(declined(reason)).toMatchObject({ state: 'declined', errorCode: 'RAIL_REJECTED' });
    },
  );

  it.each(NAMES_OF_EVERY_OBJECT)('decline reason "%s" is a rejection', (reason) => {
    expect(declined(reason)).toMatchObject({ state: 'declined', errorCode: 'RAIL_REJECTED' });
  });

  it.each([
    ['PENDING', 'open'],
    ['NOT_AUTHORIZED', 'declined'],
    ['FAILED', 'declined'],
    ['NOT_FOUND', 'not_found'],
  ])('%s is no money', (state, ours) => {
    expect(standing({ state })).toMatchObject({ kind: 'yes', value: { state: ours, payments: [] } });
  });

  it('only OK is money: one payment of what the transaction says', () => {
    expect(standing({ state: 'OK' })).toMatchObject({
      kind: 'yes',
      value: { state: 'paid', payments: [{ executionId: 'T1', amount: 4_980_000n }], errorCode: null },
    });
  });

  it.each([{ amount: null }, { transactionId: null }])(
    'OK with %o is not paid, for nobody could say what was paid',
    (missing) => {
      const read = () => standing({ state: 'OK', ...missing });
      expect(answerOrUnknown(read)?.kind).toBe('unknown');
    },
  );

  it('a page that is no web address is not given to a payer', () => {
    const answer = answerOrUnknown(() => standing({ bankUrl: 'javascript:alert(1)' }));
    expect(answer?.kind === 'yes' && answer.value.opened?.pageUrl).not.toBe('javascript:alert(1)');
  });
});

/** As a connector sees it: what the reader cannot read is unknown. */
function answerOrUnknown<T>(read: () => RailAnswer<T> | undefined): RailAnswer<T> | undefined {
  try {
    return read();
  } catch {
    return { kind: 'unknown', cause: 'unreadable' };
  }
}

describe('no answer of any shape makes a connector throw', () => {
  let said: unknown;
  let rude: FaultyPeer;
  beforeAll(async () => {
    rude = await startFaultyPeer(afterToken(() => json(said)));
  });
  afterAll(() => rude?.stop());

  it.each([BREB, PSE])('$rail: every answer is one answer for each order and reference', async (rail) => {
    const connector = rail.connect(rude.url);
    const [order, other] = [rail.order(), rail.order()];
    try {
      const property = fc.assert(
        fc.asyncProperty(fc.oneof(fc.jsonValue(), nearMiss(rail, order.reference)), async (body) => {
          said = body;
          const references = [order.reference, other.reference];
          judge(await connector.open([order]), [order.reference]);
          judge(await connector.ask(references), references);
          if (connector.capabilities.maxCloseBatch > 0) judge(await connector.close(references), references);
        }),
        { numRuns: 200 },
      );
      await expect(property).resolves.toBeUndefined();
    } finally {
      await connector.disconnect();
    }
  });

  it.each([BREB, PSE])(
    '$rail: the generated answers are near enough to be read now and then',
    async (rail) => {
      const connector = rail.connect(rude.url);
      const { reference } = rail.order();
      const kinds = new Set<string>();
      for (const body of fc.sample(nearMiss(rail, reference), 200)) {
        said = body;
        for (const answer of await connector.ask([reference])) kinds.add(answer.kind);
      }
      await connector.disconnect();
      expect(kinds).toEqual(new Set(['yes', 'unknown']));
    },
  );
});

function judge(answers: readonly RailAnswer<{ reference: string }>[], references: readonly string[]): void {
  expect(answers).toHaveLength(references.length);
  for (const [index, answer] of answers.entries()) {
    expect(['yes', 'no', 'unknown']).toContain(answer.kind);
    // What an answer says of one reference must never be taken for another's.
    if (answer.kind === 'yes') expect(answer.value.reference).toBe(references[index]);
    if (answer.kind === 'no') expect(ERROR_CODES).toContain(answer.errorCode);
    if (answer.kind === 'unknown') expect(answer.cause).not.toBe('');
  }
}

/** Answers of the right shape in which any member may be of the wrong kind, missing, or another's. */
function nearMiss(rail: RailUnderTest, reference: string): fc.Arbitrary<unknown> {
  const odd = (...right: unknown[]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...right) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
    );
  const payment = fc.record({
    executionId: odd('E1'),
    amount: odd('49800.00', '0.00', '99999999999999999999.99'),
    at: odd('2026-01-15T10:00:00.000Z'),
  });
  const members: Record<string, fc.Arbitrary<unknown>> = rail.rail === 'BRE_B'
    ? {
        key: odd(reference),
        status: odd('REGISTERED', 'REJECTED', 'CLOSED', 'NOT_FOUND'),
        code: odd('0004', '5000', '5001'),
        payments: fc.oneof(odd([]), fc.array(payment, { maxLength: 2 })),
      }
    : {
        reference: odd(reference),
        state: odd('PENDING', 'OK', 'NOT_AUTHORIZED', 'FAILED', 'NOT_FOUND'),
        transactionId: odd('T1', null),
        trazabilityCode: odd('1', null),
        bankUrl: odd('https://bank.example/', null),
        amount: odd('49800.00', null),
        reason: odd(null, 1, '11'),
      };
  const result = fc.record(members, { noNullPrototype: true });
  return fc.record(
    {
      results: fc.oneof(
        odd([]),
        fc.array(fc.oneof({ weight: 9, arbitrary: result }, odd(null)), { maxLength: 3 }),
      ),
      returnCode: odd('SUCCESS', 'FAIL_RISK', 'FAIL_TIMEOUT', 'FAIL_X'),
      transactionId: odd('T1'),
      trazabilityCode: odd('1'),
      bankUrl: odd('https://bank.example/', 'bank'),
    },
    { requiredKeys: ['results', 'returnCode'], noNullPrototype: true },
  );
}
