import { decrypt, encrypt, type SecretKey } from '../kit/crypto.ts';

/** Additional authenticated data: a payload copied to another event fails to decrypt. */
function identity(organizationId: string, id: string): string {
  return `events.payload/${organizationId}/${id}`;
}

export function encryptPayload(dataKey: SecretKey, body: string, organizationId: string, id: string): Buffer {
  return encrypt(dataKey, body, identity(organizationId, id));
}

export function decryptPayload(
  dataKey: SecretKey,
  encrypted: Buffer,
  organizationId: string,
  id: string,
): Buffer {
  return decrypt(dataKey, encrypted, identity(organizationId, id));
}
