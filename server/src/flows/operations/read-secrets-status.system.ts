import type { SystemDeps } from '../../deps.ts';
import { type KeyOfOtherPepper, listKeysOfOtherPeppers } from '../../organizations/credential.store.ts';
import { pepperId } from '../../organizations/credential.ts';
import { listKeys } from '../../organizations/organization-keys.store.ts';
import { listRotations, type RotationStatus } from '../../organizations/reencryption.store.ts';

export interface MasterKeyUse {
  readonly masterKeyId: string;
  readonly current: boolean;
  /** False: keys that it wraps cannot be decrypted by this configuration. */
  readonly configured: boolean;
  /** How many data keys and hash keys it wraps. */
  readonly keys: number;
}

export interface ApiKeyAtRisk extends KeyOfOtherPepper {
  /**
   * `previous`: stops working when CAUDAL_KEY_PEPPER_PREVIOUS is removed. `unknown`: may stop working; it was not used since
   * peppers are recorded. `none`: no configured pepper made its MAC.
   */
  readonly pepper: 'previous' | 'unknown' | 'none';
}

export interface SecretsStatus {
  readonly masterKeys: readonly MasterKeyUse[];
  readonly rotations: readonly RotationStatus[];
  /** Active API keys that are not known to use the current pepper. */
  readonly apiKeys: readonly ApiKeyAtRisk[];
}

/** What an operator must know before removing an old key from the settings. */
export async function readSecretsStatus({ system, masterKeys, peppers }: SystemDeps): Promise<SecretsStatus> {
  const byMasterKey = Map.groupBy(await listKeys(system), ({ masterKeyId }) => masterKeyId);
  const ids = new Set([...masterKeys.map(({ id }) => id), ...byMasterKey.keys()]);
  return {
    masterKeys: [...ids].map((masterKeyId) => ({
      masterKeyId,
      current: masterKeys[0]?.id === masterKeyId,
      configured: masterKeys.some(({ id }) => id === masterKeyId),
      keys: byMasterKey.get(masterKeyId)?.length ?? 0,
    })),
    rotations: await listRotations(system),
    apiKeys: await listApiKeysAtRisk({ system, peppers }),
  };
}

async function listApiKeysAtRisk({
  system,
  peppers,
}: Pick<SystemDeps, 'system' | 'peppers'>): Promise<ApiKeyAtRisk[]> {
  const [current = '', ...previous] = peppers.map(pepperId);
  const keys = await listKeysOfOtherPeppers(system, current);
  return keys.map((key) => {
    if (key.pepperId === null) return { ...key, pepper: 'unknown' };
    return { ...key, pepper: previous.includes(key.pepperId) ? 'previous' : 'none' };
  });
}
