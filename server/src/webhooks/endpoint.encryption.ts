import { open, type SecretKey, seal } from '../kit/crypto.ts';
import type { StaticHeader } from './endpoint.ts';

type Part = 'address' | 'static_header' | 'secret' | 'answer' | 'created_as';

/** Bound to its row and part: a ciphertext copied elsewhere does not open. A secret keeps its seal when it becomes a previous one. */
function identity(part: Part, organizationId: string, id: string): string {
  return `webhook_endpoints.${part}/${organizationId}/${id}`;
}

export function sealPart(
  dataKey: SecretKey,
  part: Part,
  value: string | Buffer,
  organizationId: string,
  id: string,
): Buffer {
  return seal(dataKey, value, identity(part, organizationId, id));
}

export function openPart(
  dataKey: SecretKey,
  part: Part,
  sealed: Buffer,
  organizationId: string,
  id: string,
): Buffer {
  return open(dataKey, sealed, identity(part, organizationId, id));
}

export function openStaticHeader(
  dataKey: SecretKey,
  sealed: Buffer | null,
  organizationId: string,
  id: string,
): StaticHeader | null {
  if (sealed === null) return null;
  return JSON.parse(
    openPart(dataKey, 'static_header', sealed, organizationId, id).toString('utf8'),
  ) as StaticHeader;
}
