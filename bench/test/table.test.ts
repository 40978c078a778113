import { describe, expect, it } from 'vitest';
import { quantile, toCurve } from '../src/load/load-result.ts';
import { atLeast, atMost, metricText, valueText } from '../src/metric.ts';
import type { Conditions } from '../src/report/conditions.ts';
import { SCOREBOARD } from '../src/report/scoreboard.ts';
import { tableRows, tableText } from '../src/report/table.ts';

const P5 = atLeast(0.3, {
  id: 'P5',
  description: 'QR ÷ single',
  value: 0.2999,
  details: { QR: 12.34, of: 'two' },
});

describe('table', () => {
  it('has a row for every metric, with the reason when it was not measured', () => {
    const rows = tableRows([P5], new Map([['P2', 'the rail was away']]));
    expect(new Set(rows.map(({ id }) => id))).toEqual(new Set(SCOREBOARD.map(({ id }) => id)));
    expect(rows.find(({ id }) => id === 'P5')).toMatchObject({ value: '0.300', verdict: 'MISSED' });
    expect(rows.find(({ id }) => id === 'P2')).toMatchObject({
      verdict: 'MISSED',
      description: expect.stringContaining('failed: the rail was away') as string,
    });
    expect(rows.find(({ id }) => id === 'P7')?.description).toContain('npm run e2e');
  });

  it('shows the result and time of an earlier run', () => {
    const earlier = new Map([
      ['P5', { conditions: { at: '2026-11-15T17:00:00Z', commit: 'abc' } as Conditions, metrics: [P5] }],
    ]);
    expect(tableRows([], new Map(), earlier).find(({ id }) => id === 'P5')).toMatchObject({
      value: '0.300',
      description: 'QR ÷ single (at 2026-11-15T17:00, commit abc)',
    });
    expect(tableRows([], new Map([['P5', 'away']]), earlier).find(({ id }) => id === 'P5')?.value).toBe('-');
  });

  it('aligns its columns', () => {
    const [first, second] = tableText(tableRows([], new Map())).split('\n');
    expect(first?.indexOf('>=')).toBe(second?.indexOf('>='));
  });
});

describe('metric', () => {
  it('meets its target when the value equals it', () => {
    const parts = { id: 'X', description: '', value: 2, details: '' };
    expect(atLeast(2, parts).holds).toBe(true);
    expect(atMost(2, parts).holds).toBe(true);
    expect(atMost(1.99, parts).holds).toBe(false);
  });

  it('misses its target without a value', () => {
    const parts = { id: 'X', description: '', value: Number.NaN, details: '' };
    expect(atLeast(0, parts).holds).toBe(false);
    expect(atMost(1, parts).holds).toBe(false);
    expect(valueText(Number.NaN)).toBe('-');
  });

  it('is printed with value, details and target', () => {
    expect(metricText(P5)).toBe('P5 0.300 QR ÷ single; QR 12.3, of two; target >= 0.3 (MISSED)');
  });
});

describe('quantiles', () => {
  it('are observed values in ascending order', () => {
    const sorted = Array.from({ length: 1000 }, (_, index) => index + 1);
    expect(quantile(sorted, 0.5)).toBe(501);
    expect(quantile(sorted, 0.99)).toBe(991);
    expect(quantile(sorted, 1)).toBe(1000);
    expect(quantile([], 0.5)).toBeNaN();
    const curve = toCurve(sorted).map(([, value]) => value);
    expect(curve).toEqual(curve.toSorted((a, b) => a - b));
  });
});
