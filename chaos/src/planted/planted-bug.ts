import type { ModelInvariantCode } from '../model/invariant-violation.ts';
import type { Step } from '../model/step.ts';

/** A text replacement in the server. The text must occur exactly once, so that an outdated patch fails. */
export interface Patch {
  /** Path relative to server/src. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A realistic bug, and the history that must detect it. */
export interface PlantedBug {
  readonly name: string;
  readonly patches: readonly Patch[];
  readonly steps: readonly Step[];
  /** The model must report one of these; which one is detected first may depend on timing. */
  readonly breaks: readonly ModelInvariantCode[];
  /** Two for bugs that need contention; the default of one starts faster. */
  readonly workers?: 1 | 2;
  readonly apis?: 1 | 2;
}

export const BREB: Step = {
  do: 'create',
  rail: 'BRE_B',
  cents: 250_000,
  payer: 'plain',
  idempotent: true,
  api: 0,
  awaitIdle: true,
};

export function pays(changes: {
  readonly nth?: number;
  readonly share?: 'less' | 'more';
  readonly anyway?: true;
  readonly awaitIdle?: true;
}): Step {
  return { do: 'pay', nth: 0, share: 'full', times: 1, anyway: false, ...changes };
}

export const PAYOUT: Extract<Step, { do: 'payout' }> & { readonly awaitIdle: boolean } = {
  do: 'payout',
  to: 'ok',
  cents: 150_000,
  covered: true,
  lookUp: 'no',
  idempotent: true,
  api: 0,
  awaitIdle: true,
};

/** A fault for the next order. */
export function orderFault(fault: 'down' | 'lost-answer' | 'rate-limited'): Step {
  return { do: 'fault', rail: 'BRE_B', on: 'order', fault, times: 1 };
}
