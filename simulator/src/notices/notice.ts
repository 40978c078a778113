import type { FaultName } from '../control/fault.store.ts';
import type { Rail } from '../operations.ts';
import type { DecidedState } from '../pse/transaction.store.ts';

/** Notice of an incoming payment to a key. */
type KeyNotice = {
  readonly noticeId: string;
  readonly type: 'SETTLED' | 'REJECTED' | 'CANCELED';
  readonly key: string;
  readonly internalId: string;
  readonly executionId: string | null;
  readonly endToEndId: string | null;
  readonly amount: string | null;
  readonly currency: 'COP';
  readonly code: string | null;
  readonly at: string;
};

/** Notice of an order (outgoing payment). */
type OrderNotice = {
  readonly noticeId: string;
  readonly type: 'ORDER_SETTLED' | 'ORDER_REJECTED';
  readonly endToEndId: string;
  readonly internalId: string;
  readonly executionId: string | null;
  readonly amount: string;
  readonly currency: 'COP';
  readonly code: string | null;
  readonly at: string;
};

type PseNotice = {
  readonly noticeId: string;
  readonly reference: string;
  readonly transactionId: string;
  readonly trazabilityCode: string;
  readonly state: DecidedState;
  readonly amount: string;
  readonly currency: 'COP';
  readonly reason: string | null;
  readonly at: string;
};

/** A notice with its rail. */
export type RailNotice =
  | { readonly rail: 'BRE_B'; readonly notice: KeyNotice | OrderNotice }
  | { readonly rail: 'PSE'; readonly notice: PseNotice };

/** `fault` is the fault applied to the notice: it changes its content or its delivery. */
export type QueuedNotice = {
  readonly rail: Rail;
  readonly notice: RailNotice['notice'];
  readonly fault: FaultName | null;
};
