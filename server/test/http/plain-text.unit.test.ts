import { describe, expect, it } from 'vitest';
import { isPlainText, isPlainTextWithEmoji, withoutInvisible } from '../../src/http/plain-text.ts';

describe('names and references', () => {
  it.each([
    'José Ñandú Güiza-O’Brien',
    'Jose\u0301 de la Pen\u0303a',
    '李小龍',
    'محمد',
    'pedido #1001 ⚽',
    'straße',
  ])('may be %j', (value) => {
    expect(isPlainText(value)).toBe(true);
  });

  it.each([
    ['zero-width space', 'order\u200B1'],
    ['zero-width joiner', 'order\u200D1'],
    ['right-to-left override', 'Ana \u202Egnp.exe'],
    ['isolate', 'Ana \u2066x\u2069'],
    ['left-to-right mark', 'Ana\u200E'],
    ['soft hyphen', 'or\u00ADder'],
    ['byte order mark', '\uFEFForder'],
    ['Hangul filler', '\u3164'],
    ['blank Braille pattern', '\u2800'],
    ['variation selector', 'a\uFE0F'],
    ['tag character', 'a\u{E0041}'],
    ['word joiner', 'a\u2060b'],
    ['line separator', 'a\u2028b'],
    ['control character', 'a\u0007b'],
    ['lone surrogate', 'a\uD800'],
    ['only spaces', '\u00A0 '],
  ])('may not contain: %s', (_what, value) => {
    expect(isPlainText(value)).toBe(false);
    expect(isPlainTextWithEmoji(value)).toBe(false);
  });
});

describe('descriptions', () => {
  it.each(['Camiseta ❤️', 'Familia 👨‍👩‍👧', 'Bandera 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣', '👍🏽'])('may contain emoji: %s', (value) => {
    expect(isPlainTextWithEmoji(value)).toBe(true);
  });

  it('may not contain joiners and selectors outside emoji', () => {
    for (const value of ['👨\u200D', '\u200D👧 x', '👍 \uFE0F', '👍\u202E'])
      expect(isPlainTextWithEmoji(value)).toBe(false);
  });
});

it('removes what a payer copied along with a number', () => {
  expect(withoutInvisible('\u202A+57 300\u200B 1234567\u202C')).toBe('+57 300 1234567');
});
