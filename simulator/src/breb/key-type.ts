export type KeyType = 'MERCHANT_CODE' | 'PHONE' | 'EMAIL' | 'ALPHANUMERIC' | 'ID';

/** What a participant may register: the network's own format, stricter than what payers may type. */
export const REGISTRABLE_KEY = /^@[A-Z0-9]{5,20}$/;

/** The key as the directory stores it, with its type; null when it can be none. The order decides. */
export function readKey(text: string): { key: string; keyType: KeyType } | null {
  const phone = text.replace(/^\+57/, '');
  if (/^00\d{8}$/.test(text)) return { key: text, keyType: 'MERCHANT_CODE' };
  if (/^3\d{9}$/.test(phone)) return { key: phone, keyType: 'PHONE' };
  if (isEmail(text)) return { key: inLowerCase(text), keyType: 'EMAIL' };
  // Tested before it is put in capitals: those of "ı" and "ß" are I and SS, another key.
  if (/^@[A-Za-z0-9]{1,20}$/.test(text)) return { key: text.toUpperCase(), keyType: 'ALPHANUMERIC' };
  if (/^[A-Za-z0-9]{1,18}$/.test(text)) return { key: text.toUpperCase(), keyType: 'ID' };
  return null;
}

function isEmail(text: string): boolean {
  return text.length >= 3 && text.length <= 92 && /^[^\s@]{1,30}@[^\s@]{1,61}$/.test(text);
}

/** Of ASCII alone: the Kelvin sign in small is a "k", and so is another's address. */
function inLowerCase(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
