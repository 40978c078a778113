import { open, type SecretKey, seal } from '../kit/crypto.ts';

/** Bound to its row: a message copied to another does not open. */
function identity(organizationId: string, id: string): string {
  return `rail_notices.raw/${organizationId}/${id}`;
}

/** The message as the rail sent it, for whoever must look into it later. */
export function sealNotice(dataKey: SecretKey, raw: unknown, organizationId: string, id: string): Buffer {
  return seal(dataKey, JSON.stringify(raw), identity(organizationId, id));
}

export function openNotice(dataKey: SecretKey, sealed: Buffer, organizationId: string, id: string): string {
  return open(dataKey, sealed, identity(organizationId, id)).toString('utf8');
}
