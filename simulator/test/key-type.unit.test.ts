import { expect, test } from 'vitest';
import { readKey } from '../src/breb/key-type.ts';

test('readKey detects the first matching type: merchant code, phone, e-mail, alphanumeric, id', () => {
  expect(readKey('0012345678')).toEqual({ key: '0012345678', keyType: 'MERCHANT_CODE' });
  expect(readKey('3001234567')).toEqual({ key: '3001234567', keyType: 'PHONE' });
  expect(readKey('+573001234567')).toEqual({ key: '3001234567', keyType: 'PHONE' });
  expect(readKey('ana@example.com')).toEqual({ key: 'ana@example.com', keyType: 'EMAIL' });
  expect(readKey('@cdl7')).toEqual({ key: '@CDL7', keyType: 'ALPHANUMERIC' });
  expect(readKey('1020304050')).toEqual({ key: '1020304050', keyType: 'ID' });
  expect(readKey('300123456')).toEqual({ key: '300123456', keyType: 'ID' });
  expect(readKey('ab123')).toEqual({ key: 'AB123', keyType: 'ID' });
});

test('readKey lower-cases the ASCII letters of an e-mail address', () => {
  expect(readKey('Ana.Pena@Example.COM')).toEqual({ key: 'ana.pena@example.com', keyType: 'EMAIL' });
  // The Kelvin sign lower-cases to "k", which would be a different address.
  expect(readKey('\u{212a}ARL@example.com')).toEqual({ key: '\u{212a}arl@example.com', keyType: 'EMAIL' });
});

test('readKey returns null for a text that matches no key type', () => {
  const texts = [
    '',
    '@',
    `@${'A'.repeat(21)}`,
    'ana@',
    `a@${'b'.repeat(62)}`,
    'a b',
    'ñandú',
    'ma\u{131}a',
    '@stra\u{df}e',
    '+57300',
    'A'.repeat(19),
  ];
  expect(texts.map(readKey)).toEqual(texts.map(() => null));
});
