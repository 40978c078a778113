const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const MOST_ORGANIZATIONS = 256;
const AT_ONCE = 32;

function base32(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = DIGITS.charAt(Number(rest & 31n)) + text;
  return text;
}

/**
 * What a payin or payout is called at its rail: its id and the number of its organization, which merchants are not told.
 * A simulated rail serves few organizations, so it is asked for each.
 */
export async function findByRailReference<T>(
  id: string,
  find: (reference: string) => Promise<T | null>,
): Promise<T | null> {
  const prefix = base32(BigInt(`0x${id.replaceAll('-', '')}`), 26);
  for (let from = 0; from < MOST_ORGANIZATIONS; from += AT_ONCE) {
    const numbers = Array.from({ length: AT_ONCE }, (_, index) => BigInt(from + index));
    const found = await Promise.all(numbers.map((number) => find(prefix + base32(number, 6))));
    const hit = found.find((each) => each !== null);
    if (hit !== undefined) return hit;
  }
  return null;
}
