import { randomInt } from 'node:crypto';

/** Characters of an alphanumeric key. */
export const KEY_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

export function randomText(letters: string, length: number): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('');
}
