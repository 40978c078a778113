import { type SecretKey, seal } from '../kit/crypto.ts';

/** The message as the rail sent it, for whoever must look into it later. Bound to its row. */
export function sealNotice(dataKey: SecretKey, raw: unknown, organizationId: string, id: string): Buffer {
  return seal(dataKey, JSON.stringify(raw), `rail_notices.raw/${organizationId}/${id}`);
}
