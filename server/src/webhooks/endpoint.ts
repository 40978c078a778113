import type { RowId } from '../db/columns.ts';

/** Custom header sent with every delivery. */
export interface StaticHeader {
  readonly name: string;
  readonly value: string;
}

/** `by_owner`: the merchant did it. `gone`: the endpoint responded 410. `no_success_5d`: no success for five days. */
export const DISABLED_REASONS = ['by_owner', 'gone', 'no_success_5d'] as const;

export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Destination of an organization's events. */
export interface Endpoint extends RowId {
  readonly url: string;
  /** Null: all events. */
  readonly events: readonly string[] | null;
  readonly description: string | null;
  readonly staticHeader: StaticHeader | null;
  readonly status: 'ENABLED' | 'DISABLED';
  readonly disabledReason: DisabledReason | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** `disabledReason` when the merchant disabled the endpoint; the service sets all other reasons. */
export const DISABLED_BY_OWNER: DisabledReason = 'by_owner';
