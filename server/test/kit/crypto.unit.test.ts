import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { canonicalJson } from '../../src/kit/canonical-json.ts';
import {
  decrypt,
  deriveKey,
  encrypt,
  equalBytes,
  hmac,
  keyFromBytes,
  keyFromSecret,
} from '../../src/kit/crypto.ts';
import { EncryptedTokens } from '../../src/kit/encrypted-token.ts';
import { cellCode, MAX_CELL, uuidBytes, uuidv7 } from '../../src/kit/ids.ts';

const KEY = keyFromSecret('a key of this test');
const OTHER_KEY = keyFromSecret('another key of this test');
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));
const TOKEN_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');
const DECRYPT_ERROR = /unable to authenticate|not an encrypted value/;

describe('encryption', () => {
  it('decrypts to the original text or bytes', () => {
    fc.assert(
      fc.property(bytes, fc.string({ unit: 'grapheme' }), fc.string(), (content, text, identity) => {
        expect(decrypt(KEY, encrypt(KEY, content, identity), identity).equals(content)).toBe(true);
        expect(decrypt(KEY, encrypt(KEY, text, identity), identity).toString('utf8')).toBe(
          Buffer.from(text, 'utf8').toString('utf8'),
        );
      }),
    );
  });

  it('fails to decrypt under another identity: a ciphertext copied to another row is useless', () => {
    fc.assert(
      fc.property(bytes, fc.string(), fc.string(), (content, identity, other) => {
        fc.pre(Buffer.from(identity).compare(Buffer.from(other)) !== 0);
        expect(() => decrypt(KEY, encrypt(KEY, content, identity), other)).toThrow(DECRYPT_ERROR);
      }),
    );
  });

  it('fails to decrypt with another key', () => {
    fc.assert(
      fc.property(bytes, (content) => {
        expect(() => decrypt(OTHER_KEY, encrypt(KEY, content, 'row'), 'row')).toThrow(DECRYPT_ERROR);
      }),
    );
  });

  it('fails to decrypt when any bit is changed', () => {
    const sealed = encrypt(KEY, 'Ana María Rojas', 'row');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(() => decrypt(KEY, changed, 'row')).toThrow(DECRYPT_ERROR);
    }
  });

  it('fails to decrypt when truncated or extended', () => {
    const sealed = encrypt(KEY, 'Ana María Rojas', 'row');
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => decrypt(KEY, sealed.subarray(0, length), 'row')).toThrow(DECRYPT_ERROR);
    expect(() => decrypt(KEY, Buffer.concat([sealed, Buffer.of(0)]), 'row')).toThrow(DECRYPT_ERROR);
  });

  it('never produces the same ciphertext twice and reveals no content', () => {
    const sealed = Array.from({ length: 200 }, () => encrypt(KEY, 'Ana María Rojas', 'row'));
    expect(new Set(sealed.map((each) => each.toString('hex'))).size).toBe(200);
    expect(new Set(sealed.map((each) => each.subarray(1, 13).toString('hex'))).size).toBe(200);
    for (const each of sealed) expect(each.includes('Rojas')).toBe(false);
  });
});

describe('a key object', () => {
  it('reveals nothing when printed or serialized as JSON', () => {
    const key = keyFromBytes(Buffer.alloc(32, 'k'));
    expect(`${inspect(key)} ${JSON.stringify(key)} ${JSON.stringify({ key })}`).not.toMatch(/kk|6b6b|a2tr/);
  });

  it('derived from a secret is the same in every process and differs for every other secret', () => {
    expect(keyFromSecret('a key of this test').equals(KEY)).toBe(true);
    expect(keyFromSecret('a key of this test ').equals(KEY)).toBe(false);
  });
});

describe('deriveKey', () => {
  it('returns the same key for the same purpose and a different one for any other purpose or source', () => {
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

describe('equalBytes', () => {
  it('agrees with equality, including lengths, and never throws', () => {
    fc.assert(
      fc.property(bytes, bytes, (a, b) => {
        expect(equalBytes(a, b)).toBe(a.equals(b));
        expect(equalBytes(a, Buffer.from(a))).toBe(true);
      }),
    );
  });
});

describe('hmac', () => {
  it('is HMAC-SHA-256 as in RFC 4231', () => {
    expect(hmac(keyFromBytes(Buffer.from('Jefe')), 'what do ya want for nothing?').toString('hex')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
  });
});

describe('the token in a checkout URL', () => {
  const tokens = new EncryptedTokens([KEY], 'checkout');
  /** As the service creates them: ID and token have the same cell. */
  const subject = fc
    .record({
      ms: fc.integer({ min: 0, max: 2 ** 41 }),
      cell: fc.integer({ min: 0, max: MAX_CELL }),
      organizationNumber: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    })
    .map(({ ms, cell, organizationNumber }) => ({
      cell,
      tokenSubject: { id: uuidv7(ms, cell), organizationNumber },
    }));
  const ONE = { id: uuidv7(1_763_132_645_678, 1), organizationNumber: 3 };

  it('decodes to its resource and organization', () => {
    fc.assert(
      fc.property(subject, ({ tokenSubject, cell }) => {
        expect(tokens.read(tokens.make(tokenSubject, cell))).toEqual(tokenSubject);
      }),
    );
  });

  it('starts with its cell and has fifty URL-safe characters', () => {
    fc.assert(
      fc.property(subject, ({ tokenSubject, cell }) => {
        const token = tokens.make(tokenSubject, cell);
        expect(token).toMatch(/^[0-9A-Za-z_-]{50}$/);
        expect(token.slice(0, 2)).toBe(cellCode(cell));
      }),
    );
  });

  it('is rejected when any character is changed', () => {
    const token = tokens.make(ONE, 1);
    const accepted: string[] = [];
    for (let position = 0; position < token.length; position += 1) {
      for (const character of TOKEN_CHARACTERS) {
        if (character === token.charAt(position)) continue;
        const changed = token.slice(0, position) + character + token.slice(position + 1);
        if (tokens.read(changed) !== null) accepted.push(`character ${position + 1} as ${character}`);
      }
    }
    expect(accepted).toEqual([]);
  });

  it('is rejected when truncated, extended or arbitrary', () => {
    const token = tokens.make(ONE, 1);
    for (const text of ['', token.slice(0, -1), `${token}A`, ` ${token}`, `${token}\n`, `${token}=`])
      expect(tokens.read(text)).toBeNull();
    fc.assert(fc.property(fc.string(), (text) => tokens.read(text) === null));
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Z]{2}[A-Za-z0-9_-]{48}$/), (text) => tokens.read(text) === null),
    );
  });

  it('is rejected with another key and for another purpose', () => {
    fc.assert(
      fc.property(subject, ({ tokenSubject, cell }) => {
        const token = tokens.make(tokenSubject, cell);
        expect(new EncryptedTokens([OTHER_KEY], 'checkout').read(token)).toBeNull();
        expect(new EncryptedTokens([KEY], 'invoice').read(token)).toBeNull();
      }),
    );
  });

  it('reveals nothing of the ID or the organization', () => {
    fc.assert(
      fc.property(subject, ({ tokenSubject, cell }) => {
        const token = tokens.make(tokenSubject, cell);
        const content = Buffer.from(token.slice(2), 'base64url');
        const id = uuidBytes(tokenSubject.id);
        // Four consecutive bytes match by chance once in a hundred million runs.
        for (let start = 0; start <= 12; start += 1)
          expect(content.includes(id.subarray(start, start + 4))).toBe(false);
        expect(token).not.toContain(tokenSubject.id.replaceAll('-', '').slice(0, 8));
      }),
      { numRuns: 50 },
    );
  });

  it('shares no more with the token of the next resource than by chance', () => {
    const first = tokens.make(ONE, 1);
    const second = tokens.make({ ...ONE, organizationNumber: 4 }, 1);
    const alike = first
      .slice(2)
      .split('')
      .filter((character, index) => character === second.charAt(index + 2));
    expect(alike.length).toBeLessThan(16);
  });
});

describe('canonicalJson', () => {
  /** The same document with the members of every object reversed. */
  function reverseMembers(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(reverseMembers);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([name, member]) => [name, reverseMembers(member)]),
    );
  }

  // As a parsed body: no -0 and no prototypes.
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

  it('does not depend on member order', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(reverseMembers(value))).toBe(canonicalJson(value));
      }),
    );
  });

  it('does not depend on whitespace', () => {
    fc.assert(
      fc.property(json, (value) => {
        const spaced = JSON.parse(JSON.stringify(value, null, 4)) as unknown;
        expect(canonicalJson(spaced)).toBe(canonicalJson(value));
      }),
    );
  });

  it('parses to the same document, so different documents have different texts', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(value);
      }),
    );
  });

  it('keeps list order, and distinguishes a number from its text and null from absence', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson({ amountInCents: 1 })).not.toBe(canonicalJson({ amountInCents: '1' }));
    expect(canonicalJson({ a: null })).not.toBe(canonicalJson({}));
    expect(canonicalJson({ a: undefined })).toBe(canonicalJson({}));
  });
});
