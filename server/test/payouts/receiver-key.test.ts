import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readReceiverKey } from '../../src/payouts/receiver-key.ts';
import { RECEIVER_KEY_TYPES } from '../../src/rails/contract.ts';

describe('a text is read as the first type of key that fits', () => {
  it.each([
    ['0012345678', '0012345678', 'MERCHANT_CODE'],
    ['3001234567', '3001234567', 'PHONE'],
    ['+573001234567', '3001234567', 'PHONE'],
    ['573001234567', '573001234567', 'ID'],
    ['300123456', '300123456', 'ID'],
    ['30012345678', '30012345678', 'ID'],
    ['001234567', '001234567', 'ID'],
    ['ana@example.com', 'ana@example.com', 'EMAIL'],
    ['Ana.Pena+1@Example.COM', 'ana.pena+1@example.com', 'EMAIL'],
    ['3001234567@example.com', '3001234567@example.com', 'EMAIL'],
    ['a@b', 'a@b', 'EMAIL'],
    [`${'a'.repeat(30)}@${'b'.repeat(61)}`, `${'a'.repeat(30)}@${'b'.repeat(61)}`, 'EMAIL'],
    ['peña@example.co', 'peña@example.co', 'EMAIL'],
    ['@cdl7', '@CDL7', 'ALPHANUMERIC'],
    ['@a', '@A', 'ALPHANUMERIC'],
    [`@${'z'.repeat(20)}`, `@${'Z'.repeat(20)}`, 'ALPHANUMERIC'],
    ['1020304050', '1020304050', 'ID'],
    ['ab123', 'AB123', 'ID'],
    ['7', '7', 'ID'],
    ['a'.repeat(18), 'A'.repeat(18), 'ID'],
  ])('%s', (text, key, keyType) => {
    expect(readReceiverKey(text)).toEqual({ key, keyType });
    expect(RECEIVER_KEY_TYPES).toContain(keyType);
  });
});

it.each(['@testok', '3001234567', 'ana@example.com'])('spaces around %s are no part of it', (text) => {
  expect(readReceiverKey(`  ${text} `)).toEqual(readReceiverKey(text));
});

it.each([
  ['nothing', ''],
  ['blanks', '   '],
  ['a lone at', '@'],
  ['two ats', 'ana@example@com'],
  ['nothing before the at of an address', '@example.com'],
  ['nothing after it', 'ana@'],
  ['a local part of 31', `${'a'.repeat(31)}@example.com`],
  ['a domain of 62', `a@${'b'.repeat(62)}`],
  ['an alphanumeric key of 21', `@${'A'.repeat(21)}`],
  ['an identification of 19', 'A'.repeat(19)],
  ['a mobile with spaces', '300 123 4567'],
  ['a mobile with hyphens', '300-123-4567'],
  ['a mobile with a blank after its prefix', '+57 3001234567'],
  ["another country's mobile", '+13001234567'],
  ['a merchant code with the prefix of a mobile', '+570012345678'],
  ['a number with points', '1.020.304.050'],
  ['a line break at the end', '3001234567\n'],
  ['a tab in front', '\t3001234567'],
  ['a NUL', 'ana\0@example.com'],
  ['a NUL at the end', '1020304050\0'],
  ['an escape', 'ana@exam\u{1b}ple.com'],
  ['a delete', 'ana@example.com\u{7f}'],
  ['a blank that does not break', '\u{a0}3001234567'],
  ['a mark of direction', '\u{202e}ana@example.com'],
  ['a space of no width', 'ana\u{200b}@example.com'],
  ['half a character', 'ana\u{d800}@example.com'],
  ['digits of another script', '３００１２３４５６７'],
  ['a letter whose capital is I', '@ma\u{131}a'],
  ['a letter whose capital is S', 'a\u{17f}b'],
  ['a letter whose capitals are SS', '@stra\u{df}e'],
  ['a name that every object has', '__proto__'],
])('%s is no key', (_what, text) => {
  expect(readReceiverKey(text)).toBeNull();
});

it('a letter that only looks small like a k stays itself in an address', () => {
  expect(readReceiverKey('\u{212a}ARL@example.com')?.key).toBe('\u{212a}arl@example.com');
});

describe('of any text', () => {
  const letters = fc.constantFrom(...Array.from('0123456789abkzABKZ@+. -_ßıñ\u{212a}\n'));
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: letters, maxLength: 24 }),
    fc.stringMatching(/^@[a-zA-Z0-9]{0,22}$/),
    fc.stringMatching(/^(\+57)?3\d{8,10}$/),
    fc.emailAddress(),
  );

  it('what is read is in the form of its type, and reads as itself', () => {
    const forms: Record<string, RegExp> = {
      MERCHANT_CODE: /^00[0-9]{8}$/,
      PHONE: /^3[0-9]{9}$/,
      EMAIL: /^[^\sA-Z@]{1,60}@[^\sA-Z@]{1,122}$/,
      ALPHANUMERIC: /^@[A-Z0-9]{1,20}$/,
      ID: /^[A-Z0-9]{1,18}$/,
    };
    fc.assert(
      fc.property(text, (given) => {
        const read = readReceiverKey(given);
        if (read === null) return;
        expect(read.key).toMatch(forms[read.keyType] ?? /never/);
        expect(readReceiverKey(read.key)).toEqual(read);
      }),
      { numRuns: 2000 },
    );
  });

  it('the case of plain letters never makes another key', () => {
    const other = (given: string) =>
      given.replace(/[a-zA-Z]/g, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
    fc.assert(
      fc.property(text, (given) => {
        expect(readReceiverKey(other(given))).toEqual(readReceiverKey(given));
      }),
      { numRuns: 2000 },
    );
  });

  it('the generated texts are read as every type now and then', () => {
    const types = new Set(
      fc.sample(text, { numRuns: 3000, seed: 7 }).map((t) => readReceiverKey(t)?.keyType),
    );
    for (const type of ['PHONE', 'EMAIL', 'ALPHANUMERIC', 'ID', undefined] as const)
      expect(types).toContain(type);
  });
});
