import { deriveBytes, deriveKey, keyFromBytes, open, type SecretKey, seal, sha256 } from '../kit/crypto.ts';
import { freshBytes } from '../kit/ids.ts';
import type { OrganizationSecrets } from './organization.ts';

export interface WrappedKey {
  readonly wrappedKey: Buffer;
  readonly masterKeyId: string;
}

/** Names a master key without telling anything about it. */
function masterKeyId(key: SecretKey): string {
  return sha256(deriveBytes(key, 'id')).toString('hex').slice(0, 16);
}

/** A new data key for an organization, wrapped by the first (present) master key. */
export function makeDataKey(organizationId: string, masterKeys: readonly SecretKey[]): WrappedKey {
  const [present] = masterKeys;
  if (!present) throw new Error('there is no master key');
  return {
    wrappedKey: seal(wrappingKey(present), freshBytes(32), identity(organizationId)),
    masterKeyId: masterKeyId(present),
  };
}

export function unwrap(
  organizationId: string,
  wrapped: WrappedKey,
  masterKeys: readonly SecretKey[],
): OrganizationSecrets {
  const key = masterKeys.find((candidate) => masterKeyId(candidate) === wrapped.masterKeyId);
  if (!key)
    throw new Error(
      `no configured master key (CAUDAL_MASTER_KEY, CAUDAL_MASTER_KEY_PREVIOUS) made the data key of ${organizationId}`,
    );
  const dataKey = keyFromBytes(open(wrappingKey(key), wrapped.wrappedKey, identity(organizationId)));
  return { dataKey, hashKey: deriveKey(dataKey, 'hash') };
}

function wrappingKey(masterKey: SecretKey): SecretKey {
  return deriveKey(masterKey, 'wrap');
}

function identity(organizationId: string): string {
  return `organization_keys/${organizationId}`;
}
