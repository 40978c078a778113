import { describe, expect, it } from 'vitest';
import { curveOf, quantile } from '../src/load/load-result.ts';
import { atLeast, atMost, lineText, valueText } from '../src/metric.ts';
import type { Conditions } from '../src/report/conditions.ts';
import { SCOREBOARD } from '../src/report/scoreboard.ts';
import { tableRows, tableText } from '../src/report/table.ts';

const P5 = atLeast(0.3, { id: 'P5', says: 'QR ÷ single', value: 0.2999, details: { QR: 12.34, of: 'two' } });

describe('the table', () => {
  it('has a row for every line, measured or not, and says why not', () => {
    const rows = tableRows([P5], new Map([['P2', 'the rail was away']]));
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(SCOREBOARD.map(({ id }) => id)));
    expect(rows.find(({ id }) => id === 'P5')).toMatchObject({ value: '0.300', verdict: 'MISSED' });
    expect(rows.find(({ id }) => id === 'P2')).toMatchObject({
      verdict: 'MISSED',
      says: expect.stringContaining('failed: the rail was away') as string,
    });
    expect(rows.find(({ id }) => id === 'P7')?.says).toContain('npm run e2e');
  });

  it('shows what an earlier run found, and when', () => {
    const earlier = new Map([
      ['P5', { conditions: { at: '2026-11-15T17:00:00Z', commit: 'abc' } as Conditions, lines: [P5] }],
    ]);
    expect(tableRows([], new Map(), earlier).find(({ id }) => id === 'P5')).toMatchObject({
      value: '0.300',
      says: 'QR ÷ single (at 2026-11-15T17:00, commit abc)',
    });
    expect(tableRows([], new Map([['P5', 'away']]), earlier).find(({ id }) => id === 'P5')?.value).toBe('-');
  });

  it('keeps its columns', () => {
    const [first, second] = tableText(tableRows([], new Map())).split('\n');
    expect(first?.indexOf('>=')).toBe(second?.indexOf('>='));
  });
});

describe('a line', () => {
  it('is held at its very target, either way', () => {
    const parts = { id: 'X', says: '', value: 2, details: '' };
    expect(atLeast(2, parts).holds).toBe(true);
    expect(atMost(2, parts).holds).toBe(true);
    expect(atMost(1.99, parts).holds).toBe(false);
  });

  it('does not hold without a figure', () => {
    const parts = { id: 'X', says: '', value: Number.NaN, details: '' };
    expect(atLeast(0, parts).holds).toBe(false);
    expect(atMost(1, parts).holds).toBe(false);
    expect(valueText(Number.NaN)).toBe('-');
  });

  it('reads as a sentence', () => {
    expect(lineText(P5)).toBe('P5 0.300 QR ÷ single; QR 12.3, of two; target >= 0.3 (MISSED)');
  });
});

describe('quantiles', () => {
  it('are values that were seen, rising', () => {
    const sorted = Array.from({ length: 1000 }, (_, index) => index + 1);
    expect(quantile(sorted, 0.5)).toBe(501);
    expect(quantile(sorted, 0.99)).toBe(991);
    expect(quantile(sorted, 1)).toBe(1000);
    expect(quantile([], 0.5)).toBeNaN();
    const curve = curveOf(sorted).map(([, value]) => value);
    expect(curve).toEqual(curve.toSorted((a, b) => a - b));
  });
});
