import { open, type SecretKey, seal } from '../kit/crypto.ts';

/** Bound to its row: a payload copied to another event does not open. */
function identity(organizationId: string, id: string): string {
  return `events.payload/${organizationId}/${id}`;
}

export function sealPayload(dataKey: SecretKey, body: string, organizationId: string, id: string): Buffer {
  return seal(dataKey, body, identity(organizationId, id));
}

export function openPayload(dataKey: SecretKey, sealed: Buffer, organizationId: string, id: string): Buffer {
  return open(dataKey, sealed, identity(organizationId, id));
}
