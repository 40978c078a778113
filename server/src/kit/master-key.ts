import { decrypt, deriveBytes, deriveKey, encrypt, type SecretKey, sha256 } from './crypto.ts';

/** A key as the database stores it: encrypted by a master key. */
export interface WrappedKey {
  readonly wrappedKey: Buffer;
  readonly masterKeyId: string;
}

/**
 * Wraps the keys of organizations. Asynchronous, because a key management service is called over the network: keys are
 * unwrapped when they are loaded, never while a value is encrypted.
 */
export interface MasterKey {
  /** Identifies the master key without revealing it. Stored beside each key that it wraps. */
  readonly id: string;
  /** @param identity authenticated with the key: a wrapped key copied to another row fails to unwrap */
  wrap(key: Buffer, identity: string): Promise<Buffer>;
  unwrap(wrappedKey: Buffer, identity: string): Promise<Buffer>;
}

/** A master key from the configuration, held in this process. */
export class LocalMasterKey implements MasterKey {
  readonly id: string;
  readonly #wrappingKey: SecretKey;

  constructor(key: SecretKey) {
    this.id = sha256(deriveBytes(key, 'id')).toString('hex').slice(0, 16);
    this.#wrappingKey = deriveKey(key, 'wrap');
  }

  async wrap(key: Buffer, identity: string): Promise<Buffer> {
    return encrypt(this.#wrappingKey, key, identity);
  }

  async unwrap(wrappedKey: Buffer, identity: string): Promise<Buffer> {
    return decrypt(this.#wrappingKey, wrappedKey, identity);
  }
}

/** Wraps with the first (current) master key. */
export async function wrapKey(
  masterKeys: readonly MasterKey[],
  key: Buffer,
  identity: string,
): Promise<WrappedKey> {
  const current = currentMasterKey(masterKeys);
  return { wrappedKey: await current.wrap(key, identity), masterKeyId: current.id };
}

/** @throws when no configured master key wrapped the key */
export function unwrapKey(
  masterKeys: readonly MasterKey[],
  { wrappedKey, masterKeyId }: WrappedKey,
  identity: string,
): Promise<Buffer> {
  const masterKey = masterKeys.find(({ id }) => id === masterKeyId);
  if (!masterKey)
    throw new Error(
      `no configured master key (CAUDAL_MASTER_KEY, CAUDAL_MASTER_KEY_PREVIOUS) decrypts ${identity}`,
    );
  return masterKey.unwrap(wrappedKey, identity);
}

export function currentMasterKey(masterKeys: readonly MasterKey[]): MasterKey {
  const [current] = masterKeys;
  if (!current) throw new Error('no master key configured');
  return current;
}
