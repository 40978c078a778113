import type { SystemDb } from '../db/system.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { wrappedKeysOf } from './organization.store.ts';
import type { OrganizationSecrets } from './organization.ts';
import { unwrap } from './secrets.ts';

/** The data keys of organizations, for workers: read in sets, remembered for good (a data key never changes). */
export class DataKeys {
  readonly #db: SystemDb;
  readonly #masterKeys: readonly SecretKey[];
  readonly #known = new Map<string, OrganizationSecrets>();

  constructor(db: SystemDb, masterKeys: readonly SecretKey[]) {
    this.#db = db;
    this.#masterKeys = masterKeys;
  }

  async of(organizationIds: ReadonlySet<string>): Promise<(organizationId: string) => OrganizationSecrets> {
    const missing = [...organizationIds].filter((id) => !this.#known.has(id));
    if (missing.length > 0) {
      const wrapped = await this.#db.transaction('read', (tx) => wrappedKeysOf(tx, missing));
      for (const [id, key] of wrapped) this.#known.set(id, unwrap(id, key, this.#masterKeys));
    }
    return (id) => {
      const secrets = this.#known.get(id);
      if (!secrets) throw new Error(`organization ${id} has no data key`);
      return secrets;
    };
  }
}
