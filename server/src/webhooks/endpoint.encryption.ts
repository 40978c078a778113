import type { KeyRing } from '../kit/key-ring.ts';
import type { StaticHeader } from './endpoint.ts';

type Part = 'address' | 'static_header' | 'secret' | 'answer' | 'created_as';

/**
 * Additional authenticated data: a ciphertext copied to another row or part fails to decrypt. A rotated secret keeps its
 * ciphertext when it moves to `previous_secret`, so all secret columns share one identity.
 */
function identity(part: Part, organizationId: string, id: string): string {
  return `webhook_endpoints.${part}/${organizationId}/${id}`;
}

export function encryptPart(
  dataKey: KeyRing,
  part: Part,
  value: string | Buffer,
  organizationId: string,
  id: string,
): Buffer {
  return dataKey.encrypt(value, identity(part, organizationId, id));
}

export function decryptPart(
  dataKey: KeyRing,
  part: Part,
  encrypted: Buffer,
  organizationId: string,
  id: string,
): Buffer {
  return dataKey.decrypt(encrypted, identity(part, organizationId, id));
}

export function decryptStaticHeader(
  dataKey: KeyRing,
  encrypted: Buffer | null,
  organizationId: string,
  id: string,
): StaticHeader | null {
  if (encrypted === null) return null;
  return JSON.parse(
    decryptPart(dataKey, 'static_header', encrypted, organizationId, id).toString('utf8'),
  ) as StaticHeader;
}
