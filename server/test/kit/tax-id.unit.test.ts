import { describe, expect, it } from 'vitest';
import { formatTaxId, parseTaxId } from '../../src/kit/tax-id.ts';

describe('parseTaxId', () => {
  it.each([
    ['900123456-8', '900123456-8'],
    ['900.123.456-8', '900123456-8'],
    // Published NITs of Bancolombia and Ecopetrol.
    ['890903938-8', '890903938-8'],
    ['899.999.068-1', '899999068-1'],
  ])('reads %s', (text, taxId) => expect(parseTaxId(text)).toBe(taxId));

  it.each(['900123456-7', '900123456', '9001234568', '-8', 'abc-1', ''])('rejects %j', (text) =>
    expect(parseTaxId(text)).toBeNull(),
  );
});

describe('formatTaxId', () => {
  it('groups the digits in threes and keeps the check digit apart', () => {
    expect(formatTaxId('900123456-8')).toBe('900.123.456-8');
    expect(formatTaxId('1020304050-4')).toBe('1.020.304.050-4');
  });
});
