import type { FaultName } from '../control/fault.store.ts';
import type { Rail } from '../operations.ts';
import type { DecidedState } from '../pse/transaction.store.ts';

/** Of a key's payment: money that comes in. */
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

/** Of an order: money that goes out. */
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

/** A notice with the rail that says it. */
export type RailNotice =
  | { readonly rail: 'BRE_B'; readonly notice: KeyNotice | OrderNotice }
  | { readonly rail: 'PSE'; readonly notice: PseNotice };

/** `fault` is what struck it: it says something false, or is sent in a bad way. */
export type QueuedNotice = {
  readonly rail: Rail;
  readonly notice: RailNotice['notice'];
  readonly fault: FaultName | null;
};
