import type { SystemDb } from '../db/system.ts';
import type { Tx } from '../db/tx.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { wrappedKeysOf } from './organization.store.ts';
import type { OrganizationSecrets } from './organization.ts';
import { unwrap, type WrappedKey } from './secrets.ts';

type SecretsOf = (organizationId: string) => OrganizationSecrets;

/** The data keys of organizations, for workers: read in sets, remembered for good (a data key never changes). */
export class DataKeys {
  readonly #db: SystemDb;
  readonly #masterKeys: readonly SecretKey[];
  readonly #known = new Map<string, OrganizationSecrets>();

  constructor(db: SystemDb, masterKeys: readonly SecretKey[]) {
    this.#db = db;
    this.#masterKeys = masterKeys;
  }

  of(organizationIds: ReadonlySet<string>): Promise<SecretsOf> {
    return this.#load(organizationIds, (missing) =>
      this.#db.transaction('read', (tx) => wrappedKeysOf(tx, missing)),
    );
  }

  /** Inside a transaction: a second connection would wait for one that waits for it, once all are taken. */
  within(tx: Tx, organizationIds: ReadonlySet<string>): Promise<SecretsOf> {
    return this.#load(organizationIds, (missing) => wrappedKeysOf(tx, missing));
  }

  async #load(
    organizationIds: ReadonlySet<string>,
    read: (missing: readonly string[]) => ReturnType<typeof wrappedKeysOf>,
  ): Promise<SecretsOf> {
    const missing = [...organizationIds].filter((id) => !this.#known.has(id));
    if (missing.length > 0) {
      for (const [id, key] of await read(missing)) {
        const secrets = this.#unwrapped(id, key);
        if (secrets) this.#known.set(id, secrets);
      }
    }
    // Told only to whoever needs it: a key that does not open must not stop the work of other organizations.
    return (id) => {
      const secrets = this.#known.get(id);
      if (!secrets) throw new Error(`organization ${id} has no data key that opens`);
      return secrets;
    };
  }

  #unwrapped(id: string, key: WrappedKey): OrganizationSecrets | null {
    try {
      return unwrap(id, key, this.#masterKeys);
    } catch {
      return null;
    }
  }
}
