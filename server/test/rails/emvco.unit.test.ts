import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { MAX_AMOUNT_IN_CENTS } from '../../src/kit/money.ts';
import { type BrebQrInput, brebQrPayload, crc16, parseTlv } from '../../src/rails/breb/emvco.ts';

const EXAMPLE: BrebQrInput = {
  key: '@CDL4F7K2M9QX',
  amountInCents: 4_980_000n,
  network: 'RBM',
  networkId: 'RBM',
  merchantName: 'Panadería La Ñapa',
  merchantCity: 'Bogotá D.C.',
  postalCode: '110111',
  merchantCategory: '5462',
  reference: 'pedido-2026-0001',
  transactionId: '2601512345678900001',
};

const MANDATORY = '00 01 26 49 52 53 54 58 59 60 61 62 80 81 82 83 84 85 90 91 63'.split(' ');

/** Maximum lengths from the standard. */
const LENGTH_MAX: Readonly<Record<string, number>> = { '54': 13, '59': 25, '60': 15, '61': 10 };

function withFields(changes: Partial<BrebQrInput>): ReadonlyMap<string, string> {
  return parseTlv(brebQrPayload({ ...EXAMPLE, ...changes }));
}

function template(fields: ReadonlyMap<string, string>, tag: string): Record<string, string> {
  return Object.fromEntries(parseTlv(fields.get(tag) ?? ''));
}

/** Computes the CRC bit by bit, to check the table-driven implementation. */
function crc16BitByBit(text: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(text, 'latin1')) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      const carry = ((crc >> 15) ^ (byte >> bit)) & 1;
      crc = ((crc << 1) & 0xffff) ^ (carry * 0x1021);
    }
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

const characters = (alphabet: string, lengthMin: number, lengthMax: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...Array.from(alphabet)), minLength: lengthMin, maxLength: lengthMax });

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Merchant input: plain text, accents, emoji, other scripts, control characters, or nothing printable. */
const merchantText = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  characters('áéíóúüñÁÉÍÓÚÜÑçßøœ 🥐🇨🇴店’–\u0000\n\u0301', 0, 60),
  fc.constantFrom('', ' ', '🥐🥐🥐', '\u0301', '中文', '\ud83e', 'ﷺ'.repeat(20)),
);

const input: fc.Arbitrary<BrebQrInput> = fc.record({
  key: characters(UPPER, 1, 20).map((rest) => `@${rest}`),
  amountInCents: fc.bigInt({ min: 1n, max: BigInt(MAX_AMOUNT_IN_CENTS) }),
  network: characters(UPPER, 1, 16),
  networkId: characters(UPPER, 1, 16),
  merchantName: merchantText,
  merchantCity: merchantText,
  postalCode: merchantText,
  merchantCategory: characters('0123456789', 4, 4),
  reference: merchantText,
  transactionId: characters(`${UPPER}abcxyz_-`, 1, 19),
});

describe('crc16', () => {
  it('gives 29B1 for 123456789, the check value of CRC-16/CCITT-FALSE', () => {
    expect(crc16('123456789')).toBe('29B1');
    expect(crc16('')).toBe('FFFF');
  });

  it('agrees with a checksum computed bit by bit', () => {
    fc.assert(
      fc.property(characters(`${UPPER}abc @.-`, 0, 600), (text) => {
        expect(crc16(text)).toBe(crc16BitByBit(text));
      }),
    );
  });
});

describe('brebQrPayload', () => {
  it('writes the complete payload of an example', () => {
    const fields =
      '000201' +
      '010212' +
      '26350014CO.COM.RBM.LLA0413@CDL4F7K2M9QX' +
      '49250014CO.COM.RBM.RED0103RBM' +
      '52045462' +
      '5303170' +
      '540549800' +
      '5802CO' +
      '5917Panaderia La Napa' +
      '6011Bogota D.C.' +
      '6106110111' +
      '6240' +
      '0516pedido-2026-0001' +
      '0703000' +
      '080200' +
      '1103521' +
      '80290016CO.COM.RBM.CANAL0105ECOMM' +
      '81250015CO.COM.RBM.CIVA010203' +
      '82230014CO.COM.RBM.IVA01010' +
      '83240015CO.COM.RBM.BASE01010' +
      '84250015CO.COM.RBM.CINC010203' +
      '85230014CO.COM.RBM.INC01010' +
      '90430016CO.COM.RBM.TRXID01192601512345678900001';
    const signature = createHash('sha256').update(fields).digest('hex');
    const checksummed = `${fields}91860014CO.COM.RBM.SEC0164${signature}6304`;
    expect(brebQrPayload(EXAMPLE)).toBe(checksummed + crc16BitByBit(checksummed));
  });

  it('has every mandatory tag, with the checksum last, for any merchant', () => {
    fc.assert(
      fc.property(input, (example) => {
        const text = brebQrPayload(example);
        expect([...parseTlv(text).keys()]).toEqual(MANDATORY);
        expect(text.slice(-8, -4)).toBe('6304');
        expect(text.slice(-4)).toBe(crc16BitByBit(text.slice(0, -4)));
      }),
    );
  });

  it('respects the maximum lengths and contains only printable ASCII', () => {
    fc.assert(
      fc.property(input, (example) => {
        const text = brebQrPayload(example);
        expect(text).toMatch(/^[\x20-\x7e]+$/);
        const fields = parseTlv(text);
        for (const [tag, lengthMax] of Object.entries(LENGTH_MAX)) {
          const value = fields.get(tag) ?? '';
          expect(value.length).toBeLessThanOrEqual(lengthMax);
          expect(value).toBe(value.trim());
        }
        expect((template(fields, '62')['05'] ?? '').length).toBeLessThanOrEqual(25);
        expect((template(fields, '90')['01'] ?? '').length).toBeLessThanOrEqual(19);
      }),
      { numRuns: 1000 },
    );
  });

  it('can be parsed: key, networks, amount and transaction ID match the input', () => {
    fc.assert(
      fc.property(input, (example) => {
        const fields = parseTlv(brebQrPayload(example));
        const scope = `CO.COM.${example.network}`;
        expect(template(fields, '26')).toEqual({ '00': `${scope}.LLA`, '04': example.key });
        expect(template(fields, '49')).toEqual({ '00': `${scope}.RED`, '01': example.networkId });
        expect(template(fields, '80')).toEqual({ '00': `${scope}.CANAL`, '01': 'ECOMM' });
        expect(template(fields, '90')).toEqual({ '00': `${scope}.TRXID`, '01': example.transactionId });
        expect(template(fields, '91')['00']).toBe(`${scope}.SEC`);
        expect(template(fields, '91')['01']).toMatch(/^[0-9a-f]{64}$/);
        const [whole = '', decimals = '00'] = (fields.get('54') ?? '').split('.');
        expect(decimals).toHaveLength(2);
        expect(BigInt(whole) * 100n + BigInt(decimals)).toBe(example.amountInCents);
      }),
    );
  });

  it.each([
    [1n, '0.01'],
    [50n, '0.50'],
    [100n, '1'],
    [4_980_000n, '49800'],
    [4_980_050n, '49800.50'],
    [999_999_999_999n, '9999999999.99'],
  ])('writes %s cents as %s', (amountInCents, text) => {
    expect(withFields({ amountInCents }).get('54')).toBe(text);
  });

  it.each([
    ['Ñandú Café & Cía', 'Nandu Cafe & Cia'],
    ['Straße Øl Œuvre', 'Strasse Ol OEuvre'],
    ['D’Alessandro – “El 20”', `D'Alessandro - "El 20"`],
    ['  Pan🥐  y\ncafé  ', 'Pan y cafe'],
    ['Distribuidora del Occidente Colombiano', 'Distribuidora del Occiden'],
    // The truncation ends on a space, which is trimmed.
    ['Distribuidora del Oeste 12 de Octubre', 'Distribuidora del Oeste 1'],
    ['Almacenes y Bodegas La 14 Norte', 'Almacenes y Bodegas La 14'],
    ['🥐', 'COMERCIO'],
    ['', 'COMERCIO'],
  ])('writes the merchant name %j as %j', (merchantName, text) => {
    expect(withFields({ merchantName }).get('59')).toBe(text);
  });

  it('uses defaults when city and postal code have no printable character', () => {
    const fields = withFields({ merchantCity: '🏙️', postalCode: '' });
    expect(fields.get('60')).toBe('COLOMBIA');
    expect(fields.get('61')).toBe('000000');
  });

  it('omits the reference label when it has no printable character', () => {
    expect(template(withFields({ reference: '店' }), '62')).toEqual({ '07': '000', '08': '00', '11': '521' });
  });

  it('signs with another function when a network requires one', () => {
    const signedFields: string[] = [];
    const text = brebQrPayload(EXAMPLE, (fields) => {
      signedFields.push(fields);
      return 'sealed';
    });
    expect(template(parseTlv(text), '91')['01']).toBe('sealed');
    expect(signedFields).toEqual([text.slice(0, text.indexOf('91280014'))]);
    expect(() => brebQrPayload(EXAMPLE, () => 'x'.repeat(99))).toThrow(RangeError);
  });

  it.each<[string, Partial<BrebQrInput>]>([
    ['a key without @', { key: 'CDL4F7K2M9QX' }],
    ['a lower-case key', { key: '@cdl4f7k2m9qx' }],
    ['a key of 21 characters', { key: `@${'A'.repeat(21)}` }],
    ['an empty key', { key: '@' }],
    ['a zero amount', { amountInCents: 0n }],
    ['a negative amount', { amountInCents: -100n }],
    ['an amount of 14 characters', { amountInCents: 1_000_000_000_000n }],
    ['a transaction id of 20 characters', { transactionId: '1'.repeat(20) }],
    ['an empty transaction id', { transactionId: '' }],
    ['a transaction id with a space', { transactionId: '1 2' }],
    ['a category of three digits', { merchantCategory: '546' }],
    ['a category of letters', { merchantCategory: 'ABCD' }],
    ['a network too long for tag 91', { network: 'A'.repeat(17) }],
    ['an empty network', { network: '' }],
    ['a network id with a dot', { networkId: 'R.M' }],
  ])('rejects %s', (_what, changes) => {
    expect(() => brebQrPayload({ ...EXAMPLE, ...changes })).toThrow(RangeError);
  });

  it('does not contain the key in its error, because errors reach logs', () => {
    expect(() => brebQrPayload({ ...EXAMPLE, key: '@secreta' })).toThrow(
      /^key: must have 1 to 20 of the characters/,
    );
  });
});

describe('parseTlv', () => {
  it('returns fields in order', () => {
    expect([...parseTlv('5802CO000201')]).toEqual([
      ['58', 'CO'],
      ['00', '01'],
    ]);
    expect(parseTlv('').size).toBe(0);
  });

  it.each([
    ['a single character', '0'],
    ['a tag without length', '00'],
    ['half a length', '000'],
    ['a tag that is not digits', '0A0201'],
    ['a length that is not digits', '00+201'],
    ['digits of another script', '00٠٢01'],
    ['an empty value', '0000'],
    ['a value cut short', '0002015802C'],
    ['a repeated tag', '000201000201'],
    ['trailing characters', '00020158'],
  ])('rejects %s', (_what, text) => {
    expect(() => parseTlv(text)).toThrow(RangeError);
  });

  it('rejects a payload truncated inside any field', () => {
    const text = brebQrPayload(EXAMPLE);
    const ends: number[] = [];
    for (const value of parseTlv(text).values()) ends.push((ends.at(-1) ?? 0) + 4 + value.length);
    const cuts = Array.from(text, (_, length) => length);
    for (const length of cuts.filter((cut) => cut > 0 && !ends.includes(cut))) {
      expect(() => parseTlv(text.slice(0, length))).toThrow(RangeError);
    }
  });
});
