const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const MAX_ORGANIZATIONS = 256;
const CONCURRENCY = 32;

function base32(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = DIGITS.charAt(Number(rest & 31n)) + text;
  return text;
}

/**
 * Finds a payin or payout by its reference at the rail: its id plus the number of its organization, which the API does
 * not expose. A simulator serves few organizations, so every number is tried.
 */
export async function findByRailReference<T>(
  id: string,
  find: (reference: string) => Promise<T | null>,
): Promise<T | null> {
  const prefix = base32(BigInt(`0x${id.replaceAll('-', '')}`), 26);
  for (let from = 0; from < MAX_ORGANIZATIONS; from += CONCURRENCY) {
    const numbers = Array.from({ length: CONCURRENCY }, (_, index) => BigInt(from + index));
    const found = await Promise.all(numbers.map((number) => find(prefix + base32(number, 6))));
    const hit = found.find((each) => each !== null);
    if (hit !== undefined) return hit;
  }
  return null;
}
