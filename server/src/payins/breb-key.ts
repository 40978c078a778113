import type { BusinessClock } from '../kit/clock.ts';
import { base32Digits, cellCode, randomBase32 } from '../kit/ids.ts';
import type { PayinMethod, PayinSource } from './payin.ts';

/** Characters after the `@`: every node accepts 6 to 19 in a generated key. */
const LENGTH = 19;
const WINDOW_MS = 600_000;
const EPOCH_MS = Date.UTC(2025, 0, 1);

/**
 * Generates a single-use Bre-B key: `@`, our prefix, the cell, the ten-minute window, random characters (50 bits with a
 * prefix of three). The leading window keeps new keys adjacent in the unique index; fully random keys would each touch a
 * cold page once the table has grown.
 */
export function mintBrebKey(prefix: string, cell: number, businessMs: number): string {
  const window = Math.max(0, Math.floor((businessMs - EPOCH_MS) / WINDOW_MS)) % 32 ** 4;
  const head = prefix + cellCode(cell) + base32Digits(window, 4);
  return `@${head}${randomBase32(LENGTH - head.length)}`;
}

/** The rail-specific data of a new payin, with a new key for Bre-B. */
export function newSource(
  { brebKeyPrefix, cell, clock }: { brebKeyPrefix: string; cell: number; clock: BusinessClock },
  method: PayinMethod,
): PayinSource {
  if (method.rail === 'PSE') return { ...method, page: null };
  return { ...method, key: mintBrebKey(brebKeyPrefix, cell, clock.now()) };
}
