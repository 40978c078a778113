import { hmac, type SecretKey } from '../kit/crypto.ts';

/**
 * Four digits that the page of a link shows and the merchant's API returns. A payer who calls the shop can compare them: a
 * copy of the page at another address cannot know which code the shop reads out.
 */
export function verificationCode(hashKey: SecretKey, paymentLinkId: string): string {
  const code = hmac(hashKey, 'payment link verification code/', paymentLinkId).readUInt32BE(0) % 10_000;
  return String(code).padStart(4, '0');
}
