import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brebNotice, openedAnswers } from '../../src/rails/breb/translate.ts';
import { orderStatusAnswers, payAnswers, resolutionAnswer } from '../../src/rails/breb/translate-orders.ts';
import { ERROR_CODES, type RailErrorCode } from '../../src/rails/contract.ts';
import { pseNotice } from '../../src/rails/pse/translate.ts';
import { BREB, payOrder } from '../harness/rails-under-test.ts';

/** Codes nobody documented, among them names that every object has: a table must not answer with a function. */
const STRANGE_CODES = ['9999', '', '4', '__proto__', 'constructor', 'toString'];

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

describe('an order at the door', () => {
  const order = payOrder({ key: '1234' });
  const { endToEndId } = order;
  const answered = (...results: object[]) => payAnswers([order], { results })[0];

  it.each(DECIDED)('rejected with %s is a no, told to the merchant as %s', (code, errorCode) => {
    expect(answered({ endToEndId, status: 'REJECTED', code })).toEqual({
      kind: 'no',
      errorCode,
      railCode: code,
    });
  });

  it.each(['5000', '5001', '4017', '4019', ...STRANGE_CODES, null, undefined])(
    'rejected with %s may be under way, so it is unknown',
    (code) => {
      expect(answered({ endToEndId, status: 'REJECTED', code })?.kind).toBe('unknown');
    },
  );

  it('in PROCESSING is accepted, and as a DUPLICATE known, whatever the code', () => {
    expect(answered({ endToEndId, status: 'PROCESSING' })).toEqual({ kind: 'yes', value: 'accepted' });
    for (const code of ['5001', '4000', undefined])
      expect(answered({ endToEndId, status: 'DUPLICATE', code })).toEqual({
        kind: 'yes',
        value: 'duplicate',
      });
  });

  it('of which the node says two things is unknown, in either order', () => {
    const said = [
      { endToEndId, status: 'PROCESSING' },
      { endToEndId, status: 'REJECTED', code: '4000' },
    ];
    expect(answered(...said)?.kind).toBe('unknown');
    expect(answered(...said.toReversed())?.kind).toBe('unknown');
    const [again] = said;
    expect(answered(again ?? {}, again ?? {})).toEqual({ kind: 'yes', value: 'accepted' });
  });

  it('never has its key told as the cause', () => {
    const answer = answered({ endToEndId, status: 'REJECTED', code: order.key });
    expect(JSON.stringify(answer)).not.toContain(order.key);
  });
});

describe('how an order stands', () => {
  const settled = { endToEndId: 'E2E', status: 'SETTLED', code: null, executionId: 'X1', amount: '49800.05' };
  const standing = (changes: object) =>
    orderStatusAnswers(['E2E'], { results: [{ ...settled, ...changes }] })[0];

  it('SETTLED carries its execution and amount', () => {
    expect(standing({})).toEqual({
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
    expect(standing(changes)?.kind).toBe('unknown');
  });

  const rejected = (code: unknown) =>
    standing({ status: 'REJECTED', executionId: null, amount: '49800.05', code });

  it.each<[unknown, RailErrorCode]>([
    ...DECIDED,
    ['4017', 'RAIL_TIMEOUT'],
    ['4019', 'RAIL_TIMEOUT'],
    ...['5000', '5001', ...STRANGE_CODES, null, undefined].map((code): [unknown, RailErrorCode] => [
      code,
      'RAIL_REJECTED',
    ]),
  ])("REJECTED with %s is the rail's last word, %s", (code, errorCode) => {
    expect(rejected(code)).toEqual({
      kind: 'yes',
      value: { endToEndId: 'E2E', state: 'rejected', executionId: null, amount: null, errorCode },
    });
  });

  it.each(['REJECTED', 'NOT_FOUND'])('%s with an execution is unknown: money may have gone out', (status) => {
    expect(standing({ status, code: '4016' })?.kind).toBe('unknown');
  });

  it.each([
    ['PROCESSING', 'processing'],
    ['NOT_FOUND', 'not_found'],
  ])('%s is %s, without money or reason', (status, state) => {
    expect(standing({ status, executionId: null, code: '4016' })).toEqual({
      kind: 'yes',
      value: { endToEndId: 'E2E', state, executionId: null, amount: null, errorCode: null },
    });
  });

  it('of which the node says two things is unknown', () => {
    const results = [settled, { ...settled, status: 'REJECTED', executionId: null }];
    expect(orderStatusAnswers(['E2E'], { results })[0]?.kind).toBe('unknown');
  });
});

it('wrong identification stays INVALID_DATA for a payer, who was never looked up', () => {
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

describe('a listing of the directory', () => {
  const listing = {
    resolutionId: 'R1',
    key: '3001234567',
    keyType: 'PHONE',
    participant: { nit: '900000002', node: 'TFY', name: 'BANCO' },
    account: { type: 'CAHO', number: '000900816987' },
    person: { type: 'N', documentType: 'CC', documentNumber: '1000000099', names: 'ANA PEÑA' },
  };
  const read = (changes: object) => resolutionAnswer('3001234567', 200, { ...listing, ...changes });

  it('is read without what we have no use for', () => {
    expect(read({})).toEqual({
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
    ['of another key', { key: '3007654321' }],
    ['without resolution', { resolutionId: null }],
    ['with a NUL in a name', { person: { ...listing.person, names: 'ANA\0' } }],
    ['with a NUL for a name', { person: { ...listing.person, names: '\0' } }],
    ['with a blank name', { person: { ...listing.person, names: '  ' } }],
    ['with half a character', { person: { ...listing.person, names: 'ANA \u{d800}' } }],
    ['with too long a name', { person: { ...listing.person, names: 'A'.repeat(201) } }],
    ['without document', { person: { ...listing.person, documentNumber: undefined } }],
    ['without account', { account: null }],
    ['without bank', { participant: undefined }],
  ])('%s is unknown', (_what, changes) => {
    expect(read(changes).kind).toBe('unknown');
  });

  it.each([
    ['0004', 'KEY_NOT_FOUND'],
    ['0005', 'KEY_SUSPENDED'],
    ['0006', 'KEY_SUSPENDED'],
    ['4000', 'KEY_INVALID'],
    ['4001', 'KEY_INVALID'],
    ['5005', 'KEY_INVALID'],
  ])('refused with %s is a no, %s', (code, errorCode) => {
    expect(resolutionAnswer('@K', 422, { code })).toEqual({ kind: 'no', errorCode, railCode: code });
  });

  it.each(['5000', '5001', '4016', '4008', '4010', ...STRANGE_CODES])(
    'refused with %s is unknown',
    (code) => {
      expect(resolutionAnswer('@K', 422, { code }).kind).toBe('unknown');
    },
  );

  it.each([201, 204, 301, 400, 401, 403, 404, 409, 429, 500, 503])('with status %i is unknown', (status) => {
    for (const body of [listing, { code: '0004' }, null])
      expect(resolutionAnswer('3001234567', status, body).kind).toBe('unknown');
  });
});

describe('a notice about an order', () => {
  const told = {
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
  const rejection = { ...told, type: 'ORDER_REJECTED', executionId: null, code: '4008' };

  it('says that money went out, or that it did not', () => {
    const about = { noticeId: 'N1', about: 'payout', reference: 'E2E' };
    expect(brebNotice(told)).toEqual({
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
  ])('with %o cannot be read', (changes) => {
    expect(brebNotice({ ...told, ...changes })).toBeNull();
  });

  it('is never taken for one about a key, nor the other way round', () => {
    const ofKey = {
      noticeId: 'N1',
      type: 'SETTLED',
      key: '@K',
      executionId: 'X1',
      amount: '1.00',
      code: null,
    };
    expect(brebNotice({ ...told, key: '@K' })).toMatchObject({ about: 'payout', reference: 'E2E' });
    expect(brebNotice({ ...ofKey, endToEndId: 'E2E' })).toMatchObject({ about: 'payin', reference: '@K' });
    const ofPse = {
      noticeId: 'N1',
      reference: 'R',
      transactionId: 'T',
      state: 'OK',
      amount: '1.00',
      reason: null,
    };
    expect(pseNotice(ofPse)).toMatchObject({ about: 'payin', reference: 'R' });
    expect(pseNotice({ ...ofPse, state: 'FAILED' })).toMatchObject({ about: 'payin', reference: 'R' });
  });
});

describe('whatever the node sends', () => {
  const odd = (...right: unknown[]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...right) },
      { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
      { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', undefined, -0, 1e308) },
    );
  const order = payOrder();
  const { endToEndId } = order;
  const result = fc.record(
    {
      endToEndId: odd(endToEndId, 'OTHER'),
      status: odd('PROCESSING', 'DUPLICATE', 'REJECTED', 'SETTLED', 'NOT_FOUND'),
      code: odd('4000', '4017', '5000', null),
      executionId: odd('X1', null),
      amount: odd('49800.00', '0.00', '99999999999999999999.99', null),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  const results = fc.array(fc.oneof({ weight: 9, arbitrary: result }, odd(null)), { maxLength: 3 });
  const body = fc.oneof(
    { weight: 1, arbitrary: fc.jsonValue() },
    { weight: 4, arbitrary: fc.record({ results }) },
  );
  type Said = { results?: readonly (Record<string, unknown> | null)[] } | null;
  const saidOf = (said: unknown) => {
    const list = (said as Said)?.results;
    return Array.isArray(list)
      ? (list as NonNullable<Said>['results'] & object).filter((r) => r?.['endToEndId'] === endToEndId)
      : [];
  };

  it('an order is refused only by a clear word about it, and by no other', () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(body, (said) => {
        const [answer] = readOrUnknown(() => payAnswers([order], said));
        kinds.add(answer?.kind ?? 'nothing');
        if (answer?.kind !== 'no') return;
        expect(ERROR_CODES).toContain(answer.errorCode);
        expect(saidOf(said)).toContainEqual(expect.objectContaining({ status: 'REJECTED', code: '4000' }));
        expect(saidOf(said)).not.toContainEqual({ endToEndId, status: 'PROCESSING' });
      }),
      { numRuns: 3000 },
    );
    expect(kinds).toEqual(new Set(['yes', 'no', 'unknown']));
  });

  it('an order is settled only by its own execution of more than nothing', () => {
    const states = new Set<string>();
    fc.assert(
      fc.property(body, (said) => {
        const [answer] = readOrUnknown(() => orderStatusAnswers([endToEndId], said));
        states.add(answer?.kind === 'yes' ? answer.value.state : (answer?.kind ?? 'nothing'));
        if (answer?.kind !== 'yes') return;
        const { state, executionId, amount, errorCode } = answer.value;
        expect(answer.value.endToEndId).toBe(endToEndId);
        const settled = { status: 'SETTLED', executionId, amount: '49800.00' };
        if (state === 'settled') expect(saidOf(said)).toContainEqual(expect.objectContaining(settled));
        expect(amount).toBe(state === 'settled' ? 4_980_000n : null);
        expect(executionId === null).toBe(state !== 'settled');
        expect(errorCode === null).toBe(state !== 'rejected');
        if (state === 'rejected')
          expect(saidOf(said)).toContainEqual(expect.objectContaining({ status: 'REJECTED' }));
      }),
      { numRuns: 3000 },
    );
    expect(states).toEqual(new Set(['processing', 'settled', 'rejected', 'not_found', 'unknown']));
  });

  it('a lookup answers without failing, and never repeats the key but to whom it leads', () => {
    const key = '3001234567';
    const statuses = fc.constantFrom(200, 422, 422, 500);
    const kinds = new Set<string>();
    const echo = fc.record({ code: odd(key, '0004', '5000'), message: odd(key), key: odd(key) });
    fc.assert(
      fc.property(statuses, fc.oneof(fc.jsonValue(), echo), (status, said) => {
        const answer = resolutionAnswer(key, status, said);
        kinds.add(answer.kind);
        if (answer.kind !== 'yes') expect(JSON.stringify(answer)).not.toContain(key);
        if (answer.kind === 'no') expect(said).toHaveProperty('code', '0004');
      }),
      { numRuns: 1000 },
    );
    expect(kinds).toEqual(new Set(['no', 'unknown']));
  });

  it('a notice is read or kept for a person, and what is read can be booked', () => {
    const notice = fc.record(
      {
        noticeId: odd('N1'),
        type: odd('ORDER_SETTLED', 'ORDER_REJECTED', 'SETTLED', 'CANCELED'),
        endToEndId: odd('E2E'),
        key: odd('@KEY'),
        executionId: odd('X1', null),
        amount: odd('49800.00', '0.00', null),
        code: odd('4008', null),
      },
      { noNullPrototype: true },
    );
    const read = new Set<string>();
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), notice), (message) => {
        const told = brebNotice(message);
        if (told === null) return;
        read.add(`${told.about} ${told.update.kind}`);
        expect(told.reference).toMatch(/^[\x21-\x7e]{1,100}$/);
        if (told.update.kind === 'paid') expect(told.update.amount).toBeGreaterThan(0n);
        else expect(ERROR_CODES).toContain(told.update.errorCode);
      }),
      { numRuns: 2000 },
    );
    expect(read.size).toBe(4);
  });
});

it('a key of which the node says two things is unknown as well', () => {
  const order = BREB.order();
  const results = [
    { key: order.reference, status: 'REGISTERED' },
    { key: order.reference, status: 'REJECTED', code: '4016' },
  ];
  expect(openedAnswers([order], { results })[0]?.kind).toBe('unknown');
});

/** As the connector sees it: what the reader cannot read is unknown. */
function readOrUnknown<T>(read: () => T[]): T[] | { readonly kind: 'unknown'; readonly cause: string }[] {
  try {
    return read();
  } catch {
    return [{ kind: 'unknown', cause: 'unreadable' }];
  }
}
