import { findMarkedWords, otherName, type TenantName } from './tenant.ts';

/** Ids, keys, tokens and secrets: values that belong to one organization. */
const IDENTIFIERS =
  /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|cdl_(?:test|live)_\w{20,}|whsec_[\w+/=-]{20,}|@CDL[0-9A-Z]{10,}|\/(?:l|p|r)\/[\w-]{30,}/gi;

const MAX_KNOWN = 1_500_000;

/**
 * Which organization each identifier belongs to: the one whose response showed it first. A response to the other one that
 * contains it, without it being part of the request, is a leak.
 */
export class Ownership {
  readonly #owners = new Map<string, TenantName | 'shared'>();

  own(tenant: TenantName, value: string): void {
    this.#owners.set(value.toLowerCase(), tenant);
  }

  /** Called when the generator puts a value of one organization where the other one stores it. */
  share(value: string): void {
    const words = [...findMarkedWords('a', value), ...findMarkedWords('b', value)];
    for (const part of [...(value.match(IDENTIFIERS) ?? []), ...words, value])
      this.#owners.set(part.toLowerCase(), 'shared');
  }

  /** Learns the identifiers of a response to `tenant`. */
  learn(tenant: TenantName, text: string): void {
    if (this.#owners.size > MAX_KNOWN) return;
    for (const identifier of text.match(IDENTIFIERS) ?? []) {
      const key = identifier.toLowerCase();
      if (!this.#owners.has(key)) this.#owners.set(key, tenant);
    }
  }

  /** The values in a text that belong to the other organization, or to any for a response that may contain none. */
  findForeign(tenant: TenantName | null, text: string): string[] {
    const foreign = tenant === null ? (['a', 'b'] as const) : [otherName(tenant)];
    const words = foreign.flatMap((name) => findMarkedWords(name, text));
    const identifiers = (text.match(IDENTIFIERS) ?? []).filter((identifier) => {
      const owner = this.#owners.get(identifier.toLowerCase());
      return owner !== undefined && owner !== 'shared' && owner !== tenant;
    });
    return [...words.filter((word) => this.#owners.get(word.toLowerCase()) !== 'shared'), ...identifiers];
  }
}
