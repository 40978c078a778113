/** A payment link that the API acknowledged to a merchant, and what the history did with it. */
export interface KnownLink {
  readonly id: string;
  readonly cents: number;
  readonly hasCustomer: boolean;
  /** Path of the payer's page; every API serves it. */
  readonly path: string;
  /** The payer's browser: the cookie that remembers the attempts it started. */
  cookie: string | null;
  /** Whether the merchant asked to close it, and whether a response acknowledged that. */
  closing: 'no' | 'requested' | 'acknowledged';
}
