import type { RetiredKey } from './receipt-keys.ts';

const RETIRED_KEY = /^([\w-]{43})@(\d{4}-\d{2}-\d{2})$/;

/**
 * Reads `PUBLIC_KEY@YYYY-MM-DD,…`: each public key in base64url with the last day, in Bogotá, on which it signed.
 * @returns null if an entry is malformed
 */
export function parseRetiredKeys(text: string): RetiredKey[] | null {
  const keys = splitList(text).map((entry) => {
    const [, key = '', day = ''] = RETIRED_KEY.exec(entry) ?? [];
    return { publicKey: Buffer.from(key, 'base64url'), validUntil: new Date(`${day}T23:59:59-05:00`) };
  });
  const isValid = keys.every(
    ({ publicKey, validUntil }) => publicKey.length === 32 && !Number.isNaN(validUntil.getTime()),
  );
  return isValid ? keys : null;
}

/** Reads key ids separated by commas. @returns null if one is malformed */
export function parseKeyIds(text: string): string[] | null {
  const ids = splitList(text);
  return ids.every((id) => /^[0-9A-HJKMNP-TV-Z]{8}$/.test(id)) ? ids : null;
}

function splitList(text: string): string[] {
  return text.split(',').flatMap((entry) => entry.trim() || []);
}
