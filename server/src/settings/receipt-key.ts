import { deriveBytes, keyFromSecret } from '../kit/crypto.ts';
import { type SigningKey, signingKeyFromSeed } from '../kit/ed25519.ts';

/** The key that signs receipts, derived from CAUDAL_RECEIPT_KEY. */
export function receiptKey(secret: string): SigningKey {
  return signingKeyFromSeed(deriveBytes(keyFromSecret(secret), 'receipt signature'));
}
