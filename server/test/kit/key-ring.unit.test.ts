import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { encrypt, keyFromBytes } from '../../src/kit/crypto.ts';
import { KeyRing, keyNumber, type RingKey } from '../../src/kit/key-ring.ts';

const ROW = 'payins.customer/organization/row';

let now = 1000;
beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

function ringKey(number: number, activeInMs = 0): RingKey {
  return { number, key: keyFromBytes(randomBytes(32)), activeInMs };
}

describe('a key ring', () => {
  const [first, second] = [ringKey(1), ringKey(2)];

  it('encrypts with the newest active key and decrypts by the number in the value', () => {
    const old = new KeyRing([first]).encrypt('before', ROW);
    const ring = new KeyRing([second, first]);
    const fresh = ring.encrypt('after', ROW);
    expect([keyNumber(old), keyNumber(fresh)]).toEqual([1, 2]);
    expect(ring.decrypt(old, ROW).toString()).toBe('before');
    expect(ring.decrypt(fresh, ROW).toString()).toBe('after');
  });

  it('decrypts values from before key numbers', () => {
    expect(new KeyRing([first]).decrypt(encrypt(first.key, 'text', ROW), ROW).toString()).toBe('text');
  });

  it('keeps key number 1 readable for versions without key numbers', () => {
    expect(new KeyRing([first]).encrypt('text', ROW)[0]).toBe(1);
  });

  it('rejects a value of another row, a changed key number and a truncated value', () => {
    const ring = new KeyRing([first, second, { ...ringKey(3), activeInMs: 60_000 }]);
    const value = ring.encrypt('text', ROW);
    expect(() => ring.decrypt(value, `${ROW}2`)).toThrow('unable to authenticate data');
    expect(() => ring.decrypt(Buffer.concat([Buffer.of(2, 0, 3), value.subarray(3)]), ROW)).toThrow(
      'unable to authenticate data',
    );
    expect(() => ring.decrypt(value.subarray(0, 20), ROW)).toThrow('not an encrypted value');
    expect(() => ring.decrypt(Buffer.of(9, 0, 2), ROW)).toThrow('not an encrypted value');
  });

  it('decrypts with a new key at once and encrypts with it once it is active', () => {
    const other = new KeyRing([first, second]);
    const ring = new KeyRing([first, { ...second, activeInMs: 100 }]);
    expect(ring.decrypt(other.encrypt('text', ROW), ROW).toString()).toBe('text');
    now += 99;
    expect(keyNumber(ring.encrypt('text', ROW))).toBe(1);
    now += 1;
    expect(keyNumber(ring.encrypt('text', ROW))).toBe(2);
  });

  it('does not encrypt from the activation of a newer key on that could not be loaded', () => {
    const ring = new KeyRing([first]);
    ring.expect([first]);
    expect(keyNumber(ring.encrypt('text', ROW))).toBe(1);
    ring.expect([first, { ...second, activeInMs: 100 }]);
    now += 99;
    expect(keyNumber(ring.encrypt('text', ROW))).toBe(1);
    now += 1;
    expect(() => ring.encrypt('text', ROW)).toThrow('the newest data key could not be loaded');
    ring.replace([first, second]);
    expect(keyNumber(ring.encrypt('text', ROW))).toBe(2);
  });

  it('reports a value of a key that is not loaded, until its keys are replaced', () => {
    const ring = new KeyRing([first]);
    const value = new KeyRing([second]).encrypt('text', ROW);
    expect(() => ring.decrypt(value, ROW)).toThrow('data key 2 is not loaded');
    expect(ring.incomplete).toBe(true);
    ring.replace([first, second]);
    expect(ring.incomplete).toBe(false);
    expect(ring.decrypt(value, ROW).toString()).toBe('text');
  });

  it('ignores keys that were read before a newer key', () => {
    const ring = new KeyRing([first, second]);
    ring.replace([first]);
    expect(ring.number).toBe(2);
  });
});
