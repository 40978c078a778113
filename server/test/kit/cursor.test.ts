import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyFromSecret } from '../../src/kit/crypto.ts';
import { type CursorScope, Cursors } from '../../src/kit/cursor.ts';
import { ApiError } from '../../src/kit/errors.ts';

const cursors = new Cursors(keyFromSecret('a key of this test'));
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

function accepted(cursor: string, scope: CursorScope = SCOPE): boolean {
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
  it('brings back the place it was made at', () => {
    fc.assert(
      fc.property(position, fc.string(), (at, filters) => {
        const scope = { ...SCOPE, filters };
        expect(cursors.decode(cursors.encode(at, scope), scope)).toEqual(at);
      }),
    );
  });

  it('is fit for a query string as it is', () => {
    fc.assert(
      fc.property(position, (at) => {
        expect(cursors.encode(at, SCOPE)).toMatch(/^[A-Za-z0-9_-]+$/);
      }),
    );
  });

  it('is refused when any one character of it is another', () => {
    const cursor = cursors.encode({ direction: 'older', id: ID }, SCOPE);
    const passed: string[] = [];
    for (let place = 0; place < cursor.length; place += 1) {
      for (const character of CHARACTERS) {
        if (character === cursor.charAt(place)) continue;
        if (accepted(cursor.slice(0, place) + character + cursor.slice(place + 1)))
          passed.push(`character ${place + 1} as ${character}`);
      }
    }
    expect(passed).toEqual([]);
  });

  it('never leads elsewhere, however it was changed', () => {
    const at = { direction: 'older' as const, id: ID };
    const cursor = cursors.encode(at, SCOPE);
    fc.assert(
      fc.property(fc.nat({ max: cursor.length }), fc.nat({ max: 3 }), fc.string(), (start, drop, text) => {
        const changed = cursor.slice(0, start) + text + cursor.slice(start + drop);
        const led = accepted(changed) ? cursors.decode(changed, SCOPE) : at;
        expect(led).toEqual(at);
      }),
      { numRuns: 1000 },
    );
  });

  it('is refused when it was padded, cut or made up', () => {
    const cursor = cursors.encode({ direction: 'newer', id: ID }, SCOPE);
    const texts = ['', cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, `${cursor}=`, ` ${cursor}`, ID];
    expect(texts.filter((text) => accepted(text))).toEqual([]);
    fc.assert(fc.property(fc.string(), (text) => !accepted(text)));
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 29, maxLength: 29 }),
        (bytes) => !accepted(Buffer.from(bytes).toString('base64url')),
      ),
    );
  });

  it('belongs to one list, one organization and one set of filters', () => {
    fc.assert(
      fc.property(position, (at) => {
        const cursor = cursors.encode(at, SCOPE);
        expect(accepted(cursor, { ...SCOPE, filters: '{}' })).toBe(false);
        expect(accepted(cursor, { ...SCOPE, list: 'payouts' })).toBe(false);
        const organizationId = '019b2c5e-0000-7000-8001-000000000002';
        expect(accepted(cursor, { ...SCOPE, organizationId })).toBe(false);
      }),
    );
  });

  it('is refused under another key', () => {
    const strange = new Cursors(keyFromSecret('another key')).encode({ direction: 'older', id: ID }, SCOPE);
    expect(accepted(strange)).toBe(false);
  });
});
