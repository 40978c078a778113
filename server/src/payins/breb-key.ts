import { base32Digits, cellCode, randomBase32 } from '../kit/ids.ts';

/** Keys of our own making stay within what every node accepts (rails.md: generate 6 to 19 characters after the @). */
const LENGTH = 19;
const WINDOW_MS = 600_000;
const EPOCH_MS = Date.UTC(2025, 0, 1);

/**
 * Mints a single-use key: `@`, our prefix, the cell, the ten-minute window, randomness (50 bits with a prefix of
 * three). The window in front keeps new keys together in the index that makes each of them unique for ever; wholly
 * random ones would touch a cold page each once the table has grown.
 */
export function mintBrebKey(prefix: string, cell: number, businessMs: number): string {
  const window = Math.max(0, Math.floor((businessMs - EPOCH_MS) / WINDOW_MS)) % 32 ** 4;
  const head = prefix + cellCode(cell) + base32Digits(window, 4);
  return `@${head}${randomBase32(LENGTH - head.length)}`;
}
