import { truncateAddress } from '../kit/ip-network.ts';
import type { NetworkUse } from './key-network.store.ts';

/** New networks per API key in one recording: bounds the events of a key that many networks use. The others follow. */
const MAX_NEW_PER_KEY = 8;
/** Addresses per API key that are noted without another look; above it, they are noted again. */
const MAX_ADDRESSES = 1000;
/** Above this many entries the memory of recorded networks is cleared; they are then recorded again. */
const MAX_REMEMBERED = 50_000;

/** A use of an API key from a network, and whether its address allow-list accepted the request. */
export interface NotedUse extends NetworkUse {
  readonly allowed: boolean;
}

type Record = (uses: readonly NotedUse[]) => Promise<void>;

/**
 * Notes in memory which networks API keys are used from. The heartbeat records them in the database, so that a request waits
 * for no query.
 */
export class KeyNetworks {
  readonly #record: Record;
  /** Addresses noted since the last recording, by key: a request with one of them costs two look-ups. */
  readonly #addresses = new Map<string, Set<string>>();
  #noted = new Map<string, NotedUse>();
  /** Networks that this process has recorded before. */
  readonly #recorded = new Set<string>();
  readonly #newPerKey = new Map<string, number>();

  constructor(record: Record) {
    this.#record = record;
  }

  /** Whether a network was noted that this process has not recorded before. */
  get hasNew(): boolean {
    return this.#newPerKey.size > 0;
  }

  note(keyId: string, address: string, allowed: boolean): void {
    const addresses = this.#addresses.get(keyId) ?? new Set();
    if (addresses.has(address)) return;
    const network = truncateAddress(address);
    if (network === null || !this.#add({ keyId, network, allowed })) return;
    if (addresses.size >= MAX_ADDRESSES) addresses.clear();
    this.#addresses.set(keyId, addresses.add(address));
  }

  /** Records the noted networks. When it fails, they are noted again. */
  async record(): Promise<void> {
    const noted = this.#noted;
    this.#noted = new Map();
    this.#addresses.clear();
    this.#newPerKey.clear();
    if (noted.size === 0) return;
    try {
      await this.#record([...noted.values()]);
    } catch (error) {
      for (const use of noted.values()) this.#add(use);
      throw error;
    }
    if (this.#recorded.size + noted.size > MAX_REMEMBERED) this.#recorded.clear();
    for (const name of noted.keys()) this.#recorded.add(name);
  }

  /** @returns false when the use must be noted again later */
  #add(use: NotedUse): boolean {
    const name = `${use.keyId} ${use.network}`;
    if (this.#noted.has(name)) return true;
    if (this.#noted.size >= MAX_REMEMBERED) return false;
    if (!this.#recorded.has(name)) {
      const count = this.#newPerKey.get(use.keyId) ?? 0;
      if (count >= MAX_NEW_PER_KEY) return false;
      this.#newPerKey.set(use.keyId, count + 1);
    }
    this.#noted.set(name, use);
    return true;
  }
}
