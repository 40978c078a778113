import type { PayinRequest } from './merchant.ts';
import type { Rail } from './step.ts';

/** A payin of which a merchant was told. */
export interface KnownPayin {
  readonly id: string;
  readonly rail: Rail;
  readonly cents: number;
  readonly request: PayinRequest;
  /** What its rail knows it by: the key, or our reference at PSE. */
  readonly railReference: string;
  readonly expiresAtMs: number;
}

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/**
 * Our reference at PSE, and the end-to-end id of a payout: the id in 26 digits to the base of 32, then the organization's
 * number in six.
 */
export function resourceReference(resourceId: string, organizationNumber: number): string {
  const id = digits(BigInt(`0x${resourceId.replaceAll('-', '')}`), 26);
  return id + digits(BigInt(organizationNumber), 6);
}

function digits(value: bigint, count: number): string {
  let text = '';
  for (let rest = value; text.length < count; rest >>= 5n) text = CROCKFORD.charAt(Number(rest & 31n)) + text;
  return text;
}
