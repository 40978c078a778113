import type { WaitingNotice } from './notice.store.ts';
import type { Spoilt } from './post-notices.ts';

/** One sending of a notice, repeated until it is acknowledged. A duplicated notice has two. */
export type Delivery = {
  /** First in, first out. */
  readonly order: number;
  readonly waiting: WaitingNotice;
  readonly isCopy: boolean;
  readonly offeredAtMs: number;
  dueMs: number;
  tries: number;
  /** Which of the bases it was last sent to; a repeat goes to the next one. */
  base: number;
};

/** Faults that spoil the first attempt and let the next one be right. */
const FIRST_ATTEMPT = new Set(['bad-signature', 'reset', 'hang', 'lost-answer']);

/** A post is signed, broken or lost as a whole, and a fault is of one notice: such a one travels alone. */
export function travelsAlone(delivery: Delivery): boolean {
  return delivery.isCopy || spoiltFault(delivery) !== null;
}

export function spoiltHow(delivery: Delivery | undefined): Spoilt {
  const fault = delivery === undefined ? null : spoiltFault(delivery);
  return fault === 'bad-signature' || fault === 'reset' || fault === 'hang' ? fault : null;
}

export function losesAnswer(delivery: Delivery | undefined): boolean {
  return delivery !== undefined && spoiltFault(delivery) === 'lost-answer';
}

function spoiltFault({ waiting, tries }: Delivery): string | null {
  const { fault } = waiting;
  return fault !== null && tries === 0 && FIRST_ATTEMPT.has(fault) ? fault : null;
}
