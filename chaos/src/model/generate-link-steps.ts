import * as fc from 'fast-check';
import type { Step } from './step.ts';

const nth = fc.nat({ max: 1 });
const api = fc.constantFrom(0 as const, 1 as const);
/** More attempts on Bre-B, because only its payers choose the amount. */
const rail = fc.constantFrom('BRE_B' as const, 'BRE_B' as const, 'PSE' as const);
const cents = fc.integer({ min: 400_000, max: 9_000_000 });
const share = fc.constantFrom('full' as const, 'less' as const, 'less' as const, 'more' as const);

function step<Do extends Step['do'], Rest extends object>(
  name: Do,
  rest: fc.Arbitrary<Rest>,
): fc.Arbitrary<{ do: Do } & Rest> {
  return rest.map((drawn) => ({ do: name, ...drawn }));
}

const creation = step('create_link', fc.record({ cents, hasCustomer: fc.boolean(), api }));

/** The lifetimes of a key and of a link, and times before. */
const seconds = fc.constantFrom(31, 301, 901, 1210, 3660);

const weighted: readonly (readonly [number, fc.Arbitrary<Step>])[] = [
  [2, creation],
  [16, step('start_attempt', fc.record({ nth, rail, api }))],
  [3, step('concurrent_attempts', fc.record({ nth, rails: fc.tuple(rail, rail) }))],
  [5, step('change_method', fc.record({ nth, api }))],
  [
    20,
    step(
      'pay_attempt',
      fc.record({
        nth,
        back: fc.constantFrom(0, 0, 0, 1, 2),
        share,
        times: fc.constantFrom(1 as const, 1 as const, 1 as const, 2 as const),
        anyway: fc.boolean(),
      }),
    ),
  ],
  [4, step('pay_two_attempts', fc.record({ nth }))],
  [3, step('close_link', fc.record({ nth, both: fc.boolean() }))],
  [2, step('read_link', fc.record({ nth }))],
  [3, step('shift', fc.record({ seconds }))],
];

export const anyLinkStep: fc.Arbitrary<Step> = fc.oneof(
  ...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })),
);

const starts = fc
  .tuple(rail, api)
  .map(([on, at]) => ({ do: 'start_attempt' as const, nth: 0, rail: on, api: at, awaitIdle: true }));

function paysInFull(back: number): Step {
  return { do: 'pay_attempt', nth: 0, back, share: 'full', times: 1, anyway: false };
}

/**
 * Step sequences that are only meaningful together. Drawn independently they hardly ever combine: of 91 links in such
 * histories, none was paid on both rails.
 */
export const anyLinkSequence: fc.Arbitrary<Step[]> = fc.oneof(
  // A part, and an attempt for the rest.
  fc
    .tuple(starts, fc.constantFrom(1 as const, 2 as const), starts)
    .map(([first, times, second]): Step[] => [
      { ...first, rail: 'BRE_B' },
      { do: 'pay_attempt', nth: 0, back: 0, share: 'less', times, anyway: false, awaitIdle: true },
      second,
    ]),
  // Both rails at once.
  fc
    .tuple(fc.boolean(), fc.boolean())
    .map(([meet, awaitIdle]): Step[] => [
      { do: 'concurrent_attempts', nth: 0, rails: ['PSE', 'BRE_B'], awaitIdle: true },
      ...(meet ? [{ do: 'pay_two_attempts' as const, nth: 0 }] : [paysInFull(0), paysInFull(1)]).map(
        (step): Step => ({ ...step, awaitIdle }),
      ),
    ]),
);

/** A link with its first attempt. */
export const anyLinkStart: fc.Arbitrary<Step[]> = fc
  .tuple(creation, starts)
  .map(([created, start]): Step[] => [created, start]);
