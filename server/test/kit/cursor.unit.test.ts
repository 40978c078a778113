import { describe, expect, it } from 'vitest';
import { fc } from '../../../scripts/testing/property.ts';
import { keyFromSecret } from '../../src/kit/crypto.ts';
import { type CursorScope, Cursors } from '../../src/kit/cursor.ts';
import { ApiError } from '../../src/kit/errors.ts';

const cursors = new Cursors([keyFromSecret('a key of this test')]);
const SCOPE: CursorScope = {
  list: 'payins',
  organizationId: '019b2c5e-0000-7000-8001-000000000001',
  filters: '{"rail":"PSE"}',
};
const ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'.split('');
const position = fc.record({
  id: fc.uuid({ version: 7 }),
  direction: fc.constantFrom('older' as const, 'newer' as const),
});

function isAccepted(cursor: string, scope: CursorScope = SCOPE): boolean {
  try {
    cursors.decode(cursor, scope);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).code).toBe('cursor_invalid');
    return false;
  }
}

describe('a cursor', () => {
  it('decodes to its position', () => {
    fc.assert(
      fc.property(position, fc.string(), (at, filters) => {
        const scope = { ...SCOPE, filters };
        expect(cursors.decode(cursors.encode(at, scope), scope)).toEqual(at);
      }),
    );
  });

  it('is URL-safe', () => {
    fc.assert(
      fc.property(position, (at) => {
        expect(cursors.encode(at, SCOPE)).toMatch(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it('is rejected when any character is changed', () => {
    const cursor = cursors.encode({ direction: 'older', id: ID }, SCOPE);
    const passed: string[] = [];
    for (let index = 0; index < cursor.length; index += 1) {
      for (const character of CHARACTERS) {
        if (character === cursor.charAt(index)) continue;
        if (isAccepted(cursor.slice(0, index) + character + cursor.slice(index + 1)))
          passed.push(`character ${index + 1} as ${character}`);
      }
    }
    expect(passed).toEqual([]);
  });

  it('never leads elsewhere, however it is changed', () => {
    const at = { direction: 'older' as const, id: ID };
    const cursor = cursors.encode(at, SCOPE);
    fc.assert(
      fc.property(fc.nat({ max: cursor.length }), fc.nat({ max: 3 }), fc.string(), (start, drop, text) => {
        const changed = cursor.slice(0, start) + text + cursor.slice(start + drop);
        const decoded = isAccepted(changed) ? cursors.decode(changed, SCOPE) : at;
        expect(decoded).toEqual(at);
      }),
      { numRuns: 1000 },
    );
  });

  it('is rejected when padded, truncated or made up', () => {
    const cursor = cursors.encode({ direction: 'newer', id: ID }, SCOPE);
    const texts = ['', cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, `${cursor}=`, ` ${cursor}`, ID];
    expect(texts.filter((text) => isAccepted(text))).toEqual([]);
    fc.assert(fc.property(fc.string(), (text) => !isAccepted(text)));
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 29, maxLength: 29 }),
        (bytes) => !isAccepted(Buffer.from(bytes).toString('base64url')),
      ),
    );
  });

  it('is bound to one list, organization and set of filters', () => {
    fc.assert(
      fc.property(position, (at) => {
        const cursor = cursors.encode(at, SCOPE);
        expect(isAccepted(cursor, { ...SCOPE, filters: '{}' })).toBe(false);
        expect(isAccepted(cursor, { ...SCOPE, list: 'payouts' })).toBe(false);
        const organizationId = '019b2c5e-0000-7000-8001-000000000002';
        expect(isAccepted(cursor, { ...SCOPE, organizationId })).toBe(false);
      }),
    );
  });

  it('is rejected with another key', () => {
    const foreignCursor = new Cursors([keyFromSecret('another key')]).encode(
      { direction: 'older', id: ID },
      SCOPE,
    );
    expect(isAccepted(foreignCursor)).toBe(false);
  });
});
