import { readFailure } from '../db/failures.ts';
import type { SystemDb } from '../db/system.ts';
import type { BusinessClock } from '../kit/clock.ts';
import { equalBytes, fingerprint, type SecretKey } from '../kit/crypto.ts';
import type { Environment } from '../kit/environment.ts';
import { ApiError } from '../kit/errors.ts';
import { randomBase32 } from '../kit/ids.ts';
import { findCredential, type StoredCredential, touchKeys } from './credential.store.ts';
import { type Credential, credentialMac, macMatches, readCredential } from './credential.ts';
import type { Principal } from './organization.ts';
import { unwrap } from './secrets.ts';

interface AuthenticatorOptions {
  readonly db: SystemDb;
  readonly clock: BusinessClock;
  readonly environment: Environment;
  readonly peppers: readonly SecretKey[];
  readonly masterKeys: readonly SecretKey[];
}

interface Known {
  readonly kind: Credential['kind'];
  readonly stored: StoredCredential;
  readonly principal: Principal;
}

/** More than this and the oldest are forgotten: they cost one query when they come back. */
const MOST_KNOWN = 50_000;
/** Garbage with a right checksum can be made by anyone who reads this code; it may not occupy the database. */
const MOST_LOOKUPS = 64;

/**
 * Turns a credential into its organization without a query: what was looked up once is remembered until the pulse
 * (heartbeat.ts) says that something about the organization changed.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #known = new Map<string, Known>();
  /**
   * The same by a fingerprint of the whole text, for credentials that have been judged: reading a text and making its MAC
   * costs as much as all else that a refused request costs us.
   */
  readonly #byFingerprint = new Map<string, Known>();
  readonly #fingerprintSalt = randomBase32(26);
  readonly #lookups = new Map<string, Promise<Known | null>>();
  /** Keys used since the last note of it, with a new MAC where an earlier pepper made the stored one. */
  readonly #used = new Map<string, Buffer | null>();
  /** Counts the times something was forgotten, so that a look-up begun before does not bring it back. */
  #generation = 0;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** @throws Fault `unauthorized`; `service_unavailable` when the database does not answer, `overloaded` when look-ups pile up */
  authenticate(text: string, kinds: readonly Credential['kind'][]): Principal | Promise<Principal> {
    const credential = readCredential(text, this.#options.environment);
    if (!credential || !kinds.includes(credential.kind)) throw new ApiError('unauthorized');
    // A key that may have been revoked is not honored: a late heartbeat is waited for.
    if (!this.#options.clock.fresh)
      return this.#options.clock.whenFresh().then(() => this.#verify(credential));
    return this.#verify(credential);
  }

  #verify(credential: Credential): Principal | Promise<Principal> {
    const known = this.#known.get(nameOf(credential));
    if (known) return this.#judge(credential, known);
    return this.#lookUp(credential).then((found) => {
      if (!found) throw new ApiError('unauthorized');
      return this.#judge(credential, found);
    });
  }

  /**
   * As `authenticate`, but only what is remembered as good: null when it must be looked at more closely, or when the
   * heartbeat is late.
   * @throws Fault as `authenticate`
   */
  recall(text: string, kinds: readonly Credential['kind'][]): Principal | null {
    if (!this.#options.clock.fresh) return null;
    const fingerprint = this.#fingerprint(text);
    const familiar = this.#byFingerprint.get(fingerprint);
    if (familiar) {
      if (!kinds.includes(familiar.kind)) throw new ApiError('unauthorized');
      this.#refuseExpired(familiar.stored);
      if (!this.#used.has(familiar.stored.keyId)) this.#used.set(familiar.stored.keyId, null);
      return familiar.principal;
    }
    const credential = readCredential(text, this.#options.environment);
    if (!credential || !kinds.includes(credential.kind)) throw new ApiError('unauthorized');
    const known = this.#known.get(nameOf(credential));
    if (!known) return null;
    const principal = this.#judge(credential, known);
    // One that an earlier pepper made is judged each time, until its new MAC is written down.
    if (equalBytes(this.#presentMac(credential), known.stored.mac)) this.#remember(fingerprint, known);
    return principal;
  }

  forget(organizationIds: ReadonlySet<string>): void {
    this.#generation += 1;
    for (const [name, { stored }] of this.#known) {
      if (organizationIds.has(stored.organization.id)) this.#known.delete(name);
    }
    for (const [fingerprint, { stored }] of this.#byFingerprint) {
      if (organizationIds.has(stored.organization.id)) this.#byFingerprint.delete(fingerprint);
    }
  }

  forgetAll(): void {
    this.#generation += 1;
    this.#known.clear();
    this.#byFingerprint.clear();
  }

  /** Writes down which keys were used since the last call. */
  async recordUse(): Promise<void> {
    if (this.#used.size === 0) return;
    const used = new Map(this.#used);
    this.#used.clear();
    await touchKeys(this.#options.db, used);
  }

  #judge(credential: Credential, { stored, principal }: Known): Principal {
    const [, ...previous] = this.#options.peppers;
    const mac = this.#presentMac(credential);
    const current = equalBytes(mac, stored.mac);
    if (!current && !macMatches(credential, stored.mac, previous)) throw new ApiError('unauthorized');
    this.#refuseExpired(stored);
    if (!this.#used.has(stored.keyId) || !current) {
      this.#used.set(stored.keyId, credential.kind === 'key' && !current ? mac : null);
    }
    return principal;
  }

  #refuseExpired({ expiresAtMs }: StoredCredential): void {
    const now = this.#options.clock.time();
    if (expiresAtMs !== null && expiresAtMs <= now) throw new ApiError('unauthorized');
  }

  #presentMac(credential: Credential): Buffer {
    const [present] = this.#options.peppers;
    return present ? credentialMac(credential, present) : Buffer.alloc(0);
  }

  #fingerprint(text: string): string {
    return fingerprint(this.#fingerprintSalt + text);
  }

  #remember(fingerprint: string, known: Known): void {
    if (this.#byFingerprint.size >= MOST_KNOWN) this.#byFingerprint.clear();
    this.#byFingerprint.set(fingerprint, known);
  }

  #lookUp(credential: Credential): Promise<Known | null> {
    const name = nameOf(credential);
    const running = this.#lookups.get(name);
    if (running) return running;
    if (this.#lookups.size >= MOST_LOOKUPS)
      throw new ApiError('overloaded', { reason: 'too many unknown credentials at once' });
    const lookup = this.#read(credential).finally(() => this.#lookups.delete(name));
    this.#lookups.set(name, lookup);
    return lookup;
  }

  async #read(credential: Credential): Promise<Known | null> {
    const generation = this.#generation;
    const stored = await findCredential(this.#options.db, credential.kind, credential.id).catch(
      (error: unknown) => Promise.reject(readFailure(error)),
    );
    if (!stored) return null;
    const known: Known = {
      kind: credential.kind,
      stored,
      principal: {
        organization: stored.organization,
        keyId: stored.keyId,
        scopes: new Set(stored.scopes),
        limits: stored.limits,
        secrets: unwrap(stored.organization.id, stored.wrapped, this.#options.masterKeys),
      },
    };
    // Only a holder of the secret may fill the memory, and never with what a change has overtaken.
    if (generation === this.#generation && macMatches(credential, stored.mac, this.#options.peppers)) {
      this.#known.set(nameOf(credential), known);
      const oldest = this.#known.size > MOST_KNOWN ? this.#known.keys().next().value : undefined;
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return known;
  }
}

function nameOf(credential: Credential): string {
  return `${credential.kind}:${credential.id}`;
}
