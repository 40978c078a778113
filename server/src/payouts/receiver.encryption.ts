import { hmac, type SecretKey } from '../kit/crypto.ts';
import type { KeyRing } from '../kit/key-ring.ts';
import type { Resolution } from '../rails/contract.ts';

/** Binds the ciphertext to its row: copied to another payout, it fails to decrypt. */
function identity(organizationId: string, payoutId: string): string {
  return `payouts.receiver/${organizationId}/${payoutId}`;
}

export function encryptReceiver(
  dataKey: KeyRing,
  brebKey: string,
  organizationId: string,
  payoutId: string,
): Buffer {
  return dataKey.encrypt(brebKey, identity(organizationId, payoutId));
}

export function decryptReceiver(
  dataKey: KeyRing,
  encryptedReceiver: Buffer,
  organizationId: string,
  payoutId: string,
): string {
  return dataKey.decrypt(encryptedReceiver, identity(organizationId, payoutId)).toString('utf8');
}

/** Blind index of a Bre-B key. It is keyed, so that a stolen dump cannot be searched by hashing all phone numbers. */
export function receiverIndex(hashKey: SecretKey, brebKey: string): Buffer {
  return hmac(hashKey, `receiver\n${brebKey}`).subarray(0, 16);
}

/** Blind index of a key's holder. It identifies the person, not the account: people move their key to another bank. */
export function holderIndex(
  hashKey: SecretKey,
  { documentType, documentNumber }: Pick<Resolution, 'documentType' | 'documentNumber'>,
): Buffer {
  return hmac(hashKey, `holder\n${documentType}\n${documentNumber}`).subarray(0, 16);
}
