import * as fc from 'fast-check';
import { LISTINGS, ORDER_ENDINGS, PAY_CALLS, type PayoutOrder, RECEIVERS } from './payout-step.ts';
import { CALL_FAULTS, type Step } from './step.ts';

const nth = fc.nat({ max: 5 });
const api = fc.constantFrom(0 as const, 1 as const);
const times = fc.integer({ min: 1, max: 2 });

/** The network refuses the large ones at its door. */
const cents = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 9_000_000 }) },
  { weight: 1, arbitrary: fc.constant(1_200_000_000) },
);

export const payoutOrder: fc.Arbitrary<PayoutOrder> = fc.record({
  to: fc.constantFrom(...RECEIVERS, 'ok', 'ok', 'own', 'own', 'lost answer', 'never'),
  cents,
  covered: fc.constantFrom(true, true, true, true, true, true, true, false),
  lookUp: fc.constantFrom('no', 'no', 'newest', 'named', 'named'),
  keyed: fc.boolean(),
});

function step<Do extends Step['do'], Rest extends object>(
  name: Do,
  rest: fc.Arbitrary<Rest>,
): fc.Arbitrary<{ do: Do } & Rest> {
  return rest.map((drawn) => ({ do: name, ...drawn }));
}

const rail = fc.constant('BRE_B' as const);

/** Orders most of all: it is their answers that must not be taken for something else. */
const fault = fc.record({
  rail,
  on: fc.constantFrom(...PAY_CALLS, 'order' as const, 'order' as const),
  fault: fc.constantFrom(...CALL_FAULTS),
  times,
});
const refusedKey = fc.record({
  rail,
  on: fc.constant('resolve' as const),
  fault: fc.constant('rejected' as const),
  code: fc.constantFrom('0004' as const, '0006' as const, '5000' as const),
  times,
});

/** The first questions, the moment in which nothing can be under way any more, and promises that have grown old. */
const seconds = fc.constantFrom(3, 6, 31, 39, 45, 61, 660);

const weighted: readonly (readonly [number, fc.Arbitrary<Step>])[] = [
  [
    24,
    step(
      'payout',
      fc.tuple(payoutOrder, api).map(([of, at]) => ({ ...of, api: at })),
    ),
  ],
  [3, step('payout twins', payoutOrder)],
  [2, step('rivals', fc.record({ meet: fc.boolean() }))],
  [
    4,
    step(
      'repeat payout',
      fc.record({
        nth,
        how: fc.constantFrom('same' as const, 'other body' as const, 'other key' as const),
        api,
      }),
    ),
  ],
  [
    9,
    step(
      'fleeting payout',
      fc.tuple(payoutOrder, api, fc.boolean()).map(([of, at, both]) => ({ ...of, api: at, both })),
    ),
  ],
  [5, step('cancel', fc.record({ nth, both: fc.boolean() }))],
  [2, step('look up', fc.record({ to: fc.constantFrom(...RECEIVERS), api }))],
  [5, step('directory', fc.record({ how: fc.constantFrom(...LISTINGS) }))],
  [9, step('end order', fc.record({ nth, how: fc.constantFrom(...ORDER_ENDINGS), anyway: fc.boolean() }))],
  [11, step('fault', fault)],
  [1, step('fault', refusedKey)],
  [10, step('shift', fc.record({ seconds }))],
  [3, step('read payout', fc.record({ nth }))],
];

export const anyPayoutStep: fc.Arbitrary<Step> = fc.oneof(
  ...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })),
);

const sent = fc
  .tuple(payoutOrder, api)
  .map(([of, at]) => ({ do: 'payout' as const, ...of, covered: true, api: at, quiet: true }));
const passes = (...choice: readonly number[]) =>
  fc.constantFrom(...choice).map((many) => ({ do: 'shift' as const, seconds: many, quiet: true }));
const losesNotice = { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 } as const;
const endsAnyway = (how: 'settled' | 'refused'): Step => ({
  do: 'end order',
  nth: -1,
  how,
  anyway: true,
  quiet: true,
});

/**
 * Steps that mean something only in a row. Drawn one by one they hardly ever meet: of 255 payouts of such histories four
 * were sent again, and none was executed after its rejection.
 */
export const anyPayoutStory: fc.Arbitrary<Step[]> = fc.oneof(
  // Its order is lost on the way, or what became of it is.
  fc
    .tuple(fc.constantFrom(...CALL_FAULTS), times, fc.boolean(), sent, passes(3, 39, 45), passes(6, 61, 660))
    .map(([how, many, silent, payout, first, second]): Step[] => [
      { do: 'fault', rail: 'BRE_B', on: 'order', fault: how, times: many },
      ...(silent ? [losesNotice] : []),
      payout,
      first,
      second,
    ]),
  // The promise about its key grows old, and perhaps wrong.
  fc
    .tuple(sent, fc.option(fc.constantFrom(...LISTINGS), { nil: null }), passes(660, 1210))
    .map(([payout, how, time]): Step[] => [
      { do: 'fault', rail: 'BRE_B', on: 'order', fault: 'down', times: 1 },
      { ...payout, to: 'own', lookUp: 'named' },
      ...(how === null ? [] : [{ do: 'directory' as const, how }]),
      time,
    ]),
  // The rail thinks again.
  fc
    .tuple(sent, fc.boolean(), fc.boolean(), passes(6, 61))
    .map(([payout, rejected, silent, time]): Step[] => [
      { ...payout, to: rejected ? 'declined' : 'ok' },
      ...(silent ? [losesNotice] : []),
      endsAnyway(rejected ? 'settled' : 'refused'),
      time,
    ]),
);
