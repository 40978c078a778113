import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { brebNotice, openedAnswers } from '../../src/rails/breb/translate.ts';
import { orderStatusAnswers, payAnswers, resolutionAnswer } from '../../src/rails/breb/translate-orders.ts';
import { ERROR_CODES, type RailErrorCode } from '../../src/rails/contract.ts';
import { pseNotice } from '../../src/rails/pse/translate.ts';
import { BREB, payOrder } from '../harness/rails-under-test.ts';

/**
 * Undocumented codes, including Object.prototype property names, for which a lookup table must not return a
 * function.
 */
const UNDOCUMENTED_CODES = ['9999', '', '4', '__proto__', 'constructor', 'toString'];

const DECIDED: [string, RailErrorCode][] = [
  ['0004', 'KEY_NOT_FOUND'],
  ['0005', 'KEY_SUSPENDED'],
  ['0006', 'KEY_SUSPENDED'],
  ['4000', 'KEY_INVALID'],
  ['4001', 'KEY_INVALID'],
  ['5005', 'KEY_INVALID'],
  ['4007', 'INVALID_DATA'],
  ['4008', 'RECEIVER_MISMATCH'],
  ['4010', 'ACCOUNT_NOT_FOUND'],
  ['4011', 'SUSPECTED_FRAUD'],
  ['4012', 'LIMIT_EXCEEDED'],
  ['4013', 'NETWORK_LIMIT_EXCEEDED'],
  ['4014', 'LIMIT_EXCEEDED'],
  ['4016', 'RAIL_REJECTED'],
];

describe('payAnswers', () => {
  const order = payOrder({ key: '1234' });
  const { endToEndId } = order;
  const payAnswer = (...results: object[]) => payAnswers([order], { results })[0];

  it.each(DECIDED)('REJECTED with %s is a no with %s', (code, errorCode) => {
    expect(payAnswer({ endToEndId, status: 'REJECTED', code })).toEqual({
      kind: 'no',
      errorCode,
      railCode: code,
      elsewhere: code === '4014' || code === '4016',
    });
  });

  it.each(['5000', '5001', '4017', '4019', ...UNDOCUMENTED_CODES, null, undefined])(
    'REJECTED with %s may be in flight: unknown',
    (code) => {
      expect(payAnswer({ endToEndId, status: 'REJECTED', code })?.kind).toBe('unknown');
    },
  );

  it('PROCESSING is accepted and DUPLICATE is duplicate, whatever the code', () => {
    expect(payAnswer({ endToEndId, status: 'PROCESSING' })).toEqual({ kind: 'yes', value: 'accepted' });
    for (const code of ['5001', '4000', undefined])
      expect(payAnswer({ endToEndId, status: 'DUPLICATE', code })).toEqual({
        kind: 'yes',
        value: 'duplicate',
      });
  });

  it('two contradicting results for an order are unknown, in either order', () => {
    const response = [
      { endToEndId, status: 'PROCESSING' },
      { endToEndId, status: 'REJECTED', code: '4000' },
    ];
    expect(payAnswer(...response)?.kind).toBe('unknown');
    expect(payAnswer(...response.toReversed())?.kind).toBe('unknown');
    const [again] = response;
    expect(payAnswer(again ?? {}, again ?? {})).toEqual({ kind: 'yes', value: 'accepted' });
  });

  it('the cause never contains the key', () => {
    const answer = payAnswer({ endToEndId, status: 'REJECTED', code: order.key });
    expect(JSON.stringify(answer)).not.toContain(order.key);
  });
});

describe('orderStatusAnswers', () => {
  const settled = { endToEndId: 'E2E', status: 'SETTLED', code: null, executionId: 'X1', amount: '49800.05' };
  const statusAnswer = (changes: object) =>
    orderStatusAnswers(['E2E'], { results: [{ ...settled, ...changes }] })[0];

  it('SETTLED has its execution and amount', () => {
    expect(statusAnswer({})).toEqual({
      kind: 'yes',
      value: { endToEndId: 'E2E', state: 'settled', executionId: 'X1', amount: 4_980_005n, errorCode: null },
    });
  });

  it.each([
    { executionId: null },
    { executionId: '' },
    { executionId: 'X\u{0}1' },
    { executionId: 'X'.repeat(101) },
    { amount: null },
    { amount: '0.00' },
    { amount: '49800' },
    { amount: '-49800.05' },
    { amount: 49_800.05 },
    { amount: '4.98e4' },
    { endToEndId: 'OTHER' },
    { status: 'settled' },
    { status: 'PAID' },
  ])('SETTLED with %o is unknown', (changes) => {
    expect(statusAnswer(changes)?.kind).toBe('unknown');
  });

  const rejected = (code: unknown) =>
    statusAnswer({ status: 'REJECTED', executionId: null, amount: '49800.05', code });

  it.each<[unknown, RailErrorCode]>([
    ...DECIDED,
    ['4017', 'RAIL_TIMEOUT'],
    ['4019', 'RAIL_TIMEOUT'],
    ...['5000', '5001', ...UNDOCUMENTED_CODES, null, undefined].map((code): [unknown, RailErrorCode] => [
      code,
      'RAIL_REJECTED',
    ]),
  ])('REJECTED with %s is final, %s', (code, errorCode) => {
    expect(rejected(code)).toEqual({
      kind: 'yes',
      value: { endToEndId: 'E2E', state: 'rejected', executionId: null, amount: null, errorCode },
    });
  });

  it.each(['REJECTED', 'NOT_FOUND'])(
    '%s with an execution is unknown: the order may have been executed',
    (status) => {
      expect(statusAnswer({ status, code: '4016' })?.kind).toBe('unknown');
    },
  );

  it.each([
    ['PROCESSING', 'processing'],
    ['NOT_FOUND', 'not_found'],
  ])('%s is %s, without amount and error code', (status, state) => {
    expect(statusAnswer({ status, executionId: null, code: '4016' })).toEqual({
      kind: 'yes',
      value: { endToEndId: 'E2E', state, executionId: null, amount: null, errorCode: null },
    });
  });

  it('two contradicting results for an order are unknown', () => {
    const results = [settled, { ...settled, status: 'REJECTED', executionId: null }];
    expect(orderStatusAnswers(['E2E'], { results })[0]?.kind).toBe('unknown');
  });
});

it('code 4008 stays INVALID_DATA for a payer, who was never looked up', () => {
  const notice = {
    noticeId: 'N1',
    type: 'REJECTED',
    key: '@K',
    executionId: null,
    amount: null,
    code: '4008',
  };
  expect(brebNotice(notice)?.update).toEqual({ kind: 'declined', errorCode: 'INVALID_DATA' });
});

describe('resolutionAnswer', () => {
  const listing = {
    resolutionId: 'R1',
    key: '3001234567',
    keyType: 'PHONE',
    participant: { nit: '900000002', node: 'TFY', name: 'BANCO' },
    account: { type: 'CAHO', number: '000900816987' },
    person: { type: 'N', documentType: 'CC', documentNumber: '1000000099', names: 'ANA PEÑA' },
  };
  const parseListing = (changes: object) => resolutionAnswer('3001234567', 200, { ...listing, ...changes });

  it('reads the directory entry without the unused fields', () => {
    expect(parseListing({})).toEqual({
      kind: 'yes',
      value: {
        resolutionId: 'R1',
        name: 'ANA PEÑA',
        documentType: 'CC',
        documentNumber: '1000000099',
        bankName: 'BANCO',
        accountNumber: '000900816987',
      },
    });
  });

  it.each([
    ['an entry of another key', { key: '3007654321' }],
    ['an entry without resolution ID', { resolutionId: null }],
    ['a NUL in the name', { person: { ...listing.person, names: 'ANA\0' } }],
    ['a NUL as the name', { person: { ...listing.person, names: '\0' } }],
    ['a blank name', { person: { ...listing.person, names: '  ' } }],
    ['a lone surrogate in the name', { person: { ...listing.person, names: 'ANA \u{d800}' } }],
    ['a name that is too long', { person: { ...listing.person, names: 'A'.repeat(201) } }],
    ['an entry without document', { person: { ...listing.person, documentNumber: undefined } }],
    ['an entry without account', { account: null }],
    ['an entry without bank', { participant: undefined }],
  ])('%s is unknown', (_what, changes) => {
    expect(parseListing(changes).kind).toBe('unknown');
  });

  it.each([
    ['0004', 'KEY_NOT_FOUND'],
    ['0005', 'KEY_SUSPENDED'],
    ['0006', 'KEY_SUSPENDED'],
    ['4000', 'KEY_INVALID'],
    ['4001', 'KEY_INVALID'],
    ['5005', 'KEY_INVALID'],
  ])('code %s is a no with %s', (code, errorCode) => {
    expect(resolutionAnswer('@K', 422, { code })).toEqual({
      kind: 'no',
      errorCode,
      railCode: code,
      elsewhere: false,
    });
  });

  it.each(['5000', '5001', '4016', '4008', '4010', ...UNDOCUMENTED_CODES])('code %s is unknown', (code) => {
    expect(resolutionAnswer('@K', 422, { code }).kind).toBe('unknown');
  });

  it.each([201, 204, 301, 400, 401, 403, 404, 409, 429, 500, 503])('status %i is unknown', (status) => {
    for (const body of [listing, { code: '0004' }, null])
      expect(resolutionAnswer('3001234567', status, body).kind).toBe('unknown');
  });
});

describe('brebNotice of an order', () => {
  const notification = {
    noticeId: 'N1',
    type: 'ORDER_SETTLED',
    endToEndId: 'E2E',
    internalId: 'I1',
    executionId: 'X1',
    amount: '49800.05',
    currency: 'COP',
    code: null,
    at: '2026-01-15T10:00:00.000Z',
  };
  const rejection = { ...notification, type: 'ORDER_REJECTED', executionId: null, code: '4008' };

  it('is a payment or a decline of a payout', () => {
    const about = { noticeId: 'N1', about: 'payout', reference: 'E2E' };
    expect(brebNotice(notification)).toEqual({
      ...about,
      update: { kind: 'paid', executionId: 'X1', amount: 4_980_005n },
    });
    expect(brebNotice(rejection)).toEqual({
      ...about,
      update: { kind: 'declined', errorCode: 'RECEIVER_MISMATCH' },
    });
    expect(brebNotice({ ...rejection, code: '4017' })?.update).toMatchObject({ errorCode: 'RAIL_TIMEOUT' });
    expect(brebNotice({ ...rejection, code: '__proto__' })?.update).toMatchObject({
      errorCode: 'RAIL_REJECTED',
    });
  });

  it.each([
    { executionId: null },
    { amount: null },
    { amount: '0.00' },
    { amount: 'much' },
    { endToEndId: null },
    { endToEndId: '' },
    { endToEndId: 'E 2' },
    { endToEndId: 'E'.repeat(41) },
    { noticeId: 'N\u{0}' },
    { type: 'ORDER_CANCELED' },
    { type: 'SETTLED' },
    { ...rejection, executionId: 'X1' },
  ])('with %o is unreadable', (changes) => {
    expect(brebNotice({ ...notification, ...changes })).toBeNull();
  });

  it('is never mistaken for a notification of a key, nor the reverse', () => {
    const keyNotification = {
      noticeId: 'N1',
      type: 'SETTLED',
      key: '@K',
      executionId: 'X1',
      amount: '1.00',
      code: null,
    };
    expect(brebNotice({ ...notification, key: '@K' })).toMatchObject({ about: 'payout', reference: 'E2E' });
    expect(brebNotice({ ...keyNotification, endToEndId: 'E2E' })).toMatchObject({
      about: 'payin',
      reference: '@K',
    });
    const pseNotification = {
      noticeId: 'N1',
      reference: 'R',
      transactionId: 'T',
      state: 'OK',
      amount: '1.00',
      reason: null,
    };
    expect(pseNotice(pseNotification)).toMatchObject({ about: 'payin', reference: 'R' });
    expect(pseNotice({ ...pseNotification, state: 'FAILED' })).toMatchObject({
      about: 'payin',
      reference: 'R',
    });
  });
});

describe('for any response of the node', () => {
  const usually = (...right: unknown[]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...right) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
      { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', undefined, -0, 1e308) },
    );
  const order = payOrder();
  const { endToEndId } = order;
  const result = fc.record(
    {
      endToEndId: usually(endToEndId, 'OTHER'),
      status: usually('PROCESSING', 'DUPLICATE', 'REJECTED', 'SETTLED', 'NOT_FOUND'),
      code: usually('4000', '4017', '5000', null),
      executionId: usually('X1', null),
      amount: usually('49800.00', '0.00', '99999999999999999999.99', null),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  const results = fc.array(fc.oneof({ weight: 9, arbitrary: result }, usually(null)), { maxLength: 3 });
  const body = fc.oneof(
    { weight: 1, arbitrary: fc.jsonValue() },
    { weight: 4, arbitrary: fc.record({ results }) },
  );
  type ResponseBody = { results?: readonly (Record<string, unknown> | null)[] } | null;
  const resultsOf = (response: unknown) => {
    const list = (response as ResponseBody)?.results;
    return Array.isArray(list)
      ? (list as NonNullable<ResponseBody>['results'] & object).filter(
          (r) => r?.['endToEndId'] === endToEndId,
        )
      : [];
  };

  it('an order is rejected only by an explicit and consistent result', () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(body, (response) => {
        const [answer] = readOrUnknown(() => payAnswers([order], response));
        kinds.add(answer?.kind ?? 'nothing');
        if (answer?.kind !== 'no') return;
        expect(ERROR_CODES).toContain(answer.errorCode);
        expect(resultsOf(response)).toContainEqual(
          expect.objectContaining({ status: 'REJECTED', code: '4000' }),
        );
        expect(resultsOf(response)).not.toContainEqual({ endToEndId, status: 'PROCESSING' });
      }),
      { numRuns: 3000 },
    );
    expect(kinds).toEqual(new Set(['yes', 'no', 'unknown']));
  });

  it('an order is settled only by its own execution with a positive amount', () => {
    const states = new Set<string>();
    fc.assert(
      fc.property(body, (response) => {
        const [answer] = readOrUnknown(() => orderStatusAnswers([endToEndId], response));
        states.add(answer?.kind === 'yes' ? answer.value.state : (answer?.kind ?? 'nothing'));
        if (answer?.kind !== 'yes') return;
        const { state, executionId, amount, errorCode } = answer.value;
        expect(answer.value.endToEndId).toBe(endToEndId);
        const settled = { status: 'SETTLED', executionId, amount: '49800.00' };
        if (state === 'settled') expect(resultsOf(response)).toContainEqual(expect.objectContaining(settled));
        expect(amount).toBe(state === 'settled' ? 4_980_000n : null);
        expect(executionId === null).toBe(state !== 'settled');
        expect(errorCode === null).toBe(state !== 'rejected');
        if (state === 'rejected')
          expect(resultsOf(response)).toContainEqual(expect.objectContaining({ status: 'REJECTED' }));
      }),
      { numRuns: 3000 },
    );
    expect(states).toEqual(new Set(['processing', 'settled', 'rejected', 'not_found', 'unknown']));
  });

  it('a lookup never throws, and only a found entry repeats the key', () => {
    const key = '3001234567';
    const statuses = fc.constantFrom(200, 422, 422, 500);
    const kinds = new Set<string>();
    const echo = fc.record({ code: usually(key, '0004', '5000'), message: usually(key), key: usually(key) });
    fc.assert(
      fc.property(statuses, fc.oneof(fc.jsonValue(), echo), (status, response) => {
        const answer = resolutionAnswer(key, status, response);
        kinds.add(answer.kind);
        if (answer.kind !== 'yes') expect(JSON.stringify(answer)).not.toContain(key);
        if (answer.kind === 'no') expect(response).toHaveProperty('code', '0004');
      }),
      { numRuns: 1000 },
    );
    expect(kinds).toEqual(new Set(['no', 'unknown']));
  });

  it('a notification is unreadable or has a valid update', () => {
    const notice = fc.record(
      {
        noticeId: usually('N1'),
        type: usually('ORDER_SETTLED', 'ORDER_REJECTED', 'SETTLED', 'CANCELED'),
        endToEndId: usually('E2E'),
        key: usually('@KEY'),
        executionId: usually('X1', null),
        amount: usually('49800.00', '0.00', null),
        code: usually('4008', null),
      },
      { noNullPrototype: true },
    );
    const read = new Set<string>();
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), notice), (message) => {
        const notification = brebNotice(message);
        if (notification === null) return;
        read.add(`${notification.about} ${notification.update.kind}`);
        expect(notification.reference).toMatch(/^[\x21-\x7e]{1,100}$/);
        if (notification.update.kind === 'paid') expect(notification.update.amount).toBeGreaterThan(0n);
        else expect(ERROR_CODES).toContain(notification.update.errorCode);
      }),
      { numRuns: 2000 },
    );
    expect(read.size).toBe(4);
  });
});

it('two contradicting results for a key are unknown as well', () => {
  const order = BREB.order();
  const results = [
    { key: order.reference, status: 'REGISTERED' },
    { key: order.reference, status: 'REJECTED', code: '4016' },
  ];
  expect(openedAnswers([order], { results })[0]?.kind).toBe('unknown');
});

/** As the connector does: an unreadable response is unknown. */
function readOrUnknown<T>(read: () => T[]): T[] | { readonly kind: 'unknown'; readonly cause: string }[] {
  try {
    return read();
  } catch {
    return [{ kind: 'unknown', cause: 'unreadable' }];
  }
}
