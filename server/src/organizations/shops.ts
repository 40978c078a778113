import type { SystemDb } from '../db/system.ts';
import type { DataKeys } from './data-keys.ts';
import { findShopByNumber, type ShopIdentity } from './organization.store.ts';
import type { Organization, OrganizationSecrets } from './organization.ts';

/** An organization as the hosted checkout pages need it. */
export interface Shop {
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
  readonly identity: ShopIdentity;
}

/** How long a changed name or color may be shown with its old value. */
const CACHED_FOR_MS = 10_000;
const MAX_CACHED = 10_000;

/** Cache of organizations by the number in checkout URLs. An authentic URL gives access without a credential. */
export class Shops {
  readonly #db: SystemDb;
  readonly #keys: DataKeys;
  readonly #nowMs: () => number;
  readonly #cache = new Map<number, { readonly shop: Shop; readonly readAt: number }>();

  /** @param nowMs a monotonic clock */
  constructor(db: SystemDb, keys: DataKeys, nowMs: () => number) {
    this.#db = db;
    this.#keys = keys;
    this.#nowMs = nowMs;
  }

  async find(number: number): Promise<Shop | null> {
    const cached = this.#cache.get(number);
    if (cached && this.#nowMs() - cached.readAt < CACHED_FOR_MS) return cached.shop;
    const found = await this.#db.transaction('read', (tx) => findShopByNumber(tx, number));
    if (!found) return null;
    const { organization } = found;
    const secrets = (await this.#keys.load(new Set([organization.id])))(organization.id);
    const shop = { ...found, secrets };
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    this.#cache.set(number, { shop, readAt: this.#nowMs() });
    return shop;
  }
}
