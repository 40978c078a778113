import type { KeyRing } from '../kit/key-ring.ts';

/** The ciphertext is bound to its row: copied to another row, it fails to decrypt. */
function identity(organizationId: string, id: string): string {
  return `rail_notices.raw/${organizationId}/${id}`;
}

/** Keeps the message as the rail sent it, for later investigation. */
export function encryptNotice(dataKey: KeyRing, raw: unknown, organizationId: string, id: string): Buffer {
  return dataKey.encrypt(JSON.stringify(raw), identity(organizationId, id));
}

export function decryptNotice(
  dataKey: KeyRing,
  encrypted: Buffer,
  organizationId: string,
  id: string,
): string {
  return dataKey.decrypt(encrypted, identity(organizationId, id)).toString('utf8');
}
