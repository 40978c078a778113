import type { SystemDb } from '../db/system.ts';
import type { Tx } from '../db/tx.ts';
import { monotonicMs } from '../kit/clock.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { KeyRing, type RingKey } from '../kit/key-ring.ts';
import type { MasterKey } from '../kit/master-key.ts';
import type { OrganizationSecrets } from './organization.ts';
import { addUses, readOrganizationKeys, type StoredKeys } from './organization-keys.store.ts';
import { deriveHashKey, unwrapDataKey, unwrapHashKey } from './secrets.ts';

/** Returns the secrets of a loaded organization. Throws when its keys cannot be decrypted. */
type GetSecrets = (organizationId: string) => OrganizationSecrets;

/** A cached key ring is read again when the heartbeat is late by this: a new data key may have become active. */
const MAX_HEARTBEAT_AGE_MS = 10_000;

/**
 * Keys of organizations, read in batches and cached. The heartbeat reads them again when they change, into the same
 * objects, and a process without a recent heartbeat reads them on each load.
 */
export class DataKeys {
  readonly #db: SystemDb;
  readonly #masterKeys: readonly MasterKey[];
  readonly #cache = new Map<string, OrganizationSecrets>();
  /** Organizations whose new key failed to unwrap, or may have been missed: read again at the next heartbeat. */
  readonly #outdated = new Set<string>();
  readonly #failed = new Set<string>();
  /** Counts the refreshes: keys that were read before one may lack a key that it announced. */
  #generation = 0;
  /** Null: the process has no heartbeat, such as an operator command. */
  #confirmedAtMs: number | null = null;

  constructor(db: SystemDb, masterKeys: readonly MasterKey[]) {
    this.#db = db;
    this.#masterKeys = masterKeys;
  }

  load(organizationIds: ReadonlySet<string>): Promise<GetSecrets> {
    return this.loadInTransaction(this.#db, organizationIds);
  }

  /** Uses the caller's connection: taking a second one inside a transaction can deadlock an exhausted pool. */
  async loadInTransaction(tx: Pick<Tx, 'query'>, organizationIds: ReadonlySet<string>): Promise<GetSecrets> {
    await this.#read(tx, this.#missing(organizationIds));
    // Throws on use, not on load: one broken data key must not stop the work of other organizations.
    return (id) => {
      const secrets = this.#cache.get(id);
      if (!secrets)
        throw new Error(`failed to decrypt the data key of organization ${id} (wrong master key?)`);
      return secrets;
    };
  }

  /**
   * Reads the cached keys of changed organizations again. Call it before the heartbeat counts as successful, so that a
   * process that serves requests has loaded every key before the key becomes active.
   * @param changed null: all
   * @param takenAtMs monotonic time at which the changes were read
   */
  async refresh(
    tx: Pick<Tx, 'query'>,
    changed: ReadonlySet<string> | null,
    takenAtMs: number,
  ): Promise<void> {
    this.#generation += 1;
    const cached = [...this.#cache.keys()].filter(
      (id) => changed === null || changed.has(id) || this.#outdated.has(id),
    );
    try {
      await this.#read(tx, cached);
    } catch (error) {
      for (const id of cached) this.#outdated.add(id);
      throw error;
    }
    this.#confirmedAtMs = Math.max(this.#confirmedAtMs ?? 0, takenAtMs);
  }

  /** Stores how many values each key has encrypted since the last call. */
  async recordUse(): Promise<void> {
    const uses = [...this.#cache]
      .map(([organizationId, { dataKey }]) => ({ organizationId, ...dataKey.takeUses() }))
      .filter(({ count }) => count > 0);
    if (uses.length > 0) await addUses(this.#db, uses);
  }

  #missing(organizationIds: ReadonlySet<string>): string[] {
    const late = this.#confirmedAtMs !== null && monotonicMs() - this.#confirmedAtMs > MAX_HEARTBEAT_AGE_MS;
    return [...organizationIds].filter(
      (id) => late || (this.#cache.get(id)?.dataKey.incomplete ?? true) || this.#outdated.has(id),
    );
  }

  async #read(tx: Pick<Tx, 'query'>, organizationIds: readonly string[]): Promise<void> {
    if (organizationIds.length === 0) return;
    const generation = this.#generation;
    const stored = Map.groupBy(
      await readOrganizationKeys(tx, organizationIds),
      ({ organizationId }) => organizationId,
    );
    await Promise.all(
      [...stored].map(async ([id, keys]) => {
        try {
          await (this.#cache.has(id) ? this.#update(id, keys) : this.#add(id, keys));
          this.#failed.delete(id);
          if (generation === this.#generation) this.#outdated.delete(id);
          else this.#outdated.add(id);
        } catch {
          this.#failed.add(id);
          this.#outdated.add(id);
          this.#cache.get(id)?.dataKey.expect(keys);
        }
      }),
    );
  }

  /** Organizations of which a key could not be unwrapped. */
  get failed(): ReadonlySet<string> {
    return this.#failed;
  }

  async #add(id: string, stored: readonly StoredKeys[]): Promise<void> {
    const keys = await this.#unwrapKeys(stored);
    const hashKey = await this.#unwrapHashKey(stored[0], keys);
    const concurrent = this.#cache.get(id);
    // The holders of the first object would not see later keys if it were replaced.
    if (concurrent) concurrent.dataKey.replace(keys);
    else this.#cache.set(id, { dataKey: new KeyRing(keys), hashKey });
  }

  async #update(id: string, stored: readonly StoredKeys[]): Promise<void> {
    const ring = this.#cache.get(id)?.dataKey;
    ring?.replace(await this.#unwrapKeys(stored, ring));
  }

  #unwrapKeys(stored: readonly StoredKeys[], loaded?: KeyRing): Promise<RingKey[]> {
    return Promise.all(
      stored.map(async (row) => ({
        number: row.number,
        activeInMs: row.activeInMs,
        key:
          loaded?.get(row.number) ??
          (await unwrapDataKey(row.organizationId, row.number, row, this.#masterKeys)),
      })),
    );
  }

  async #unwrapHashKey(stored: StoredKeys | undefined, keys: readonly RingKey[]): Promise<SecretKey> {
    if (stored?.hashWrappedKey && stored.hashMasterKeyId !== null) {
      const wrapped = { wrappedKey: stored.hashWrappedKey, masterKeyId: stored.hashMasterKeyId };
      return unwrapHashKey(stored.organizationId, wrapped, this.#masterKeys);
    }
    const first = keys.find(({ number }) => number === 1);
    if (!first) throw new Error('an organization has no hash key and no first data key');
    return deriveHashKey(first.key);
  }
}
