import type { SecretKey } from '../kit/crypto.ts';
import type { KeyRing } from '../kit/key-ring.ts';
import type { Rail } from '../rails/contract.ts';
import type { AllowedAddresses } from './allowed-addresses.ts';

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

/** The attributes of a merchant that nearly every request needs. */
export interface Organization {
  readonly id: string;
  /** Short handle in checkout URLs. */
  readonly number: number;
  readonly name: string;
  /** Registered company name; null: not recorded. */
  readonly legalName: string | null;
  /** NIT with its check digit, such as `900123456-8`; null: not recorded. */
  readonly taxId: string | null;
  readonly accent: string;
  readonly supportContact: string;
  readonly rails: ReadonlySet<Rail>;
  readonly city: string;
  readonly postalCode: string;
  readonly merchantCategory: string;
  /** Suspended by an operator: the organization cannot create anything and its payouts are not sent. */
  readonly suspended: boolean;
}

/** Which amounts confirm direct payins: only the requested amount (EXACT, the default) or any amount. */
export type AmountPolicy = 'EXACT' | 'ANY';

/** Rate limits of an organization; null: the default of the deployment, 0: no limit. */
export interface Limits {
  readonly writesPerSecond: number | null;
  readonly readsPerSecond: number | null;
}

/** The authenticated caller: an organization and the API key it used. */
export interface Principal {
  readonly organization: Organization;
  readonly keyId: string;
  readonly scopes: ReadonlySet<string>;
  readonly limits: Limits;
  /** Limits of the API key itself, besides those of the organization; null: none. */
  readonly keyLimits: Limits;
  /** Where the API key may be used from; null: anywhere. */
  readonly allowedAddresses: AllowedAddresses | null;
  readonly secrets: OrganizationSecrets;
}

/** The keys of an organization. They never leave the process. */
export interface OrganizationSecrets {
  /** Encrypts personal data. Its keys may be replaced while the object is held. */
  readonly dataKey: KeyRing;
  /**
   * Hashes idempotency keys, bodies, receivers and holders, so that values in a dump cannot be found by guessing. It never
   * changes: stored hashes are compared with new ones.
   */
  readonly hashKey: SecretKey;
}

/** The operator's own organization. It owns what belongs to no merchant: raw and unmatched notices, suspense, returns. */
export const OPERATOR_ORGANIZATION_ID = '00000000-0000-7000-8000-000000000001';
