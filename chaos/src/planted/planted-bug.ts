import type { InvariantName } from '../model/invariant-violation.ts';
import type { Step } from '../model/step.ts';

/** A change of one text in the server. The text must be there exactly once, so that no patch rots unseen. */
export interface Patch {
  /** From server/src. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

/** A mistake that somebody could make, and the history that must find it. */
export interface PlantedBug {
  readonly name: string;
  readonly patches: readonly Patch[];
  readonly steps: readonly Step[];
  /** What the model must find broken: one of these, for which of them is seen first may depend on the moment. */
  readonly breaks: readonly InvariantName[];
  /** Where two have to meet; one is enough for the others, and a process less to start each time. */
  readonly workers?: 1 | 2;
  readonly apis?: 1 | 2;
}

export const BREB: Step = {
  do: 'create',
  rail: 'BRE_B',
  cents: 250_000,
  payer: 'plain',
  keyed: true,
  api: 0,
  quiet: true,
};

export function pays(changes: {
  readonly nth?: number;
  readonly share?: 'less' | 'more';
  readonly anyway?: true;
  readonly quiet?: true;
}): Step {
  return { do: 'pay', nth: 0, share: 'full', times: 1, anyway: false, ...changes };
}

export const PAYOUT: Extract<Step, { do: 'payout' }> & { readonly quiet: boolean } = {
  do: 'payout',
  to: 'ok',
  cents: 150_000,
  covered: true,
  lookUp: 'no',
  keyed: true,
  api: 0,
  quiet: true,
};

/** What becomes of the next one that is sent. */
export function ordersAre(fault: 'down' | 'lost-answer'): Step {
  return { do: 'fault', rail: 'BRE_B', on: 'order', fault, times: 1 };
}
