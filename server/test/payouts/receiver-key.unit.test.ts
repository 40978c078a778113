import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { readReceiverKey } from '../../src/payouts/receiver-key.ts';
import { RECEIVER_KEY_TYPES } from '../../src/rails/contract.ts';

describe('readReceiverKey detects the first matching key type', () => {
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

it.each(['@testok', '3001234567', 'ana@example.com'])('ignores spaces around %s', (text) => {
  expect(readReceiverKey(`  ${text} `)).toEqual(readReceiverKey(text));
});

it.each([
  ['nothing', ''],
  ['blanks', '   '],
  ['a lone @', '@'],
  ['two @', 'ana@example@com'],
  ['an email without a local part', '@example.com'],
  ['an email without a domain', 'ana@'],
  ['a local part of 31 characters', `${'a'.repeat(31)}@example.com`],
  ['a domain of 62 characters', `a@${'b'.repeat(62)}`],
  ['an alphanumeric key of 21 characters', `@${'A'.repeat(21)}`],
  ['an ID of 19 characters', 'A'.repeat(19)],
  ['a mobile with spaces', '300 123 4567'],
  ['a mobile with hyphens', '300-123-4567'],
  ['a mobile with a space after its prefix', '+57 3001234567'],
  ['a mobile of another country', '+13001234567'],
  ['a merchant code with the prefix of a mobile', '+570012345678'],
  ['a number with dots', '1.020.304.050'],
  ['a trailing line break', '3001234567\n'],
  ['a leading tab', '\t3001234567'],
  ['a NUL', 'ana\0@example.com'],
  ['a trailing NUL', '1020304050\0'],
  ['an escape character', 'ana@exam\u{1b}ple.com'],
  ['a delete character', 'ana@example.com\u{7f}'],
  ['a non-breaking space', '\u{a0}3001234567'],
  ['a direction mark', '\u{202e}ana@example.com'],
  ['a zero-width space', 'ana\u{200b}@example.com'],
  ['a lone surrogate', 'ana\u{d800}@example.com'],
  ['digits of another script', '３００１２３４５６７'],
  ['a letter whose upper case is I', '@ma\u{131}a'],
  ['a letter whose upper case is S', 'a\u{17f}b'],
  ['a letter whose upper case is SS', '@stra\u{df}e'],
  ['an Object.prototype property name', '__proto__'],
])('rejects %s', (_what, text) => {
  expect(readReceiverKey(text)).toBeNull();
});

it('does not lower-case the Kelvin sign in an email', () => {
  expect(readReceiverKey('\u{212a}ARL@example.com')?.key).toBe('\u{212a}arl@example.com');
});

describe('readReceiverKey of any text', () => {
  const letters = fc.constantFrom(...Array.from('0123456789abkzABKZ@+. -_ßıñ\u{212a}\n'));
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: letters, maxLength: 24 }),
    fc.stringMatching(/^@[a-zA-Z0-9]{0,22}$/),
    fc.stringMatching(/^(\+57)?3\d{8,10}$/),
    fc.emailAddress(),
  );

  it('returns a key in the canonical form of its type, which parses to itself', () => {
    const forms: Record<string, RegExp> = {
      MERCHANT_CODE: /^00[0-9]{8}$/,
      PHONE: /^3[0-9]{9}$/,
      EMAIL: /^[^\sA-Z@]{1,60}@[^\sA-Z@]{1,122}$/,
      ALPHANUMERIC: /^@[A-Z0-9]{1,20}$/,
      ID: /^[A-Z0-9]{1,18}$/,
    };
    fc.assert(
      fc.property(text, (input) => {
        const parsed = readReceiverKey(input);
        if (parsed === null) return;
        expect(parsed.key).toMatch(forms[parsed.keyType] ?? /never/);
        expect(readReceiverKey(parsed.key)).toEqual(parsed);
      }),
      { numRuns: 2000 },
    );
  });

  it('does not depend on the case of ASCII letters', () => {
    const other = (input: string) =>
      input.replace(/[a-zA-Z]/g, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));
    fc.assert(
      fc.property(text, (input) => {
        expect(readReceiverKey(other(input))).toEqual(readReceiverKey(input));
      }),
      { numRuns: 2000 },
    );
  });

  it('is tested with texts of every type', () => {
    const types = new Set(
      fc.sample(text, { numRuns: 3000, seed: 7 }).map((t) => readReceiverKey(t)?.keyType),
    );
    for (const type of ['PHONE', 'EMAIL', 'ALPHANUMERIC', 'ID', undefined] as const)
      expect(types).toContain(type);
  });
});
