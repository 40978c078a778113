import { type KeyActivity, MAX_ROWS, readActivity } from '../../audit/key-activity.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { apiKeyActor } from '../../kit/actor.ts';
import { findKey, type StoredKey } from '../../organizations/credential.store.ts';
import { type KeyNetwork, listKeyNetworks } from '../../organizations/key-network.store.ts';

export interface KeyReport {
  readonly key: StoredKey & { readonly organizationId: string };
  readonly since: Date;
  readonly networks: readonly KeyNetwork[];
  readonly activity: KeyActivity;
  /** The maximum number of rows of each kind in `activity`. */
  readonly maxRows: number;
}

/**
 * What an API key and its access tokens did. @param since null: since the creation of the key
 * @returns null when there is no such key; a revoked one still exists
 */
export function readKeyReport(
  deps: Pick<SystemDeps, 'system'>,
  keyId: string,
  since: Date | null,
): Promise<KeyReport | null> {
  return deps.system.transaction('read', async (tx) => {
    const key = await findKey(tx, keyId);
    if (!key) return null;
    const from = since ?? key.createdAt;
    return {
      key,
      since: from,
      networks: await listKeyNetworks(tx, keyId),
      activity: await readActivity(tx, key.organizationId, apiKeyActor(keyId), from),
      maxRows: MAX_ROWS,
    };
  });
}
