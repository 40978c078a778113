import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import * as breb from '../../src/rails/breb/translate.ts';
import { ERROR_CODES, type RailAnswer, type RailErrorCode } from '../../src/rails/contract.ts';
import { BANKS } from '../../src/rails/pse/banks.ts';
import * as pse from '../../src/rails/pse/translate.ts';
import { type FaultyPeer, json, startFaultyPeer } from '../harness/faulty-peer.ts';
import { afterToken, BREB, PSE, type RailUnderTest } from '../harness/rails-under-test.ts';

/** Object.prototype property names, for which a lookup table must not return a function. */
const PROTOTYPE_PROPERTY_NAMES = ['constructor', '__proto__'];

describe('a rejection by the Bre-B node', () => {
  const order = BREB.order();
  const rejected = (code?: string) => {
    const result = { key: order.reference, status: 'REJECTED', ...(code === undefined ? {} : { code }) };
    return breb.openedAnswers([order], { results: [result] });
  };

  it.each<[string, string, RailErrorCode]>([
    ['0004', 'key not found or canceled', 'KEY_NOT_FOUND'],
    ['0005', 'suspended by client', 'KEY_SUSPENDED'],
    ['0006', 'suspended by participant', 'KEY_SUSPENDED'],
    ['4000', 'bad format', 'KEY_INVALID'],
    ['4001', 'bad format', 'KEY_INVALID'],
    ['5005', 'bad format', 'KEY_INVALID'],
    ['4011', 'risk or fraud', 'SUSPECTED_FRAUD'],
    ['4012', 'low-value deposit limit', 'LIMIT_EXCEEDED'],
    ['4013', 'network limit', 'NETWORK_LIMIT_EXCEEDED'],
    ['4014', 'participant limit', 'LIMIT_EXCEEDED'],
    ['4016', 'rejected', 'RAIL_REJECTED'],
  ])('with %s (%s) is a no with %s', (railCode, _meaning, errorCode) => {
    const elsewhere = railCode === '4014' || railCode === '4016';
    expect(rejected(railCode)).toEqual([{ kind: 'no', errorCode, railCode, elsewhere }]);
    expect(ERROR_CODES).toContain(errorCode);
  });

  it.each([
    ['5000', 'an internal node failure'],
    ['5001', 'a duplicate in progress, which may be our own earlier call'],
    ['4017', 'a timeout'],
    ['4019', 'a timeout'],
    ['4010', 'account not found, which does not concern a key'],
  ])('with %s, %s, is unknown', (code) => {
    expect(rejected(code)).toMatchObject([{ kind: 'unknown' }]);
  });

  it.each(['9999', '', undefined, ...PROTOTYPE_PROPERTY_NAMES])(
    'with the undocumented code %s is unknown',
    (code) => {
      expect(rejected(code)).toMatchObject([{ kind: 'unknown' }]);
    },
  );
});

describe('the status of a key', () => {
  const statusAnswer = (status: string, payments: unknown[]) =>
    breb.statusAnswers(['@KEY01'], { results: [{ key: '@KEY01', status, payments }] });
  const payment = { executionId: 'E1', amount: '49800.05', at: '2026-01-15T10:00:00.000Z' };

  it.each([
    ['REGISTERED', 'open'],
    ['CLOSED', 'closed'],
    ['NOT_FOUND', 'not_found'],
  ])('is read from %s without payments as %s', (status, state) => {
    expect(statusAnswer(status, [])).toMatchObject([{ kind: 'yes', value: { state, payments: [] } }]);
  });

  it.each(['REGISTERED', 'CLOSED', 'NOT_FOUND'])('is paid when %s has a payment', (status) => {
    const at = new Date(payment.at);
    expect(statusAnswer(status, [payment])).toMatchObject([
      { kind: 'yes', value: { state: 'paid', payments: [{ executionId: 'E1', amount: 4_980_005n, at }] } },
    ]);
  });

  it('keeps every payment of a key that was paid twice', () => {
    const [answer] = statusAnswer('CLOSED', [payment, { ...payment, executionId: 'E2', amount: '0.01' }]);
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
    ['with thousands separators', '49.800,05'],
    ['in exponential notation', '4.98e4'],
    ['nothing', null],
  ])('is unknown when a payment amount is %s', (_what, amount) => {
    expect(answerOrUnknown(() => statusAnswer('REGISTERED', [{ ...payment, amount }])[0])?.kind).toBe(
      'unknown',
    );
  });

  it.each([
    ['nothing', null],
    ['a boolean', true],
    ['not a timestamp', 'yesterday'],
  ])('is unknown when a payment time is %s', (_what, at) => {
    expect(answerOrUnknown(() => statusAnswer('REGISTERED', [{ ...payment, at }])[0])?.kind).toBe('unknown');
  });
});

describe('a PSE response to "create transaction"', () => {
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
  ])('%s is a no with %s', (returnCode, errorCode) => {
    const answer = pse.openedAnswer(order, { returnCode }, false);
    const elsewhere = returnCode !== 'FAIL_RISK' && returnCode !== 'FAIL_NOTCONFIRMEDBYBANK';
    expect(answer).toEqual({ kind: 'no', errorCode, railCode: returnCode, elsewhere });
    expect(ERROR_CODES).toContain(errorCode);
  });

  it.each(['FAIL_TIMEOUT', 'FAIL_CANNOTGETCURRENTCYCLE', 'FAIL_ACCESSDENIED', 'FAIL_NEVERSEENBEFORE'])(
    '%s does not concern the payer: unknown',
    (returnCode) => {
      expect(pse.openedAnswer(order, { returnCode }, false)).toMatchObject({ kind: 'unknown' });
    },
  );

  it('SUCCESS has the page URL, the transaction ID and its CUS', () => {
    const body = {
      returnCode: 'SUCCESS',
      transactionId: 'T1',
      trazabilityCode: '1234567',
      transactionCycle: '1',
      bankUrl: 'https://bank.example/pay?t=1',
    };
    expect(pse.openedAnswer(order, body, false)).toEqual({
      kind: 'yes',
      value: {
        reference: order.reference,
        pageUrl: 'https://bank.example/pay?t=1',
        transactionId: 'T1',
        traceId: '1234567',
      },
    });
  });

  it('is unknown in production when the bank page is plain http', () => {
    const body = {
      returnCode: 'SUCCESS',
      transactionId: 'T1',
      trazabilityCode: '1',
      bankUrl: 'http://bank.example/pay',
    };
    expect(pse.openedAnswer(order, body, false)).toEqual({
      kind: 'unknown',
      cause: 'the bank page is not https',
      sent: true,
    });
    expect(pse.openedAnswer(order, body, true)).toMatchObject({
      kind: 'yes',
      value: { pageUrl: body.bankUrl },
    });
  });

  it('uses a distinct network code for every bank', () => {
    const codes = BANKS.map(({ code }) => {
      const bank = { code, business: false, returnUrl: 'https://pay.example/p/x' };
      return (pse.toTransaction(PSE.order({ bank })) as { bankCode: string }).bankCode;
    });
    expect(codes.filter((code) => !/^1\d{3}$/.test(code))).toEqual([]);
    expect(new Set(codes).size).toBe(BANKS.length);
  });
});

describe('the status of a PSE transaction', () => {
  const information = {
    reference: 'REF1',
    state: 'PENDING',
    transactionId: 'T1',
    trazabilityCode: '1234567',
    bankUrl: 'https://bank.example/pay',
    amount: '49800.00',
    reason: null,
  };
  const statusAnswer = (changes: object) =>
    pse.statusAnswers(['REF1'], { results: [{ ...information, ...changes }] }, false)[0];
  const declined = (reason: unknown, state = 'NOT_AUTHORIZED') => {
    const answer = statusAnswer({ state, reason });
    return answer?.kind === 'yes' ? answer.value : null;
  };

  it('counts without its bank page when the page is plain http', () => {
    expect(statusAnswer({ state: 'OK', bankUrl: 'http://bank.example/pay' })).toMatchObject({
      kind: 'yes',
      value: { state: 'paid', payments: [{ executionId: 'T1' }], opened: { pageUrl: null } },
    });
  });

  it.each<[number, string, RailErrorCode]>([
    [1, 'payer canceled', 'PAYER_CANCELED'],
    [2, 'account seized', 'ACCOUNT_BLOCKED'],
    [3, 'account inactive', 'ACCOUNT_BLOCKED'],
    [4, 'account does not exist', 'ACCOUNT_NOT_FOUND'],
    [5, 'account not enabled', 'ACCOUNT_BLOCKED'],
    [6, 'account not assigned', 'ACCOUNT_NOT_FOUND'],
    [7, 'account closed', 'ACCOUNT_CLOSED'],
    [8, 'limit exceeded', 'LIMIT_EXCEEDED'],
    [9, 'institution unavailable', 'BANK_UNAVAILABLE'],
    [10, 'technical failure', 'RAIL_REJECTED'],
    [11, 'insufficient funds', 'INSUFFICIENT_FUNDS'],
    [12, 'inconsistent data', 'INVALID_DATA'],
    [13, 'account canceled', 'ACCOUNT_CLOSED'],
    [14, 'expired while pending', 'PAYER_ABANDONED'],
    [15, 'not completed by the user', 'PAYER_ABANDONED'],
    [16, 'invalid login', 'INVALID_DATA'],
    [17, 'service not active', 'RAIL_REJECTED'],
  ])('maps decline reason %i (%s) to %s', (reason, _meaning, errorCode) => {
    expect(ERROR_CODES).toContain(errorCode);
    for (const reasonValue of [reason, String(reason)])
      for (const state of ['NOT_AUTHORIZED', 'FAILED'])
        expect(declined(reasonValue, state)).toMatchObject({ state: 'declined', errorCode, payments: [] });
  });

  it.each([0, 18, '', 'R99', null])('maps the undocumented decline reason %s to RAIL_REJECTED', (reason) => {
    expect(declined(reason)).toMatchObject({ state: 'declined', errorCode: 'RAIL_REJECTED' });
  });

  it.each(PROTOTYPE_PROPERTY_NAMES)('maps decline reason "%s" to RAIL_REJECTED', (reason) => {
    expect(declined(reason)).toMatchObject({ state: 'declined', errorCode: 'RAIL_REJECTED' });
  });

  it.each([
    ['PENDING', 'open'],
    ['NOT_AUTHORIZED', 'declined'],
    ['FAILED', 'declined'],
    ['NOT_FOUND', 'not_found'],
  ])('%s is %s, without payments', (state, expectedState) => {
    expect(statusAnswer({ state })).toMatchObject({
      kind: 'yes',
      value: { state: expectedState, payments: [] },
    });
  });

  it('only OK is a payment, with the amount of the transaction', () => {
    expect(statusAnswer({ state: 'OK' })).toMatchObject({
      kind: 'yes',
      value: { state: 'paid', payments: [{ executionId: 'T1', amount: 4_980_000n }], errorCode: null },
    });
  });

  it.each([{ amount: null }, { transactionId: null }])(
    'OK with %o is unknown, because the payment cannot be identified',
    (missing) => {
      const read = () => statusAnswer({ state: 'OK', ...missing });
      expect(answerOrUnknown(read)?.kind).toBe('unknown');
    },
  );

  it('never returns a page URL that is not HTTP', () => {
    const answer = answerOrUnknown(() => statusAnswer({ bankUrl: 'javascript:alert(1)' }));
    expect(answer?.kind === 'yes' && answer.value.opened?.pageUrl).not.toBe('javascript:alert(1)');
  });
});

/** As the connector does: an unreadable response is unknown. */
function answerOrUnknown<T>(read: () => RailAnswer<T> | undefined): RailAnswer<T> | undefined {
  try {
    return read();
  } catch {
    return { kind: 'unknown', cause: 'unreadable', sent: true };
  }
}

describe('no response of any shape makes a connector throw', () => {
  let response: unknown;
  let faultyPeer: FaultyPeer;
  beforeAll(async () => {
    faultyPeer = await startFaultyPeer(afterToken(() => json(response)));
  });
  afterAll(() => faultyPeer?.stop());

  it.each([BREB, PSE])('$rail: returns one answer per order and reference', async (rail) => {
    const connector = rail.connect(faultyPeer.url);
    const [order, other] = [rail.order(), rail.order()];
    try {
      const property = fc.assert(
        fc.asyncProperty(fc.oneof(fc.jsonValue(), nearMiss(rail, order.reference)), async (body) => {
          response = body;
          const references = [order.reference, other.reference];
          expectValidAnswers(await connector.open([order]), [order.reference]);
          expectValidAnswers(await connector.queryStatus(references), references);
          if (connector.capabilities.maxCloseBatch > 0)
            expectValidAnswers(await connector.close(references), references);
        }),
        { numRuns: 200 },
      );
      await expect(property).resolves.toBeUndefined();
    } finally {
      await connector.disconnect();
    }
  });

  it.each([BREB, PSE])('$rail: some of the generated responses are readable', async (rail) => {
    const connector = rail.connect(faultyPeer.url);
    const { reference } = rail.order();
    const kinds = new Set<string>();
    for (const body of fc.sample(nearMiss(rail, reference), 200)) {
      response = body;
      for (const answer of await connector.queryStatus([reference])) kinds.add(answer.kind);
    }
    await connector.disconnect();
    expect(kinds).toEqual(new Set(['yes', 'unknown']));
  });
});

function expectValidAnswers(
  answers: readonly RailAnswer<{ reference: string }>[],
  references: readonly string[],
): void {
  expect(answers).toHaveLength(references.length);
  for (const [index, answer] of answers.entries()) {
    expect(['yes', 'no', 'unknown']).toContain(answer.kind);
    // An answer about one reference must never be applied to another.
    if (answer.kind === 'yes') expect(answer.value.reference).toBe(references[index]);
    if (answer.kind === 'no') expect(ERROR_CODES).toContain(answer.errorCode);
    if (answer.kind === 'unknown') expect(answer.cause).not.toBe('');
  }
}

/**
 * Responses of the right shape in which any member may have a wrong type, be missing or belong to another
 * reference.
 */
function nearMiss(rail: RailUnderTest, reference: string): fc.Arbitrary<unknown> {
  const usually = (...right: unknown[]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...right) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
    );
  const payment = fc.record({
    executionId: usually('E1'),
    amount: usually('49800.00', '0.00', '99999999999999999999.99'),
    at: usually('2026-01-15T10:00:00.000Z'),
  });
  const members: Record<string, fc.Arbitrary<unknown>> = rail.rail === 'BRE_B'
    ? {
        key: usually(reference),
        status: usually('REGISTERED', 'REJECTED', 'CLOSED', 'NOT_FOUND'),
        code: usually('0004', '5000', '5001'),
        payments: fc.oneof(usually([]), fc.array(payment, { maxLength: 2 })),
      }
    : {
        reference: usually(reference),
        state: usually('PENDING', 'OK', 'NOT_AUTHORIZED', 'FAILED', 'NOT_FOUND'),
        transactionId: usually('T1', null),
        trazabilityCode: usually('1', null),
        bankUrl: usually('https://bank.example/', null),
        amount: usually('49800.00', null),
        reason: usually(null, 1, '11'),
      };
  const result = fc.record(members, { noNullPrototype: true });
  return fc.record(
    {
      results: fc.oneof(
        usually([]),
        fc.array(fc.oneof({ weight: 9, arbitrary: result }, usually(null)), { maxLength: 3 }),
      ),
      returnCode: usually('SUCCESS', 'FAIL_RISK', 'FAIL_TIMEOUT', 'FAIL_X'),
      transactionId: usually('T1'),
      trazabilityCode: usually('1'),
      bankUrl: usually('https://bank.example/', 'bank'),
    },
    { requiredKeys: ['results', 'returnCode'], noNullPrototype: true },
  );
}
