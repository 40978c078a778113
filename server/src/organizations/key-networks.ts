import { truncateAddress } from '../kit/ip-network.ts';
import type { NetworkUse } from './key-network.store.ts';

/** New networks per API key in one recording: bounds the work for a key that many networks use. The others follow. */
const MAX_NEW_PER_KEY = 8;
/** Addresses per API key that are noted without another look; above it, they are noted again. */
const MAX_ADDRESSES = 1000;
/** Above this many entries the memory of recorded networks is cleared; they are then recorded again. */
const MAX_REMEMBERED = 50_000;

type Record = (uses: readonly NetworkUse[]) => Promise<void>;

/**
 * Notes in memory which networks API keys are used from. The heartbeat records them in the database, so that a request waits
 * for no query: new networks with the next beat, the last use of known ones every 30 seconds.
 */
export class KeyNetworks {
  readonly #record: Record;
  /** Addresses noted since the last recording of known networks, by key, and whether they were allowed: a request with one of them costs two look-ups. */
  readonly #addresses = new Map<string, Map<string, boolean>>();
  /** Uses from networks that this process has not recorded before, by key and name. */
  readonly #new = new Map<string, Map<string, NetworkUse>>();
  /** Uses from networks that this process has recorded before, by name. */
  readonly #known = new Map<string, NetworkUse>();
  readonly #recorded = new Set<string>();

  constructor(record: Record) {
    this.#record = record;
  }

  /** Whether a network was noted that this process has not recorded before. */
  get hasNew(): boolean {
    return this.#new.size > 0;
  }

  note(keyId: string, address: string, allowed: boolean): void {
    const addresses = this.#addresses.get(keyId) ?? new Map<string, boolean>();
    if (addresses.get(address) === allowed) return;
    const network = truncateAddress(address);
    if (network === null || !this.#add({ keyId, network, allowed })) return;
    if (addresses.size >= MAX_ADDRESSES) addresses.clear();
    this.#addresses.set(keyId, addresses.set(address, allowed));
  }

  /** Records the networks that are new for this process. When it fails, they stay noted. */
  async recordNew(): Promise<void> {
    const noted = [...this.#new.values()].flatMap((uses) => [...uses]);
    if (noted.length === 0) return;
    await this.#record(noted.map(([, use]) => use));
    if (this.#recorded.size + noted.length > MAX_REMEMBERED) this.#recorded.clear();
    for (const [name, { keyId }] of noted) {
      this.#recorded.add(name);
      const uses = this.#new.get(keyId);
      uses?.delete(name);
      if (uses?.size === 0) this.#new.delete(keyId);
    }
  }

  /** Records the last use of known networks. When it fails, they stay noted. */
  async recordKnown(): Promise<void> {
    const noted = [...this.#known];
    this.#addresses.clear();
    if (noted.length === 0) return;
    await this.#record(noted.map(([, use]) => use));
    for (const [name] of noted) this.#known.delete(name);
  }

  /** @returns false when the use must be noted again later */
  #add(use: NetworkUse): boolean {
    const name = `${use.keyId} ${use.network} ${use.allowed}`;
    if (this.#recorded.has(name)) {
      if (this.#known.size >= MAX_REMEMBERED) return false;
      this.#known.set(name, use);
      return true;
    }
    const uses = this.#new.get(use.keyId) ?? new Map<string, NetworkUse>();
    if (uses.has(name)) return true;
    if (uses.size >= MAX_NEW_PER_KEY) return false;
    this.#new.set(use.keyId, uses.set(name, use));
    return true;
  }
}
