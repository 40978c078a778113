import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import {
  base32Digits,
  base62Digits,
  cellCode,
  cellFromCode,
  MAX_CELL,
  randomBase62,
  uuidBytes,
  uuidCell,
  uuidFloor,
  uuidFromBytes,
  uuidToBase32,
  uuidv7,
} from '../../src/kit/ids.ts';

const BASE32 = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** One step of an ID's clock: a millisecond has 4096 of them. */
const STEP_MS = 1 / 4096;
const cell = fc.integer({ min: 0, max: MAX_CELL });
/** Until 2039, in steps of the ID's clock, which a double represents exactly up to there. */
const steps = fc.bigInt({ min: 0n, max: 2n ** 41n * 4096n - 2n });
const moment = steps.map((count) => Number(count) * STEP_MS);

describe('uuidv7', () => {
  it('returns a version 7 UUID at every time and in every cell', () => {
    fc.assert(
      fc.property(moment, cell, (at, of) => {
        expect(uuidv7(at, of)).toMatch(UUID_V7);
      }),
    );
  });

  it('has its millisecond in the first 48 bits', () => {
    fc.assert(
      fc.property(moment, cell, (at, of) => {
        const id = uuidv7(at, of);
        expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(Math.floor(at));
      }),
    );
  });

  it('contains its cell, for every possible cell', () => {
    for (let of = 0; of <= MAX_CELL; of += 1) {
      const id = uuidv7(1_763_132_645_678.25, of);
      expect(id).toMatch(UUID_V7);
      expect(uuidCell(id)).toBe(of);
    }
  });

  it('sorts after every ID of an earlier time, whatever the cells', () => {
    fc.assert(
      fc.property(steps, steps, cell, cell, (a, b, first, second) => {
        fc.pre(a !== b);
        const [earlier, later] = a < b ? [a, b] : [b, a];
        expect(uuidv7(Number(earlier) * STEP_MS, first) < uuidv7(Number(later) * STEP_MS, second)).toBe(true);
      }),
    );
  });

  it('sorts after an ID created 1/4096 of a millisecond earlier', () => {
    fc.assert(
      fc.property(moment, cell, (at, of) => {
        expect(uuidv7(at, of) < uuidv7(at + STEP_MS, of)).toBe(true);
      }),
    );
  });

  it('never repeats, even at the same time in the same cell', () => {
    const ids = Array.from({ length: 20_000 }, () => uuidv7(1_763_132_645_678, 7));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('uuidFloor', () => {
  it('is not greater than any ID of that millisecond and greater than any earlier one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2 ** 41 - 1 }),
        fc.integer({ min: 0, max: 4095 }),
        cell,
        (ms, fraction, of) => {
          expect(uuidFloor(ms) <= uuidv7(ms + fraction * STEP_MS, of)).toBe(true);
          expect(uuidFloor(ms) > uuidv7(ms - 1 + fraction * STEP_MS, of)).toBe(true);
        },
      ),
    );
  });
});

describe('conversions of an ID', () => {
  it('to sixteen bytes and back', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const id = uuidFromBytes(Buffer.from(bytes));
        expect(id).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
        expect([...uuidBytes(id)]).toEqual([...bytes]);
      }),
    );
  });

  it('to 26 characters for a rail, from which the ID can be decoded', () => {
    fc.assert(
      fc.property(fc.uuid(), (id) => {
        const text = uuidToBase32(id);
        expect(text).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
        const value = text.split('').reduce((sum, digit) => sum * 32n + BigInt(BASE32.indexOf(digit)), 0n);
        expect(value).toBe(BigInt(`0x${id.replaceAll('-', '')}`));
      }),
    );
  });
});

describe('the code of a cell', () => {
  it('has two characters and is unique, for every possible cell', () => {
    const codes = Array.from({ length: MAX_CELL + 1 }, (_, of) => cellCode(of));
    expect(new Set(codes).size).toBe(MAX_CELL + 1);
    for (const [of, code] of codes.entries()) {
      expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{2}$/);
      expect(cellFromCode(`${code}7XQW`)).toBe(of);
    }
  });

  it('is rejected when too short or with an invalid letter', () => {
    for (const text of ['', '0', 'I0', '0L', 'O0', '0U', 'ab', ' 1', '-1'])
      expect(cellFromCode(text)).toBeNull();
  });
});

describe('base32Digits and base62Digits', () => {
  it('write a number with leading zeros', () => {
    expect(base32Digits(1023, 2)).toBe('ZZ');
    expect(base32Digits(1, 4)).toBe('0001');
    expect(base62Digits(0, 6)).toBe('000000');
    expect(base62Digits(0xffff_ffff, 6)).toBe('4gfFC3');
  });

  it('are injective with enough digits', () => {
    const number = fc.integer({ min: 0, max: 0xffff_ffff });
    fc.assert(
      fc.property(number, number, (a, b) => {
        expect(base62Digits(a, 6) === base62Digits(b, 6)).toBe(a === b);
      }),
    );
  });
});

describe('randomBase62', () => {
  it('has a uniform distribution', () => {
    const counts = new Map<string, number>();
    for (const character of randomBase62(62 * 2000)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // Eight standard deviations on either side; a byte modulo 62 would put eight characters nine above.
    expect([...counts].filter(([, count]) => Math.abs(count - 2000) >= 360)).toEqual([]);
  });

  it('has the requested length and differs each time', () => {
    expect(randomBase62(43)).toMatch(/^[0-9A-Za-z]{43}$/);
    expect(randomBase62(43)).not.toBe(randomBase62(43));
  });
});
