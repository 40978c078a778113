import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { cents, decimalPesos, MAX_AMOUNT_IN_CENTS, pesos } from '../../src/kit/money.ts';

const MAX = BigInt(MAX_AMOUNT_IN_CENTS);
const amount = fc.bigInt({ min: 1n, max: MAX });
const EDGES = [1n, 9n, 10n, 99n, 100n, 101n, 1_999n, 4_980_000n, 29_999_999_999n, MAX - 99n, MAX - 1n, MAX];

describe('an amount in cents', () => {
  it('is limited to what a QR code can hold', () => {
    expect(MAX).toBe(999_999_999_999n);
    expect(decimalPesos(cents(MAX))).toHaveLength(13);
  });

  it('is never negative and never a fraction', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -MAX, max: -1n }), (value) => {
        expect(() => cents(value)).toThrow(RangeError);
      }),
    );
    for (const value of [0.5, 1.1, 4_980_000.01, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => cents(value)).toThrow(RangeError);
    expect(cents(0)).toBe(0n);
  });
});

describe('pesos', () => {
  it('is exact in JSON for every accepted amount', () => {
    // Compares digits, without float arithmetic.
    const digits = (value: bigint) => {
      const [whole = '', decimals = ''] = JSON.stringify(pesos(cents(value))).split('.');
      expect(decimals.length).toBeLessThanOrEqual(2);
      return BigInt(whole + decimals.padEnd(2, '0'));
    };
    for (const value of EDGES) expect(digits(value)).toBe(value);
    fc.assert(
      fc.property(amount, (value) => {
        expect(digits(value)).toBe(value);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('decimalPesos', () => {
  it('has two decimals and exactly the digits of the cents, for every accepted amount', () => {
    const check = (value: bigint) => {
      const text = decimalPesos(cents(value));
      expect(text).toMatch(/^(?:0|[1-9]\d*)\.\d\d$/);
      expect(BigInt(text.replace('.', ''))).toBe(value);
    };
    for (const value of EDGES) check(value);
    fc.assert(fc.property(amount, check), { numRuns: 5000 });
  });

  it('writes small amounts with zeros', () => {
    expect([0, 1, 10, 99, 100, 4_980_000].map((value) => decimalPesos(cents(value)))).toEqual([
      '0.00',
      '0.01',
      '0.10',
      '0.99',
      '1.00',
      '49800.00',
    ]);
  });
});
