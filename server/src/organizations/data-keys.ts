import type { SystemDb } from '../db/system.ts';
import type { Tx } from '../db/tx.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { readWrappedKeys } from './organization.store.ts';
import type { OrganizationSecrets } from './organization.ts';
import { unwrap, type WrappedKey } from './secrets.ts';

/** Returns the secrets of a loaded organization. Throws when its data key cannot be decrypted. */
type GetSecrets = (organizationId: string) => OrganizationSecrets;

/** Data keys of organizations for workers. Read in batches and cached without expiry: a data key never changes. */
export class DataKeys {
  readonly #db: SystemDb;
  readonly #masterKeys: readonly SecretKey[];
  readonly #cache = new Map<string, OrganizationSecrets>();

  constructor(db: SystemDb, masterKeys: readonly SecretKey[]) {
    this.#db = db;
    this.#masterKeys = masterKeys;
  }

  load(organizationIds: ReadonlySet<string>): Promise<GetSecrets> {
    return this.#load(organizationIds, (missing) =>
      this.#db.transaction('read', (tx) => readWrappedKeys(tx, missing)),
    );
  }

  /** Uses the caller's connection: taking a second one inside a transaction can deadlock an exhausted pool. */
  loadInTransaction(tx: Tx, organizationIds: ReadonlySet<string>): Promise<GetSecrets> {
    return this.#load(organizationIds, (missing) => readWrappedKeys(tx, missing));
  }

  async #load(
    organizationIds: ReadonlySet<string>,
    read: (missing: readonly string[]) => ReturnType<typeof readWrappedKeys>,
  ): Promise<GetSecrets> {
    const missing = [...organizationIds].filter((id) => !this.#cache.has(id));
    if (missing.length > 0) {
      for (const [id, wrappedKey] of await read(missing)) {
        const secrets = this.#tryUnwrap(id, wrappedKey);
        if (secrets) this.#cache.set(id, secrets);
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

  #tryUnwrap(id: string, wrappedKey: WrappedKey): OrganizationSecrets | null {
    try {
      return unwrap(id, wrappedKey, this.#masterKeys);
    } catch {
      return null;
    }
  }
}
