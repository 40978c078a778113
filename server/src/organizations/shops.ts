import type { SystemDb } from '../db/system.ts';
import type { DataKeys } from './data-keys.ts';
import { findOrganizationByNumber } from './organization.store.ts';
import type { Organization, OrganizationSecrets } from './organization.ts';

/** An organization as its payers meet it. */
export interface Shop {
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
}

/** A name or a colour may be old for so long. */
const KNOWN_FOR_MS = 10_000;
const MOST_KNOWN = 10_000;

/** Organizations by the number that addresses of pages carry; whoever has an authentic address is let in without a credential. */
export class Shops {
  readonly #db: SystemDb;
  readonly #keys: DataKeys;
  readonly #nowMs: () => number;
  readonly #known = new Map<number, { readonly shop: Shop; readonly readAt: number }>();

  /** @param nowMs a clock that only goes forward */
  constructor(db: SystemDb, keys: DataKeys, nowMs: () => number) {
    this.#db = db;
    this.#keys = keys;
    this.#nowMs = nowMs;
  }

  async find(number: number): Promise<Shop | null> {
    const known = this.#known.get(number);
    if (known && this.#nowMs() - known.readAt < KNOWN_FOR_MS) return known.shop;
    const organization = await this.#db.transaction('read', (tx) => findOrganizationByNumber(tx, number));
    if (!organization) return null;
    const secrets = (await this.#keys.of(new Set([organization.id])))(organization.id);
    const shop = { organization, secrets };
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(number, { shop, readAt: this.#nowMs() });
    return shop;
  }
}
