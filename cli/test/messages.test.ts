import { expect, test } from 'vitest';
import { listenSecret, maskedKey } from '../src/api-key.ts';
import { nearest } from '../src/nearest.ts';
import { centsAsDecimal, readPesos, showCents } from '../src/pesos.ts';
import { tableLines } from '../src/table.ts';
import { readDuration, readMoment } from '../src/time.ts';

test.each([
  ['49800', 4_980_000],
  ['49.800', 4_980_000],
  ['49,800', 4_980_000],
  ['$49.800', 4_980_000],
  ['COP 49,800.50', 4_980_050],
  ['1.234.567,8', 123_456_780],
  ['49800.5', 4_980_050],
  ['49.80', 4980],
  ['0,01', 1],
  ['9.999.999.999,99', 999_999_999_999],
])('the amount %s is %i cents', (text, cents) => {
  expect(readPesos(text)).toBe(cents);
});

test.each(['', '0', '0.00', '-5', '12x', '1.2.3', '0.500', '1.23,456', '49.8000', '1e5', '10000000000'])(
  'the amount "%s" is refused, not guessed',
  (text) => {
    expect(() => readPesos(text)).toThrow(/no amount|too little|too much/);
  },
);

test('amounts are shown as pesos, with cents where there are any', () => {
  expect([4_980_000, 5, 123_456_789_050, 0, -150].map(showCents)).toEqual([
    '49,800',
    '0.05',
    '1,234,567,890.50',
    '0',
    '-1.50',
  ]);
  expect([4_980_000, 5].map(centsAsDecimal)).toEqual(['49800.00', '0.05']);
});

test('a moment is a time span ago, a date or a time', () => {
  const now = Date.parse('2026-11-15T12:00:00Z');
  expect(readMoment('since', '2h', now).toISOString()).toBe('2026-11-15T10:00:00.000Z');
  expect(readMoment('since', '2026-11-14T05:00:00-05:00', now).toISOString()).toBe(
    '2026-11-14T10:00:00.000Z',
  );
  expect(() => readMoment('since', 'yesterday', now)).toThrow(/no moment/);
  expect([readDuration('30s'), readDuration('0s'), readDuration('5')]).toEqual([30_000, null, null]);
});

test('what was probably meant is suggested, what is far off is not', () => {
  const known = ['payins', 'payouts', 'listen', 'trigger'];
  expect(['payin', 'lisen', 'tirgger', 'PAYOUTS', 'trig'].map((typed) => nearest(typed, known))).toEqual([
    'payins',
    'listen',
    'trigger',
    'payouts',
    'trigger',
  ]);
  expect(nearest('xyzzy', known)).toBeNull();
});

test('a table keeps to its width: spare columns go first, then long texts are cut, ids never', () => {
  const rows = [
    { id: 'a'.repeat(36), name: 'a reference that is rather long, longer than anybody needs', rail: 'BRE_B' },
  ];
  const columns = [
    { title: 'ID', text: (row: (typeof rows)[0]) => row.id },
    { title: 'NAME', text: (row: (typeof rows)[0]) => row.name, least: 12 },
    { title: 'RAIL', text: (row: (typeof rows)[0]) => row.rail, spare: 1 },
  ];
  const lines = (width: number) => tableLines(columns, rows, width, (text) => text);
  expect(lines(200)[1]).toMatch(/BRE_B$/);
  expect(lines(60)[1]).toMatch(/^a{36} {2}a reference that is r…$/);
  for (const line of [...lines(60), ...lines(70), ...lines(80)]) expect(line.length).toBeLessThanOrEqual(80);
});

test('control characters in what others wrote do not reach the terminal', () => {
  const [, line] = tableLines([{ title: 'T', text: () => 'one\ntwo\u001b[2J' }], [{}], 80, (text) => text);
  expect(line).toBe('one two [2J');
});

test('of a key only its public part is shown, and the secret of listen does not change', () => {
  const key = `cdl_test_01KE2265M7YPHEEX_${'s'.repeat(49)}`;
  expect(maskedKey(key)).toBe('cdl_test_01KE2265M7YPHEEX_…');
  expect(maskedKey('whatever')).not.toContain('whatever');
  expect(listenSecret(key)).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(listenSecret(key)).toBe(listenSecret(key));
  expect(listenSecret(`${key}x`)).not.toBe(listenSecret(key));
});
