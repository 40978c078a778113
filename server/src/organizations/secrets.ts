import { deriveBytes, deriveKey, keyFromBytes, type SecretKey } from '../kit/crypto.ts';
import { freshBytes } from '../kit/ids.ts';
import { currentMasterKey, type MasterKey, unwrapKey, type WrappedKey, wrapKey } from '../kit/master-key.ts';

/** The keys of a new organization, wrapped by the current master key. */
export interface NewOrganizationKeys {
  readonly dataKey: WrappedKey;
  readonly hashKey: WrappedKey;
}

export async function makeOrganizationKeys(
  organizationId: string,
  masterKeys: readonly MasterKey[],
): Promise<NewOrganizationKeys> {
  return {
    dataKey: await makeDataKey(organizationId, 1, masterKeys),
    hashKey: await wrapKey(masterKeys, freshBytes(32), hashKeyIdentity(organizationId)),
  };
}

export function makeDataKey(
  organizationId: string,
  number: number,
  masterKeys: readonly MasterKey[],
): Promise<WrappedKey> {
  return wrapKey(masterKeys, freshBytes(32), dataKeyIdentity(organizationId, number));
}

export async function unwrapDataKey(
  organizationId: string,
  number: number,
  wrapped: WrappedKey,
  masterKeys: readonly MasterKey[],
): Promise<SecretKey> {
  return keyFromBytes(await unwrapKey(masterKeys, wrapped, dataKeyIdentity(organizationId, number)));
}

export async function unwrapHashKey(
  organizationId: string,
  wrapped: WrappedKey,
  masterKeys: readonly MasterKey[],
): Promise<SecretKey> {
  return keyFromBytes(await unwrapKey(masterKeys, wrapped, hashKeyIdentity(organizationId)));
}

/** The hash key of an organization without a stored one: versions before 0016 derived it from the first data key. */
export function deriveHashKey(firstDataKey: SecretKey): SecretKey {
  return deriveKey(firstDataKey, 'hash');
}

/** The derived hash key, wrapped for storage: it must survive the deletion of the first data key. */
export async function wrapDerivedHashKey(
  organizationId: string,
  firstDataKey: WrappedKey,
  masterKeys: readonly MasterKey[],
): Promise<WrappedKey> {
  const dataKey = await unwrapDataKey(organizationId, 1, firstDataKey, masterKeys);
  return wrapKey(masterKeys, deriveBytes(dataKey, 'hash'), hashKeyIdentity(organizationId));
}

/** Wraps the key with the current master key; null when it already is. */
export async function rewrap(
  identity: string,
  wrapped: WrappedKey,
  masterKeys: readonly MasterKey[],
): Promise<WrappedKey | null> {
  if (wrapped.masterKeyId === currentMasterKey(masterKeys).id) return null;
  return wrapKey(masterKeys, await unwrapKey(masterKeys, wrapped, identity), identity);
}

/** The first data key has no number in its identity, because versions before 0016 wrapped it so. */
export function dataKeyIdentity(organizationId: string, number: number): string {
  return number === 1
    ? `organization_keys/${organizationId}`
    : `organization_keys/${organizationId}/${number}`;
}

export function hashKeyIdentity(organizationId: string): string {
  return `organization_hash_keys/${organizationId}`;
}
