import type { SystemDeps } from '../../deps.ts';
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

export interface SecretsStatus {
  readonly masterKeys: readonly MasterKeyUse[];
  readonly rotations: readonly RotationStatus[];
}

/** What an operator must know before removing an old key from the settings. */
export async function readSecretsStatus({ system, masterKeys }: SystemDeps): Promise<SecretsStatus> {
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
  };
}
