import type { PayoutRequest } from './merchant.ts';

/** A payout of which a merchant was told. */
export interface KnownPayout {
  readonly id: string;
  readonly cents: number;
  /** The receiver's. */
  readonly key: string;
  readonly request: PayoutRequest;
  /** What the rail must know it by, from the first send to the last. */
  readonly endToEndId: string;
}
