export type KeyType = 'MERCHANT_CODE' | 'PHONE' | 'EMAIL' | 'ALPHANUMERIC' | 'ID';

/** Format a participant may register: stricter than the format payers may type. */
export const REGISTRABLE_KEY = /^@[A-Z0-9]{5,20}$/;

/** Normalizes a key and detects its type; null when no type matches. The first matching type wins. */
export function readKey(text: string): { key: string; keyType: KeyType } | null {
  const phone = text.replace(/^\+57/, '');
  if (/^00\d{8}$/.test(text)) return { key: text, keyType: 'MERCHANT_CODE' };
  if (/^3\d{9}$/.test(phone)) return { key: phone, keyType: 'PHONE' };
  if (isEmail(text)) return { key: toAsciiLowerCase(text), keyType: 'EMAIL' };
  // Tested before upper-casing: "ı" and "ß" become I and SS, which is a different key.
  if (/^@[A-Za-z0-9]{1,20}$/.test(text)) return { key: text.toUpperCase(), keyType: 'ALPHANUMERIC' };
  if (/^[A-Za-z0-9]{1,18}$/.test(text)) return { key: text.toUpperCase(), keyType: 'ID' };
  return null;
}

function isEmail(text: string): boolean {
  return text.length >= 3 && text.length <= 92 && /^[^\s@]{1,30}@[^\s@]{1,61}$/.test(text);
}

/** Lower-cases ASCII only: the Kelvin sign lower-cases to "k", which is a different address. */
function toAsciiLowerCase(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
