import {
  decrypt,
  deriveBytes,
  deriveKey,
  encrypt,
  keyFromBytes,
  type SecretKey,
  sha256,
} from '../kit/crypto.ts';
import { freshBytes } from '../kit/ids.ts';
import type { OrganizationSecrets } from './organization.ts';

export interface WrappedKey {
  readonly wrappedKey: Buffer;
  readonly masterKeyId: string;
}

/** Identifies a master key without revealing it. */
function masterKeyId(key: SecretKey): string {
  return sha256(deriveBytes(key, 'id')).toString('hex').slice(0, 16);
}

/** A new data key for an organization, encrypted with the first (current) master key. */
export function makeDataKey(organizationId: string, masterKeys: readonly SecretKey[]): WrappedKey {
  return wrap(organizationId, freshBytes(32), currentMasterKey(masterKeys));
}

export function unwrap(
  organizationId: string,
  wrapped: WrappedKey,
  masterKeys: readonly SecretKey[],
): OrganizationSecrets {
  const dataKey = keyFromBytes(dataKeyBytes(organizationId, wrapped, masterKeys));
  return { dataKey, hashKey: deriveKey(dataKey, 'hash') };
}

/** Encrypts the data key with the current master key; null when it already is. */
export function rewrap(
  organizationId: string,
  wrapped: WrappedKey,
  masterKeys: readonly SecretKey[],
): WrappedKey | null {
  const current = currentMasterKey(masterKeys);
  if (wrapped.masterKeyId === masterKeyId(current)) return null;
  return wrap(organizationId, dataKeyBytes(organizationId, wrapped, masterKeys), current);
}

function wrap(organizationId: string, dataKey: Buffer, masterKey: SecretKey): WrappedKey {
  return {
    wrappedKey: encrypt(wrappingKey(masterKey), dataKey, identity(organizationId)),
    masterKeyId: masterKeyId(masterKey),
  };
}

function dataKeyBytes(organizationId: string, wrapped: WrappedKey, masterKeys: readonly SecretKey[]): Buffer {
  const masterKey = masterKeys.find((candidate) => masterKeyId(candidate) === wrapped.masterKeyId);
  if (!masterKey) {
    throw new Error(
      `no configured master key (CAUDAL_MASTER_KEY, CAUDAL_MASTER_KEY_PREVIOUS) decrypts the data key of organization ${organizationId}`,
    );
  }
  return decrypt(wrappingKey(masterKey), wrapped.wrappedKey, identity(organizationId));
}

function currentMasterKey(masterKeys: readonly SecretKey[]): SecretKey {
  const [current] = masterKeys;
  if (!current) throw new Error('no master key configured');
  return current;
}

function wrappingKey(masterKey: SecretKey): SecretKey {
  return deriveKey(masterKey, 'wrap');
}

function identity(organizationId: string): string {
  return `organization_keys/${organizationId}`;
}
