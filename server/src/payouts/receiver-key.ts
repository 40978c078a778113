import type { ReceiverKeyType } from '../rails/contract.ts';

interface ReceiverKey {
  /** Normalized as the directory writes it: different spellings of one key become equal. */
  readonly key: string;
  readonly keyType: ReceiverKeyType;
}

/**
 * Parses a receiver's Bre-B key and its type; null when the text is not a valid key. The order of the tests matters: ten
 * digits that begin with 3 are a mobile number, not an identification. Surrounding spaces are trimmed, because no key has
 * any. Other invalid characters are rejected instead of removed: a corrected key may belong to another person.
 */
export function readReceiverKey(text: string): ReceiverKey | null {
  const typed = text.replace(/^ +| +$/g, '');
  if (/^00\d{8}$/.test(typed)) return { key: typed, keyType: 'MERCHANT_CODE' };
  const phone = /^(?:\+57)?(3\d{9})$/.exec(typed)?.[1];
  if (phone !== undefined) return { key: phone, keyType: 'PHONE' };
  if (EMAIL.test(typed)) return { key: toAsciiLowerCase(typed), keyType: 'EMAIL' };
  // Tested before it is upper-cased: "ı" and "ß" become I and SS, which would be another person's key.
  if (/^@[A-Za-z0-9]{1,20}$/.test(typed)) return { key: typed.toUpperCase(), keyType: 'ALPHANUMERIC' };
  if (/^[A-Za-z0-9]{1,18}$/.test(typed)) return { key: typed.toUpperCase(), keyType: 'ID' };
  return null;
}

/** No whitespace and nothing invisible: control and format characters, lone surrogates, unassigned code points. */
const EMAIL = /^[^\s@\p{C}]{1,30}@[^\s@\p{C}]{1,61}$/u;

/** ASCII only: the Kelvin sign lower-cases to "k", which would be another person's address. */
function toAsciiLowerCase(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
