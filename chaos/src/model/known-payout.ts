import type { PayoutRequest } from './merchant.ts';

/** A payout that the API acknowledged to a merchant. */
export interface KnownPayout {
  readonly id: string;
  readonly cents: number;
  /** The receiver's Bre-B key. */
  readonly key: string;
  readonly request: PayoutRequest;
  /** The id that every send to the rail must carry. */
  readonly endToEndId: string;
}
