import { hmac, type SecretKey } from '../kit/crypto.ts';
import type { Customer } from './customer.ts';

/** Bytes of each of the two hashes in a customer index. Hashes can collide: a match is decrypted and compared. */
const HASH_BYTES = 8;

/** Letters and digits only, in capitals: `1.020.304-050` and `1020304050` are one document. */
export function normalizeDocumentNumber(idNumber: string): string {
  return idNumber.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
}

export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

export function documentHash(
  hashKey: SecretKey,
  { idType, idNumber }: Pick<Customer, 'idType' | 'idNumber'>,
): Buffer {
  const text = `customer document\n${idType}\n${normalizeDocumentNumber(idNumber)}`;
  return hmac(hashKey, text).subarray(0, HASH_BYTES);
}

export function emailHash(hashKey: SecretKey, email: string): Buffer {
  return hmac(hashKey, `customer email\n${normalizeEmail(email)}`).subarray(0, HASH_BYTES);
}

/** Blind index of a customer: the hash of the document, then of the e-mail address. Keyed, so that a dump cannot be searched. */
export function customerIndex(hashKey: SecretKey, customer: Customer | null): Buffer | null {
  return customer && Buffer.concat([documentHash(hashKey, customer), emailHash(hashKey, customer.email)]);
}
