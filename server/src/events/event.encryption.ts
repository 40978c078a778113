import type { KeyRing } from '../kit/key-ring.ts';

/** Additional authenticated data: a payload copied to another event fails to decrypt. */
function identity(organizationId: string, id: string): string {
  return `events.payload/${organizationId}/${id}`;
}

export function encryptPayload(dataKey: KeyRing, body: string, organizationId: string, id: string): Buffer {
  return dataKey.encrypt(body, identity(organizationId, id));
}

export function decryptPayload(
  dataKey: KeyRing,
  encrypted: Buffer,
  organizationId: string,
  id: string,
): Buffer {
  return dataKey.decrypt(encrypted, identity(organizationId, id));
}
