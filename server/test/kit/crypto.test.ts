import { inspect } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../src/kit/canonical-json.ts';
import {
  deriveKey,
  equalBytes,
  hmac,
  keyFromBytes,
  keyFromSecret,
  open,
  seal,
} from '../../src/kit/crypto.ts';
import { cellCode, MAX_CELL, uuidBytes, uuidv7 } from '../../src/kit/ids.ts';
import { SealedTokens } from '../../src/kit/sealed-token.ts';

const KEY = keyFromSecret('a key of this test');
const OTHER_KEY = keyFromSecret('another key of this test');
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const TOKEN_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');
const DOES_NOT_OPEN = /unable to authenticate|not a sealed value/;

describe('a sealed value', () => {
  it('opens to what was sealed, text and bytes alike', () => {
    fc.assert(
      fc.property(bytes, fc.string({ unit: 'grapheme' }), fc.string(), (content, text, identity) => {
        expect(open(KEY, seal(KEY, content, identity), identity).equals(content)).toBe(true);
        expect(open(KEY, seal(KEY, text, identity), identity).toString('utf8')).toBe(
          Buffer.from(text, 'utf8').toString('utf8'),
        );
      }),
    );
  });

  it('does not open under another identity: a ciphertext copied to another row is worth nothing', () => {
    fc.assert(
      fc.property(bytes, fc.string(), fc.string(), (content, identity, other) => {
        fc.pre(Buffer.from(identity).compare(Buffer.from(other)) !== 0);
        expect(() => open(KEY, seal(KEY, content, identity), other)).toThrow(DOES_NOT_OPEN);
      }),
    );
  });

  it('does not open with another key', () => {
    fc.assert(
      fc.property(bytes, (content) => {
        expect(() => open(OTHER_KEY, seal(KEY, content, 'row'), 'row')).toThrow(DOES_NOT_OPEN);
      }),
    );
  });

  it('does not open when any bit of it was changed', () => {
    const sealed = seal(KEY, 'Ana María Rojas', 'row');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => open(KEY, changed, 'row')).toThrow(DOES_NOT_OPEN);
    }
  });

  it('does not open when it was cut short or lengthened', () => {
    const sealed = seal(KEY, 'Ana María Rojas', 'row');
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => open(KEY, sealed.subarray(0, length), 'row')).toThrow(DOES_NOT_OPEN);
    expect(() => open(KEY, Buffer.concat([sealed, Buffer.of(0)]), 'row')).toThrow(DOES_NOT_OPEN);
  });

  it('never looks the same twice and shows nothing of its content', () => {
    const sealed = Array.from({ length: 200 }, () => seal(KEY, 'Ana María Rojas', 'row'));
    expect(new Set(sealed.map((each) => each.toString('hex'))).size).toBe(200);
    expect(new Set(sealed.map((each) => each.subarray(1, 13).toString('hex'))).size).toBe(200);
    for (const each of sealed) expect(each.includes('Rojas')).toBe(false);
  });
});

describe('a key', () => {
  it('shows nothing of itself when it is printed or written as JSON', () => {
    const key = keyFromBytes(Buffer.alloc(32, 'k'));
    expect(`${inspect(key)} ${JSON.stringify(key)} ${JSON.stringify({ key })}`).not.toMatch(/kk|6b6b|a2tr/);
  });

  it('out of a secret is the same in every process and for no other secret', () => {
    expect(keyFromSecret('a key of this test').equals(KEY)).toBe(true);
    expect(keyFromSecret('a key of this test ').equals(KEY)).toBe(false);
  });
});

describe('a derived key', () => {
  it('is the same for the same purpose and different for every other purpose or source', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (purpose, other) => {
        fc.pre(Buffer.from(purpose).compare(Buffer.from(other)) !== 0);
        expect(deriveKey(KEY, purpose).equals(deriveKey(KEY, purpose))).toBe(true);
        expect(deriveKey(KEY, purpose).equals(deriveKey(KEY, other))).toBe(false);
        expect(deriveKey(KEY, purpose).equals(deriveKey(OTHER_KEY, purpose))).toBe(false);
      }),
    );
  });
});

describe('the comparison of secrets', () => {
  it('agrees with equality, lengths included, and never throws', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(equalBytes(a, b)).toBe(a.equals(b));
        expect(equalBytes(a, Buffer.from(a))).toBe(true);
      }),
    );
  });
});

describe('the keyed hash', () => {
  it('is HMAC-SHA-256 as RFC 4231 has it', () => {
    expect(hmac(keyFromBytes(Buffer.from('Jefe')), 'what do ya want for nothing?').toString('hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });
});

describe('the secret in a checkout address', () => {
  const tokens = new SealedTokens(KEY, 'checkout');
  /** As the service makes them: the id and the token name the same cell. */
  const subject = fc
    .record({
      ms: fc.integer({ min: 0, max: 2 ** 41 }),
      cell: fc.integer({ min: 0, max: MAX_CELL }),
      organizationNumber: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    })
    .map(({ ms, cell, organizationNumber }) => ({ cell, of: { id: uuidv7(ms, cell), organizationNumber } }));
  const ONE = { id: uuidv7(1_763_132_645_678, 1), organizationNumber: 3 };

  it('gives back the resource and the organization it was made for', () => {
    fc.assert(
      fc.property(subject, ({ of, cell }) => {
        expect(tokens.read(tokens.make(of, cell))).toEqual(of);
      }),
    );
  });

  it('names its cell in front and has fifty characters fit for an address', () => {
    fc.assert(
      fc.property(subject, ({ of, cell }) => {
        const token = tokens.make(of, cell);
        expect(token).toMatch(/^[0-9A-Za-z_-]{50}$/);
        expect(token.slice(0, 2)).toBe(cellCode(cell));
      }),
    );
  });

  it('is refused when any one character of it is another', () => {
    const token = tokens.make(ONE, 1);
    const accepted: string[] = [];
    for (let place = 0; place < token.length; place += 1) {
      for (const character of TOKEN_CHARACTERS) {
        if (character === token.charAt(place)) continue;
        const changed = token.slice(0, place) + character + token.slice(place + 1);
        if (tokens.read(changed) !== null) accepted.push(`character ${place + 1} as ${character}`);
      }
    }
    expect(accepted).toEqual([]);
  });

  it('is refused when it is cut, lengthened or anything else', () => {
    const token = tokens.make(ONE, 1);
    for (const text of ['', token.slice(0, -1), `${token}A`, ` ${token}`, `${token}\n`, `${token}=`])
      expect(tokens.read(text)).toBeNull();
    fc.assert(fc.property(fc.string(), (text) => tokens.read(text) === null));
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Z]{2}[A-Za-z0-9_-]{48}$/), (text) => tokens.read(text) === null),
    );
  });

  it('is refused by another key and for another purpose', () => {
    fc.assert(
      fc.property(subject, ({ of, cell }) => {
        const token = tokens.make(of, cell);
        expect(new SealedTokens(OTHER_KEY, 'checkout').read(token)).toBeNull();
        expect(new SealedTokens(KEY, 'invoice').read(token)).toBeNull();
      }),
    );
  });

  it('shows nothing of the id or of the organization in it', () => {
    fc.assert(
      fc.property(subject, ({ of, cell }) => {
        const token = tokens.make(of, cell);
        const content = Buffer.from(token.slice(2), 'base64url');
        const id = uuidBytes(of.id);
        // Four bytes in a row by chance: one in a hundred million runs.
        for (let start = 0; start <= 12; start += 1)
          expect(content.includes(id.subarray(start, start + 4))).toBe(false);
        expect(token).not.toContain(of.id.replaceAll('-', '').slice(0, 8));
      }),
      { numRuns: 50 },
    );
  });

  it('shares no more with the token of the next resource than chance', () => {
    const first = tokens.make(ONE, 1);
    const second = tokens.make({ ...ONE, organizationNumber: 4 }, 1);
    const alike = first
      .slice(2)
      .split('')
      .filter((character, index) => character === second.charAt(index + 2));
    expect(alike.length).toBeLessThan(16);
  });
});

describe('the canonical text of JSON', () => {
  /** The same document with the members of every object in another order. */
  function reordered(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(reordered);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, reordered(member)]),
    );
  }

  // As a body arrives: through JSON.parse, so no -0 and no prototype to speak of.
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

  it('is the same whatever the order of members', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reordered(value))).toBe(canonicalJson(value));
      }),
    );
  });

  it('is the same whatever the white space', () => {
    fc.assert(
      fc.property(json, (value) => {
        const spaced = JSON.parse(JSON.stringify(value, null, 4)) as unknown;
        expect(canonicalJson(spaced)).toBe(canonicalJson(value));
      }),
    );
  });

  it('still means the same document, so different documents have different texts', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
    );
  });

  it('keeps the order of lists, and tells a number from its text and null from nothing', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson({ amountInCents: 1 })).not.toBe(canonicalJson({ amountInCents: '1' }));
    expect(canonicalJson({ a: null })).not.toBe(canonicalJson({}));
    expect(canonicalJson({ a: undefined })).toBe(canonicalJson({}));
  });
});
