import { hmac, open, type SecretKey, seal } from '../kit/crypto.ts';
import type { Resolution } from '../rails/contract.ts';

/** Bound to its row: a ciphertext copied to another payout does not open. */
function identity(organizationId: string, payoutId: string): string {
  return `payouts.receiver/${organizationId}/${payoutId}`;
}

export function sealReceiver(
  dataKey: SecretKey,
  key: string,
  organizationId: string,
  payoutId: string,
): Buffer {
  return seal(dataKey, key, identity(organizationId, payoutId));
}

export function openReceiver(
  dataKey: SecretKey,
  sealed: Buffer,
  organizationId: string,
  payoutId: string,
): string {
  return open(dataKey, sealed, identity(organizationId, payoutId)).toString('utf8');
}

/** Finds the same key again without keeping it; whoever has a dump cannot search it by hashing all phone numbers. */
export function receiverIndex(hashKey: SecretKey, key: string): Buffer {
  return hmac(hashKey, `receiver\n${key}`).subarray(0, 16);
}

/** Whose key it is: the person, not the account, for people take their key to another bank. */
export function holderMark(
  hashKey: SecretKey,
  { documentType, documentNumber }: Pick<Resolution, 'documentType' | 'documentNumber'>,
): Buffer {
  return hmac(hashKey, `holder\n${documentType}\n${documentNumber}`).subarray(0, 16);
}
