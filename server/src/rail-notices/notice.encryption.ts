import { decrypt, encrypt, type SecretKey } from '../kit/crypto.ts';

/** The ciphertext is bound to its row: copied to another row, it fails to decrypt. */
function identity(organizationId: string, id: string): string {
  return `rail_notices.raw/${organizationId}/${id}`;
}

/** Keeps the message as the rail sent it, for later investigation. */
export function encryptNotice(dataKey: SecretKey, raw: unknown, organizationId: string, id: string): Buffer {
  return encrypt(dataKey, JSON.stringify(raw), identity(organizationId, id));
}

export function decryptNotice(
  dataKey: SecretKey,
  encrypted: Buffer,
  organizationId: string,
  id: string,
): string {
  return decrypt(dataKey, encrypted, identity(organizationId, id)).toString('utf8');
}
