/** A header of the merchant's choice that every delivery carries. */
export interface StaticHeader {
  readonly name: string;
  readonly value: string;
}

/** Where events of an organization are delivered. */
export interface Endpoint {
  readonly organizationId: string;
  readonly id: string;
  readonly url: string;
  /** Null: all. */
  readonly events: readonly string[] | null;
  readonly description: string | null;
  readonly staticHeader: StaticHeader | null;
  readonly status: 'ENABLED' | 'DISABLED';
  readonly disabledReason: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The reason where its owner disabled it; all others are the service's. */
export const DISABLED_BY_OWNER = 'by_owner';
