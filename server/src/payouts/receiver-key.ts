import type { ReceiverKeyType } from '../rails/contract.ts';

interface ReceiverKey {
  /** As the directory writes it: two texts that lead to one key become one text. */
  readonly key: string;
  readonly keyType: ReceiverKeyType;
}

/**
 * The key that a text means, with its type; null when it can be none. The order decides: ten digits that begin with 3 are
 * a mobile, not an identification. Spaces around it are dropped, for no key has any; whatever else does not belong is
 * refused instead of mended, because a mended key may be somebody else's.
 */
export function readReceiverKey(text: string): ReceiverKey | null {
  const typed = text.replace(/^ +| +$/g, '');
  if (/^00\d{8}$/.test(typed)) return { key: typed, keyType: 'MERCHANT_CODE' };
  const phone = /^(?:\+57)?(3\d{9})$/.exec(typed)?.[1];
  if (phone !== undefined) return { key: phone, keyType: 'PHONE' };
  if (EMAIL.test(typed)) return { key: inLowerCase(typed), keyType: 'EMAIL' };
  // Tested before it is put in capitals: those of "ı" and "ß" are I and SS, which would be another's key.
  if (/^@[A-Za-z0-9]{1,20}$/.test(typed)) return { key: typed.toUpperCase(), keyType: 'ALPHANUMERIC' };
  if (/^[A-Za-z0-9]{1,18}$/.test(typed)) return { key: typed.toUpperCase(), keyType: 'ID' };
  return null;
}

/** No blank, and nothing invisible: control and format characters, halves of characters, what Unicode has not given out. */
const EMAIL = /^[^\s@\p{C}]{1,30}@[^\s@\p{C}]{1,61}$/u;

/** Of ASCII alone: the Kelvin sign in small is a "k", and so is another's address. */
function inLowerCase(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
