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
  /** Older rows of a kind were left out. */
  readonly truncated: boolean;
  /** The maximum number of rows of each kind in `activity`. */
  readonly maxRows: number;
}

/** After every row. */
const END_OF_TIME = new Date('9999-01-01T00:00:00Z');

/**
 * What an API key and its access tokens did. Reads all rows of the organization in the time range, which takes longer than
 * other statements may. @param span its default is from the creation of the key on
 * @returns null when there is no such key; a revoked one still exists
 */
export function readKeyReport(
  deps: Pick<SystemDeps, 'snapshot'>,
  keyId: string,
  span: { readonly since: Date | null; readonly until: Date | null },
  maxRows = MAX_ROWS,
): Promise<KeyReport | null> {
  return deps.snapshot.read(async (tx) => {
    const key = await findKey(tx, keyId);
    if (!key) return null;
    const { organizationId } = key;
    const since = span.since ?? key.createdAt;
    const until = span.until ?? END_OF_TIME;
    return {
      key,
      since,
      networks: await listKeyNetworks(tx, keyId),
      ...(await readActivity(tx, { organizationId, createdBy: apiKeyActor(keyId), since, until, maxRows })),
      maxRows,
    };
  });
}
