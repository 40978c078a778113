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
  return wrap(organizationId, freshBytes(32), presentKey(masterKeys));
}

export function unwrap(
  organizationId: string,
  wrapped: WrappedKey,
  masterKeys: readonly SecretKey[],
): OrganizationSecrets {
  const dataKey = keyFromBytes(dataKeyBytes(organizationId, wrapped, masterKeys));
  return { dataKey, hashKey: deriveKey(dataKey, 'hash') };
}

/** The same data key under the present master key; null when it is so already. */
export function rewrap(
  organizationId: string,
  wrapped: WrappedKey,
  masterKeys: readonly SecretKey[],
): WrappedKey | null {
  const present = presentKey(masterKeys);
  if (wrapped.masterKeyId === masterKeyId(present)) return null;
  return wrap(organizationId, dataKeyBytes(organizationId, wrapped, masterKeys), present);
}

function wrap(organizationId: string, dataKey: Buffer, masterKey: SecretKey): WrappedKey {
  return {
    wrappedKey: seal(wrappingKey(masterKey), dataKey, identity(organizationId)),
    masterKeyId: masterKeyId(masterKey),
  };
}

function dataKeyBytes(organizationId: string, wrapped: WrappedKey, masterKeys: readonly SecretKey[]): Buffer {
  const key = masterKeys.find((candidate) => masterKeyId(candidate) === wrapped.masterKeyId);
  if (!key) {
    throw new Error(
      `no configured master key (CAUDAL_MASTER_KEY, CAUDAL_MASTER_KEY_PREVIOUS) made the data key of ${organizationId}`,
    );
  }
  return open(wrappingKey(key), wrapped.wrappedKey, identity(organizationId));
}

function presentKey(masterKeys: readonly SecretKey[]): SecretKey {
  const [present] = masterKeys;
  if (!present) throw new Error('there is no master key');
  return present;
}

function wrappingKey(masterKey: SecretKey): SecretKey {
  return deriveKey(masterKey, 'wrap');
}

function identity(organizationId: string): string {
  return `organization_keys/${organizationId}`;
}
