import type { SystemDb } from '../db/system.ts';
import type { Tx } from '../db/tx.ts';
import type { MasterKey } from '../kit/master-key.ts';
import type { OrganizationSecrets } from './organization.ts';
import { readOrganizationKeys, type StoredKeys } from './organization-keys.store.ts';
import { deriveHashKey, unwrapDataKey, unwrapHashKey } from './secrets.ts';

/** Returns the secrets of a loaded organization. Throws when its keys cannot be decrypted. */
type GetSecrets = (organizationId: string) => OrganizationSecrets;

/** Keys of organizations, read in batches and cached without expiry: they never change. */
export class DataKeys {
  readonly #db: SystemDb;
  readonly #masterKeys: readonly MasterKey[];
  readonly #cache = new Map<string, OrganizationSecrets>();

  constructor(db: SystemDb, masterKeys: readonly MasterKey[]) {
    this.#db = db;
    this.#masterKeys = masterKeys;
  }

  load(organizationIds: ReadonlySet<string>): Promise<GetSecrets> {
    return this.#load(organizationIds, this.#db);
  }

  /** Uses the caller's connection: taking a second one inside a transaction can deadlock an exhausted pool. */
  loadInTransaction(tx: Tx, organizationIds: ReadonlySet<string>): Promise<GetSecrets> {
    return this.#load(organizationIds, tx);
  }

  async #load(organizationIds: ReadonlySet<string>, tx: Pick<Tx, 'query'>): Promise<GetSecrets> {
    const missing = [...organizationIds].filter((id) => !this.#cache.has(id));
    if (missing.length > 0) {
      for (const stored of await readOrganizationKeys(tx, missing)) {
        const secrets = await this.#unwrap(stored).catch(() => null);
        if (secrets) this.#cache.set(stored.organizationId, secrets);
      }
    }
    // Throws on use, not on load: one broken data key must not stop the work of other organizations.
    return (id) => {
      const secrets = this.#cache.get(id);
      if (!secrets)
        throw new Error(`failed to decrypt the data key of organization ${id} (wrong master key?)`);
      return secrets;
    };
  }

  async #unwrap(stored: StoredKeys): Promise<OrganizationSecrets> {
    const { organizationId, hashWrappedKey, hashMasterKeyId } = stored;
    const dataKey = await unwrapDataKey(organizationId, 1, stored, this.#masterKeys);
    const hashKey =
      hashWrappedKey === null || hashMasterKeyId === null
        ? deriveHashKey(dataKey)
        : await unwrapHashKey(
            organizationId,
            { wrappedKey: hashWrappedKey, masterKeyId: hashMasterKeyId },
            this.#masterKeys,
          );
    return { dataKey, hashKey };
  }
}
