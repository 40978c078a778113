import { randomBase32 } from '../kit/ids.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const RANDOM_CHARACTERS = 11;
const CODE = /^[0-9A-HJKMNP-TV-Z]{12}$/;

/**
 * A new receipt code: 55 random bits and a check character. With ten million receipts, one guess in 3.6 billion finds one;
 * at 120 guesses a minute that takes decades.
 */
export function newReceiptCode(): string {
  const random = randomBase32(RANDOM_CHARACTERS);
  return random + checkCharacter(random);
}

/** Accepts a code as people type it. @returns null for text that is not a code or has a typing error */
export function parseReceiptCode(typed: string): string | null {
  const code = typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');
  if (!CODE.test(code)) return null;
  return checkCharacter(code.slice(0, RANDOM_CHARACTERS)) === code.slice(RANDOM_CHARACTERS) ? code : null;
}

/** `7K3M-9QXA-22TF` */
export function formatReceiptCode(code: string): string {
  return code.replace(/(.{4})(?=.)/g, '$1-');
}

/** Luhn algorithm with base 32: detects every wrong character and nearly every swap of two neighbors. */
function checkCharacter(text: string): string {
  let sum = 0;
  for (let fromEnd = 0; fromEnd < text.length; fromEnd += 1) {
    const digit = ALPHABET.indexOf(text.charAt(text.length - 1 - fromEnd));
    const value = digit * (fromEnd % 2 === 0 ? 2 : 1);
    sum += Math.floor(value / 32) + (value % 32);
  }
  return ALPHABET.charAt((32 - (sum % 32)) % 32);
}
