import type { PayinRequest } from './merchant.ts';
import type { Rail } from './rail.ts';

/** A payin that the API acknowledged to a merchant. */
export interface KnownPayin {
  readonly id: string;
  readonly rail: Rail;
  readonly cents: number;
  /** Null for an attempt of a payment link. */
  readonly request: PayinRequest | null;
  readonly linkId: string | null;
  /** Its reference at the rail: the Bre-B key, or Caudal's reference at PSE. */
  readonly railReference: string;
  readonly expiresAtMs: number;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * The reference of a payin at PSE and the end-to-end id of a payout: the id in 26 base32 digits, then the organization's
 * number in six.
 */
export function resourceReference(resourceId: string, organizationNumber: number): string {
  const id = digits(BigInt(`0x${resourceId.replaceAll('-', '')}`), 26);
  return id + digits(BigInt(organizationNumber), 6);
}

function digits(value: bigint, count: number): string {
  let text = '';
  for (let left = value; text.length < count; left >>= 5n) text = CROCKFORD.charAt(Number(left & 31n)) + text;
  return text;
}
