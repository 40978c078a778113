import type { WaitingNotice } from './notice.store.ts';
import type { PostFault } from './post-notices.ts';

/** A notice to deliver, retried until it is acknowledged. A duplicated notice has two deliveries. */
export type Delivery = {
  /** Position in FIFO order. */
  readonly order: number;
  readonly waiting: WaitingNotice;
  readonly isCopy: boolean;
  readonly offeredAtMs: number;
  dueMs: number;
  tries: number;
  /** Index of the base URL of the last attempt; a retry uses the next one. */
  base: number;
};

/** Faults that affect only the first attempt. */
const FIRST_ATTEMPT_FAULTS = new Set(['bad-signature', 'reset', 'hang', 'lost-answer']);

/** A fault applies to one notice but affects the whole post, so the notice is posted alone. */
export function isSentAlone(delivery: Delivery): boolean {
  return delivery.isCopy || getFirstAttemptFault(delivery) !== null;
}

export function toPostFault(delivery: Delivery | undefined): PostFault {
  const fault = delivery === undefined ? null : getFirstAttemptFault(delivery);
  return fault === 'bad-signature' || fault === 'reset' || fault === 'hang' ? fault : null;
}

export function losesAnswer(delivery: Delivery | undefined): boolean {
  return delivery !== undefined && getFirstAttemptFault(delivery) === 'lost-answer';
}

function getFirstAttemptFault({ waiting, tries }: Delivery): string | null {
  const { fault } = waiting;
  return fault !== null && tries === 0 && FIRST_ATTEMPT_FAULTS.has(fault) ? fault : null;
}
