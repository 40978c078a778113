import type { Random } from '../../../chaos/src/run/random.ts';
import { Ring } from './ring.ts';

export type TenantName = 'a' | 'b';

/** Every text that an organization sends contains its marker, so that its data can be recognized in any response. */
const MARKERS = {
  a: { word: 'amapola', phone: '+573007711', document: '11017' },
  b: { word: 'bromelia', phone: '+573008822', document: '11028' },
} as const;

const PATTERNS: Readonly<Record<TenantName, RegExp>> = {
  a: /amapola[-\w.]*|\b573007711\d{3}\b|\b11017\d{5}\b/gi,
  b: /bromelia[-\w.]*|\b573008822\d{3}\b|\b11028\d{5}\b/gi,
};

/** Documents for which the simulator's payers act: they pay, decline, cancel, pay late, twice, half or double. */
const PAYER_DOCUMENTS = ['01', '03', '05', '07', '09', '11', '13', '19'] as const;

/** What an organization has: credentials, and the values that responses to it contained. */
export class Tenant {
  readonly name: TenantName;
  readonly organizationId: string;
  readonly apiKey: string;
  /** Access tokens. */
  readonly tokens = new Ring<string>(32);
  readonly idempotencyKeys = new Ring<string>();
  readonly references = new Ring<string>();
  /** Paths of checkout pages and receipts. */
  readonly pages = new Ring<string>();
  readonly cookies = new Ring<string>(64);
  readonly receiptCodes = new Ring<string>(64);
  readonly #pools = new Map<string, Ring<string>>();

  constructor(name: TenantName, organization: { readonly organizationId: string; readonly apiKey: string }) {
    this.name = name;
    this.organizationId = organization.organizationId;
    this.apiKey = organization.apiKey;
  }

  /** The public part of the API key, which is the client id at the token endpoint. */
  get keyId(): string {
    return this.apiKey.split('_')[2] ?? '';
  }

  get word(): string {
    return MARKERS[this.name].word;
  }

  /** Values by kind: `payins`, `lookupId`, `cursor listPayins` and so on. */
  pool(kind: string): Ring<string> {
    let ring = this.#pools.get(kind);
    if (!ring) {
      ring = new Ring();
      this.#pools.set(kind, ring);
    }
    return ring;
  }

  get pools(): ReadonlyMap<string, Ring<string>> {
    return this.#pools;
  }

  phone(index: number): string {
    return `${MARKERS[this.name].phone}${String(index % 1000).padStart(3, '0')}`;
  }

  document(random: Random, index: number): string {
    if (random.chance(0.4)) return `10000000${random.pick(PAYER_DOCUMENTS)}`;
    return `${MARKERS[this.name].document}${String(index % 100_000).padStart(5, '0')}`;
  }
}

/** The marked words of an organization in a text. */
export function findMarkedWords(name: TenantName, text: string): string[] {
  return text.match(PATTERNS[name]) ?? [];
}

export function otherName(name: TenantName): TenantName {
  return name === 'a' ? 'b' : 'a';
}
