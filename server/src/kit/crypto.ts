import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import { freshBytes } from './ids.ts';

/**
 * A KeyObject cannot be printed by accident, and Node prepares it once. With raw bytes Node prepares the key on every
 * call: measured 28 µs per HMAC against 4.4 µs, 35 µs per GCM operation against 7.6 µs.
 */
export type SecretKey = KeyObject;

/** Derives a key from a secret in the configuration. */
export function keyFromSecret(text: string): SecretKey {
  return createSecretKey(sha256(text));
}

export function keyFromBytes(bytes: Buffer): SecretKey {
  return createSecretKey(bytes);
}

const VERSION = Buffer.of(1);
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM. Layout: version, nonce, ciphertext, tag. `identity` (table, column, organization, row) is authenticated
 * as additional data, so a ciphertext moved to another row fails to decrypt.
 */
export function encrypt(key: SecretKey, plaintext: string | Buffer, identity: string): Buffer {
  return encryptAfter(VERSION, key, plaintext, identity);
}

export function decrypt(key: SecretKey, encrypted: Buffer, identity: string): Buffer {
  if (encrypted[0] !== VERSION[0]) throw new Error('not an encrypted value');
  return decryptFrom(VERSION.length, key, encrypted, identity);
}

/**
 * Encrypts and puts a header before the nonce.
 * A random 96-bit nonce is safe for 2^32 messages under one key; a data key is replaced long before.
 */
export function encryptAfter(
  header: Buffer,
  key: SecretKey,
  plaintext: string | Buffer,
  identity: string,
): Buffer {
  const nonce = freshBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(identity));
  const body = typeof plaintext === 'string' ? cipher.update(plaintext, 'utf8') : cipher.update(plaintext);
  cipher.final();
  return Buffer.concat([header, nonce, body, cipher.getAuthTag()]);
}

/** Decrypts a value whose nonce starts after a header of this length. */
export function decryptFrom(
  headerBytes: number,
  key: SecretKey,
  encrypted: Buffer,
  identity: string,
): Buffer {
  const bodyAt = headerBytes + NONCE_BYTES;
  if (encrypted.length < bodyAt + TAG_BYTES) throw new Error('not an encrypted value');
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(headerBytes, bodyAt));
  decipher.setAAD(Buffer.from(identity));
  decipher.setAuthTag(encrypted.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(encrypted.subarray(bodyAt, -TAG_BYTES)), decipher.final()]);
}

/** HMAC-SHA256 of the concatenated parts. */
export function hmac(key: SecretKey, ...parts: readonly (string | Buffer)[]): Buffer {
  const mac = createHmac('sha256', key);
  for (const part of parts) mac.update(part);
  return mac.digest();
}

export function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest();
}

/** SHA-256 in base64, for cache keys. A single call costs a fifth of an HMAC. */
export function fingerprint(text: string): string {
  return hash('sha256', text, 'base64');
}

/** Derives a key for one purpose from a general key. */
export function deriveKey(key: SecretKey, purpose: string): SecretKey {
  return createSecretKey(deriveBytes(key, purpose));
}

export function deriveBytes(key: SecretKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `caudal/${purpose}`, 32));
}

export function equalBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
