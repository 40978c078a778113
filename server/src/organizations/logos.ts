import type { SystemDb } from '../db/system.ts';
import { findLogo } from './logo.store.ts';
import type { Logo } from './logo.ts';

/** A logo has at most 120 KB. */
const MAX_CACHED = 200;

/** Cache of logos by id. An id is a hash of the content, so that a cached logo never changes. */
export class Logos {
  readonly #db: SystemDb;
  readonly #cache = new Map<string, Logo>();

  constructor(db: SystemDb) {
    this.#db = db;
  }

  /** @returns null when no organization has this logo now */
  async find(id: string): Promise<Logo | null> {
    const cached = this.#cache.get(id);
    if (cached) return cached;
    const logo = await findLogo(this.#db, id);
    if (!logo) return null;
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    this.#cache.set(id, logo);
    return logo;
  }
}
