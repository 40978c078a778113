import { describe, expect, it } from 'vitest';
import { keyFromSecret } from '../../src/kit/crypto.ts';
import { Cursors } from '../../src/kit/cursor.ts';
import { EncryptedTokens } from '../../src/kit/encrypted-token.ts';

const [OLD, NEW] = [keyFromSecret('the previous token key'), keyFromSecret('the current token key')];
const ID = '0198f000-0000-7000-8000-000000000001';
const SUBJECT = { id: ID, organizationNumber: 7 };
const SCOPE = { list: 'payins', organizationId: ID, filters: '' };
const POSITION = { direction: 'older', id: ID } as const;

describe('during a rotation of the token key', () => {
  it('tokens and cursors of the previous key stay valid', () => {
    const token = new EncryptedTokens([OLD], 'checkout').make(SUBJECT, 3);
    expect(new EncryptedTokens([NEW, OLD], 'checkout').read(token)).toEqual(SUBJECT);
    const cursor = new Cursors([OLD]).encode(POSITION, SCOPE);
    expect(new Cursors([NEW, OLD]).decode(cursor, SCOPE)).toEqual(POSITION);
  });

  it('new tokens and cursors are made with the current key', () => {
    const token = new EncryptedTokens([NEW, OLD], 'checkout').make(SUBJECT, 3);
    expect(new EncryptedTokens([NEW], 'checkout').read(token)).toEqual(SUBJECT);
    const cursor = new Cursors([NEW, OLD]).encode(POSITION, SCOPE);
    expect(new Cursors([NEW]).decode(cursor, SCOPE)).toEqual(POSITION);
  });

  it('tokens and cursors of the previous key are rejected once it is removed', () => {
    const token = new EncryptedTokens([OLD], 'checkout').make(SUBJECT, 3);
    expect(new EncryptedTokens([NEW], 'checkout').read(token)).toBeNull();
    const cursor = new Cursors([OLD]).encode(POSITION, SCOPE);
    expect(() => new Cursors([NEW]).decode(cursor, SCOPE)).toThrow('cursor');
  });
});
