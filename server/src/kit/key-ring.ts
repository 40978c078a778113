import { monotonicMs } from './clock.ts';
import { decryptFrom, encryptAfter, type SecretKey } from './crypto.ts';

/** A data key of an organization. */
export interface RingKey {
  readonly number: number;
  readonly key: SecretKey;
  /** Until a new key is active it only decrypts, so that every process can load it before another one uses it. */
  readonly activeInMs: number;
}

interface EncryptingKey {
  readonly number: number;
  readonly key: SecretKey;
  readonly header: Buffer;
  readonly activeAtMs: number;
}

/** Key number 1 has the layout of versions without key numbers: version, nonce, ciphertext, tag. */
const UNNUMBERED = 1;
/** Version, key number (two bytes), nonce, ciphertext, tag. */
const NUMBERED = 2;
const NUMBERED_HEADER_BYTES = 3;

/**
 * The data keys of one organization. The newest active key encrypts; an encrypted value names the key that decrypts it.
 * The object stays the same when keys are added: long-lived holders, such as event streams, see them too.
 */
export class KeyRing {
  #keys: ReadonlyMap<number, SecretKey> = new Map();
  #current: EncryptingKey;
  #next: EncryptingKey | null = null;
  #uses = 0;
  /** Set when a value named a key that is not loaded. */
  #incomplete = false;
  /** When a newer key, which could not be loaded, becomes active. */
  #expectedAtMs = Number.POSITIVE_INFINITY;

  constructor(keys: readonly RingKey[]) {
    this.#current = this.#select(keys);
  }

  /** Replaces the keys after the database was read again. Ignores keys that were read before the loaded ones. */
  replace(keys: readonly RingKey[]): void {
    if (Math.max(...keys.map(({ number }) => number)) < Math.max(...this.#keys.keys())) return;
    const previous = this.#current.number;
    const uses = this.#uses;
    this.#current = this.#select(keys);
    this.#uses = this.#current.number === previous ? uses : 0;
    this.#incomplete = false;
    this.#expectedAtMs = Number.POSITIVE_INFINITY;
  }

  /**
   * Notes that the keys could not be loaded. From the activation of a newer key on, `encrypt` throws: the older key is deleted
   * when no stored value carries it, and what it encrypted afterwards would be lost.
   */
  expect(keys: readonly Pick<RingKey, 'number' | 'activeInMs'>[]): void {
    const newer = keys.filter(({ number }) => !this.#keys.has(number) && number > this.#current.number);
    this.#expectedAtMs = Math.min(...newer.map(({ activeInMs }) => monotonicMs() + activeInMs));
  }

  get(number: number): SecretKey | undefined {
    return this.#keys.get(number);
  }

  /** The number of the key that encrypts now. */
  get number(): number {
    if (this.#next !== null && monotonicMs() >= this.#next.activeAtMs) this.#activate(this.#next);
    return this.#current.number;
  }

  get incomplete(): boolean {
    return this.#incomplete;
  }

  encrypt(plaintext: string | Buffer, identity: string): Buffer {
    if (this.#next !== null && monotonicMs() >= this.#next.activeAtMs) this.#activate(this.#next);
    if (monotonicMs() >= this.#expectedAtMs) throw new Error('the newest data key could not be loaded');
    this.#uses += 1;
    return encryptAfter(this.#current.header, this.#current.key, plaintext, identity);
  }

  /** @throws when the value names an unknown key, or was not encrypted for this identity */
  decrypt(encrypted: Buffer, identity: string): Buffer {
    const number = keyNumber(encrypted);
    const key = this.#keys.get(number);
    if (key === undefined) {
      this.#incomplete = true;
      throw new Error(`data key ${number} is not loaded`);
    }
    return decryptFrom(number === 1 ? 1 : NUMBERED_HEADER_BYTES, key, encrypted, identity);
  }

  /** How many values the current key encrypted since the last call. */
  takeUses(): { readonly number: number; readonly count: number } {
    const count = this.#uses;
    this.#uses = 0;
    return { number: this.#current.number, count };
  }

  #select(keys: readonly RingKey[]): EncryptingKey {
    const sorted = keys.toSorted((a, b) => a.number - b.number).map(toEncryptingKey);
    const now = monotonicMs();
    const active = sorted.findLast(({ activeAtMs }) => activeAtMs <= now) ?? sorted[0];
    if (!active) throw new Error('an organization has no data key');
    this.#keys = new Map(sorted.map(({ number, key }) => [number, key]));
    this.#next = sorted.find(({ number }) => number > active.number) ?? null;
    return active;
  }

  #activate(next: EncryptingKey): void {
    this.#current = next;
    this.#next = null;
    this.#uses = 0;
  }
}

/** The number of the data key that encrypted a value. */
export function keyNumber(encrypted: Buffer): number {
  if (encrypted[0] === UNNUMBERED) return 1;
  if (encrypted[0] === NUMBERED && encrypted.length > NUMBERED_HEADER_BYTES) return encrypted.readUInt16BE(1);
  throw new Error('not an encrypted value');
}

function toEncryptingKey({ number, key, activeInMs }: RingKey): EncryptingKey {
  const header = Buffer.of(NUMBERED, number >> 8, number & 0xff);
  return {
    number,
    key,
    header: number === 1 ? Buffer.of(UNNUMBERED) : header,
    activeAtMs: activeInMs <= 0 ? 0 : monotonicMs() + activeInMs,
  };
}
