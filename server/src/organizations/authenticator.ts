import { toReadError } from '../db/failures.ts';
import type { SystemDb } from '../db/system.ts';
import type { BusinessClock } from '../kit/clock.ts';
import { equalBytes, fingerprint, type SecretKey } from '../kit/crypto.ts';
import type { Environment } from '../kit/environment.ts';
import { ApiError } from '../kit/errors.ts';
import { randomBase32 } from '../kit/ids.ts';
import { AllowedAddresses } from './allowed-addresses.ts';
import { findCredential, type KeyUse, type StoredCredential, touchKeys } from './credential.store.ts';
import {
  type Credential,
  credentialMac,
  deriveTagKey,
  macMatches,
  type ParsedCredential,
  pepperId,
  readCredential,
} from './credential.ts';
import type { DataKeys } from './data-keys.ts';
import { KnownKeyIds } from './known-key-ids.ts';
import { LookupBudget, type LookupClass } from './lookup-budget.ts';
import type { Principal } from './organization.ts';

interface AuthenticatorOptions {
  readonly db: SystemDb;
  readonly clock: BusinessClock;
  readonly environment: Environment;
  readonly peppers: readonly SecretKey[];
  readonly keys: DataKeys;
}

interface CachedCredential {
  readonly kind: Credential['kind'];
  readonly stored: StoredCredential;
  readonly principal: Principal;
}

const WITHOUT_MAC: KeyUse = { mac: null, replace: false };

/** Above this, the oldest entries are evicted; they cost one query when they are used again. */
const MAX_CACHED = 50_000;

const TOO_MANY_FAILURES = new ApiError('rate_limited', {
  reason: 'too many invalid credentials from this address',
  retryAfterSeconds: 60,
});

/**
 * Resolves a credential to its organization without a query: credentials are cached after the first lookup, until the
 * heartbeat (heartbeat.ts) reports a change of the organization.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #tagKeys: readonly SecretKey[];
  readonly #knownKeyIds: KnownKeyIds;
  readonly #budget = new LookupBudget();
  readonly #byId = new Map<string, CachedCredential>();
  /**
   * Verified credentials by a fingerprint of their whole text: parsing a credential and computing its MAC costs as much as
   * the rest of a rejected request.
   */
  readonly #byFingerprint = new Map<string, CachedCredential>();
  readonly #fingerprintSalt = randomBase32(26);
  readonly #lookups = new Map<string, Promise<CachedCredential | null>>();
  /** API keys used since the last `recordUse`. */
  readonly #used = new Map<string, KeyUse>();
  /** Incremented by each invalidation, so that a lookup started before it does not restore the stale entry. */
  #generation = 0;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#tagKeys = options.peppers.map(deriveTagKey);
    this.#knownKeyIds = new KnownKeyIds(options.db);
  }

  /**
   * @param suspect whether the client's address sent many invalid credentials lately
   * @throws ApiError `unauthorized`; `service_unavailable` when the database does not answer; `overloaded` at too many
   *   lookups; `rate_limited` for a suspect address
   */
  authenticate(
    text: string,
    kinds: readonly Credential['kind'][],
    suspect = false,
  ): Principal | Promise<Principal> {
    const credential = readCredential(text, this.#options.environment, this.#tagKeys);
    if (!credential || !kinds.includes(credential.kind)) throw new ApiError('unauthorized');
    // A key may have been revoked since the last heartbeat: wait for a fresh one.
    if (!this.#options.clock.fresh)
      return this.#options.clock.whenFresh().then(() => this.#verify(credential, suspect));
    return this.#verify(credential, suspect);
  }

  #verify(credential: ParsedCredential, suspect: boolean): Principal | Promise<Principal> {
    const cached = this.#byId.get(cacheKey(credential));
    if (cached) return this.#check(credential, cached);
    return this.#find(credential, suspect).then((found) => {
      if (!found) throw new ApiError('unauthorized');
      return this.#check(credential, found);
    });
  }

  /**
   * Like `authenticate`, but only from the cache. Returns null when the credential must be looked up or the heartbeat is
   * late.
   * @throws ApiError like `authenticate`
   */
  authenticateFromCache(text: string, kinds: readonly Credential['kind'][]): Principal | null {
    if (!this.#options.clock.fresh) return null;
    const fingerprint = this.#fingerprint(text);
    const verified = this.#byFingerprint.get(fingerprint);
    if (verified) {
      if (!kinds.includes(verified.kind)) throw new ApiError('unauthorized');
      this.#rejectExpired(verified.stored);
      if (!this.#used.has(verified.stored.keyId)) this.#used.set(verified.stored.keyId, WITHOUT_MAC);
      return verified.principal;
    }
    const credential = readCredential(text, this.#options.environment, this.#tagKeys);
    if (!credential || !kinds.includes(credential.kind)) throw new ApiError('unauthorized');
    const cached = this.#byId.get(cacheKey(credential));
    if (!cached) return null;
    const principal = this.#check(credential, cached);
    // A MAC made by a previous pepper is checked on each request until `recordUse` stores the new one.
    if (equalBytes(this.#currentMac(credential), cached.stored.mac))
      this.#cacheFingerprint(fingerprint, cached);
    return principal;
  }

  invalidate(organizationIds: ReadonlySet<string>): void {
    this.#generation += 1;
    for (const [key, { stored }] of this.#byId) {
      if (organizationIds.has(stored.organization.id)) this.#byId.delete(key);
    }
    for (const [fingerprint, { stored }] of this.#byFingerprint) {
      if (organizationIds.has(stored.organization.id)) this.#byFingerprint.delete(fingerprint);
    }
  }

  invalidateAll(): void {
    this.#generation += 1;
    this.#byId.clear();
    this.#byFingerprint.clear();
  }

  /** Stores which API keys were used since the last call. */
  async recordUse(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = new Map(this.#used);
    this.#used.clear();
    const [current] = this.#options.peppers;
    await touchKeys(this.#options.db, used, current ? pepperId(current) : null);
  }

  #check(credential: Credential, { stored, principal }: CachedCredential): Principal {
    const [, ...previous] = this.#options.peppers;
    const mac = this.#currentMac(credential);
    const current = equalBytes(mac, stored.mac);
    if (!current && !macMatches(credential, stored.mac, previous)) throw new ApiError('unauthorized');
    this.#rejectExpired(stored);
    if (credential.kind === 'key') this.#used.set(stored.keyId, { mac, replace: !current });
    else if (!this.#used.has(stored.keyId)) this.#used.set(stored.keyId, WITHOUT_MAC);
    return principal;
  }

  #rejectExpired({ expiresAtMs }: StoredCredential): void {
    const now = this.#options.clock.time();
    if (expiresAtMs !== null && expiresAtMs <= now) throw new ApiError('unauthorized');
  }

  #currentMac(credential: Credential): Buffer {
    const [current] = this.#options.peppers;
    return current ? credentialMac(credential, current) : Buffer.alloc(0);
  }

  #fingerprint(text: string): string {
    return fingerprint(this.#fingerprintSalt + text);
  }

  #cacheFingerprint(fingerprint: string, cached: CachedCredential): void {
    if (this.#byFingerprint.size >= MAX_CACHED) this.#byFingerprint.clear();
    this.#byFingerprint.set(fingerprint, cached);
  }

  /** Queries the database only for credentials that may exist. Old keys have no tag: their ids are known. */
  async #find(credential: ParsedCredential, suspect: boolean): Promise<CachedCredential | null> {
    const { kind, id, ending } = credential;
    if (ending !== 'tag') {
      if (suspect) throw TOO_MANY_FAILURES;
      const mayExist = kind === 'key' ? await this.#knownKeyIds.mayExist(id) : ending === 'crc';
      if (!mayExist) return null;
    }
    return this.#lookUp(credential, ending !== 'tag' ? 'untagged' : suspect ? 'suspect' : 'trusted');
  }

  #lookUp(credential: Credential, lookupClass: LookupClass): Promise<CachedCredential | null> {
    const key = cacheKey(credential);
    const running = this.#lookups.get(key);
    if (running) return running;
    const lookup = this.#budget
      .run(lookupClass, () => this.#read(credential))
      .finally(() => this.#lookups.delete(key));
    this.#lookups.set(key, lookup);
    return lookup;
  }

  async #read(credential: Credential): Promise<CachedCredential | null> {
    const generation = this.#generation;
    const stored = await findCredential(this.#options.db, credential.kind, credential.id).catch(
      (error: unknown) => Promise.reject(toReadError(error)),
    );
    if (!stored) return null;
    const organizationId = stored.organization.id;
    const getSecrets = await this.#options.keys
      .load(new Set([organizationId]))
      .catch((error: unknown) => Promise.reject(toReadError(error)));
    const found: CachedCredential = {
      kind: credential.kind,
      stored,
      principal: {
        organization: stored.organization,
        keyId: stored.keyId,
        scopes: new Set(stored.scopes),
        limits: stored.limits,
        keyLimits: stored.keyLimits,
        allowedAddresses: stored.allowFrom && new AllowedAddresses(stored.allowFrom),
        secrets: getSecrets(organizationId),
      },
    };
    // Only a holder of the secret may fill the cache, and never with data read before an invalidation.
    if (generation === this.#generation && macMatches(credential, stored.mac, this.#options.peppers)) {
      this.#byId.set(cacheKey(credential), found);
      const oldest = this.#byId.size > MAX_CACHED ? this.#byId.keys().next().value : undefined;
      if (oldest !== undefined) this.#byId.delete(oldest);
    }
    return found;
  }
}

function cacheKey(credential: Credential): string {
  return `${credential.kind}:${credential.id}`;
}
