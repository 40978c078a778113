import { nearest } from '@caudal/command-tree';
import { expect, test } from 'vitest';
import { listenSecret, maskApiKey } from '../src/connection/api-key.ts';
import { tableLines } from '../src/output/table.ts';
import { formatCents, formatDecimal, parsePesos } from '../src/requests/pesos.ts';
import { parseDuration, parseTimestamp } from '../src/requests/time.ts';

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
])('parses the amount %s as %i cents', (text, cents) => {
  expect(parsePesos(text)).toBe(cents);
});

test.each(['', '0', '0.00', '-5', '12x', '1.2.3', '0.500', '1.23,456', '49.8000', '1e5', '10000000000'])(
  'rejects the ambiguous or invalid amount "%s"',
  (text) => {
    expect(() => parsePesos(text)).toThrow(/not an amount|too small|too large/);
  },
);

test('formats cents as pesos, with decimals only when not zero', () => {
  expect([4_980_000, 5, 123_456_789_050, 0, -150].map(formatCents)).toEqual([
    '49,800',
    '0.05',
    '1,234,567,890.50',
    '0',
    '-1.50',
  ]);
  expect([4_980_000, 5].map(formatDecimal)).toEqual(['49800.00', '0.05']);
});

test('parses a timestamp from a duration ago, a date or a time', () => {
  const now = Date.parse('2026-11-15T12:00:00Z');
  expect(parseTimestamp('since', '2h', now).toISOString()).toBe('2026-11-15T10:00:00.000Z');
  expect(parseTimestamp('since', '2026-11-14T05:00:00-05:00', now).toISOString()).toBe(
    '2026-11-14T10:00:00.000Z',
  );
  expect(() => parseTimestamp('since', 'yesterday', now)).toThrow(/not a timestamp/);
  expect([parseDuration('30s'), parseDuration('0s'), parseDuration('5')]).toEqual([30_000, null, null]);
});

test('nearest suggests close names and none for distant ones', () => {
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

test('a table fits its width: it drops optional columns, then truncates long texts, but never ids', () => {
  const rows = [
    { id: 'a'.repeat(36), name: 'a reference that is rather long, longer than needed', rail: 'BRE_B' },
  ];
  const columns = [
    { title: 'ID', text: (row: (typeof rows)[0]) => row.id },
    { title: 'NAME', text: (row: (typeof rows)[0]) => row.name, minWidth: 12 },
    { title: 'RAIL', text: (row: (typeof rows)[0]) => row.rail, dropOrder: 1 },
  ];
  const lines = (width: number) => tableLines(columns, rows, width, (text) => text);
  expect(lines(200)[1]).toMatch(/BRE_B$/);
  expect(lines(60)[1]).toMatch(/^a{36} {2}a reference that is r…$/);
  for (const line of [...lines(60), ...lines(70), ...lines(80)]) expect(line.length).toBeLessThanOrEqual(80);
});

test('control characters in API data do not reach the terminal', () => {
  const [, line] = tableLines([{ title: 'T', text: () => 'one\ntwo\u001b[2J' }], [{}], 80, (text) => text);
  expect(line).toBe('one two [2J');
});

test('an API key is masked to its public part, and its listen secret is stable', () => {
  const key = `cdl_test_01KE2265M7YPHEEX_${'s'.repeat(49)}`;
  expect(maskApiKey(key)).toBe('cdl_test_01KE2265M7YPHEEX_…');
  expect(maskApiKey('whatever')).not.toContain('whatever');
  expect(listenSecret(key)).toMatch(/^whsec_[\w+/]{43}=$/);
  expect(listenSecret(key)).toBe(listenSecret(key));
  expect(listenSecret(`${key}x`)).not.toBe(listenSecret(key));
});
