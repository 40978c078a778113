import type { SecretKey } from '../kit/crypto.ts';
import type { Rail } from '../rails/contract.ts';

export const SCOPES = [
  'payins:read',
  'payins:write',
  'payouts:read',
  'payouts:write',
  'payment_links:read',
  'payment_links:write',
  'breb_keys:read',
  'events:read',
  'events:write',
  'webhooks:read',
  'webhooks:write',
  'balance:read',
] as const;
export type Scope = (typeof SCOPES)[number];

/** What the service knows of a merchant and needs on nearly every request. */
export interface Organization {
  readonly id: string;
  /** Short handle carried in checkout addresses. */
  readonly number: number;
  readonly name: string;
  readonly accent: string;
  readonly supportContact: string;
  readonly rails: ReadonlySet<Rail>;
  readonly city: string;
  readonly postalCode: string;
  readonly merchantCategory: string;
  /** An operator froze it: it creates nothing and none of its payouts is sent. */
  readonly suspended: boolean;
}

/** Which amounts confirm its direct payins: only the requested one (the default), or whatever arrives. */
export type AmountPolicy = 'EXACT' | 'ANY';

/** How much an organization may ask for: null is what the deployment allows anyone, 0 no limit. */
export interface Limits {
  readonly writesPerSecond: number | null;
  readonly readsPerSecond: number | null;
}

/** Who is calling: an organization by one of its credentials. */
export interface Principal {
  readonly organization: Organization;
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
  readonly limits: Limits;
  readonly secrets: OrganizationSecrets;
}

/** Keys derived from an organization's data key. They never leave the process. */
export interface OrganizationSecrets {
  /** Encrypts personal data. */
  readonly dataKey: SecretKey;
  /** Hashes idempotency keys and bodies, so that a dump cannot be searched by guessing. */
  readonly hashKey: SecretKey;
}

/** Owns what belongs to no merchant: raw and unmatched notices, suspense, returns. */
export const OPERATOR_ORGANIZATION_ID = '00000000-0000-7000-8000-000000000001';
