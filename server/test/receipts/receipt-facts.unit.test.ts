import { generate } from 'lean-qr';
import { describe, expect, it } from 'vitest';
import { decodeBase32, encodeBase32 } from '../../src/receipts/base32.ts';
import { formatReceiptCode, newReceiptCode, parseReceiptCode } from '../../src/receipts/receipt-code.ts';
import type { ReceiptFacts } from '../../src/receipts/receipt-facts.ts';
import { ReceiptKeys, receiptKeyId } from '../../src/receipts/receipt-keys.ts';
import { FACTS, newKey, receiptKeys } from './receipt-fixture.ts';

describe('a signed receipt', () => {
  it('is authentic and carries the facts', () => {
    const keys = receiptKeys();
    const facts = { ...FACTS, keyId: keys.published.keys[0]?.kid };
    expect(keys.verify(keys.sign(FACTS))).toEqual({ verdict: 'authentic', facts });
  });

  it('has the same text for the same facts', () => {
    const keys = receiptKeys();
    expect(keys.sign(FACTS)).toBe(keys.sign({ ...FACTS }));
  });

  it('fits a QR code of version 15 or less with the address of the page', () => {
    const url = `https://pagos.example.com.co/verificar#${receiptKeys().sign(FACTS)}`;
    const version = (generate(url).size - 17) / 4;
    expect(version).toBeLessThanOrEqual(15);
  });

  it('shortens long names and references between characters', () => {
    const keys = receiptKeys();
    const { facts } = keys.verify(keys.sign({ ...FACTS, shop: 'ñ'.repeat(120), reference: '🛒'.repeat(60) }));
    expect(facts?.shop).toBe(`${'ñ'.repeat(28)}…`);
    expect(facts?.reference).toBe(`${'🛒'.repeat(14)}…`);
  });
});

describe('a receipt is rejected', () => {
  const keys = receiptKeys();
  const changed = (changes: Partial<ReceiptFacts>) => {
    const forged = decodeBase32(receiptKeys().sign({ ...FACTS, ...changes })) ?? new Uint8Array();
    const real = decodeBase32(keys.sign(FACTS)) ?? new Uint8Array();
    return encodeBase32(Buffer.concat([forged.slice(0, -64), real.slice(-64)]));
  };

  it('as altered when the amount is changed', () => {
    expect(keys.verify(changed({ amountInCents: 9_980_000n })).verdict).toBe('altered');
  });

  it('as altered when any single bit is changed, unless it becomes unreadable or names another key', () => {
    const bytes = decodeBase32(keys.sign(FACTS)) ?? new Uint8Array();
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const copy = Uint8Array.from(bytes);
      copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(keys.verify(encodeBase32(copy)).verdict).not.toBe('authentic');
    }
  });

  it('as signed by an unknown key when another service signed it', () => {
    const other = new ReceiptKeys({ current: newKey('other'), retired: [], revokedIds: [] });
    expect(keys.verify(other.sign(FACTS)).verdict).toBe('unknown_key');
  });

  it('as unreadable when it is cut or is no receipt', () => {
    const text = keys.sign(FACTS);
    for (const each of ['', 'HOLA', text.slice(0, -2), text.slice(2), `${text}00`, text.toLowerCase()])
      expect(keys.verify(each).verdict).not.toBe('authentic');
    expect(keys.verify('HOLA').verdict).toBe('unreadable');
  });
});

describe('after a rotation', () => {
  const old = newKey('old');
  const validUntil = new Date(FACTS.signedAt.getTime() + 60_000);
  const before = new ReceiptKeys({ current: old, retired: [], revokedIds: [] });
  const retired = [{ publicKey: old.publicKey, validUntil }];

  it('accepts a receipt signed by the retired key', () => {
    const after = new ReceiptKeys({ current: newKey('new'), retired, revokedIds: [] });
    expect(after.verify(before.sign(FACTS)).verdict).toBe('authentic');
    expect(after.published.keys.map(({ status }) => status)).toEqual(['current', 'retired']);
  });

  it('rejects a receipt that the retired key signed after its last day', () => {
    const after = new ReceiptKeys({ current: newKey('new'), retired, revokedIds: [] });
    const signedAt = new Date(validUntil.getTime() + 60_000);
    expect(after.verify(before.sign({ ...FACTS, signedAt })).verdict).toBe('expired_key');
  });

  it('rejects a receipt signed by a revoked key, with or without its public key', () => {
    const revokedIds = [receiptKeyId(old.publicKey)];
    for (const listed of [retired, []]) {
      const after = new ReceiptKeys({ current: newKey('new'), retired: listed, revokedIds });
      expect(after.verify(before.sign(FACTS)).verdict).toBe('revoked_key');
    }
  });
});

describe('a receipt code', () => {
  it('is accepted as people type it', () => {
    const code = newReceiptCode();
    expect(parseReceiptCode(` ${formatReceiptCode(code).toLowerCase()} `)).toBe(code);
    expect(parseReceiptCode(code.replaceAll('0', 'o').replaceAll('1', 'l'))).toBe(code);
  });

  it('with one wrong character is rejected', () => {
    const code = newReceiptCode();
    const accepted: string[] = [];
    for (let at = 0; at < code.length; at += 1)
      for (const character of '0123456789ABCDEFGHJKMNPQRSTVWXYZ') {
        const typed = code.slice(0, at) + character + code.slice(at + 1);
        if (typed !== code && parseReceiptCode(typed) !== null) accepted.push(typed);
      }
    expect(accepted).toEqual([]);
  });
});
