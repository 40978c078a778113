import * as fc from 'fast-check';
import { LISTINGS, ORDER_ENDINGS, PAY_CALLS, type PayoutOrder, RECEIVERS } from './payout-step.ts';
import { CALL_FAULTS, type Step } from './step.ts';

const nth = fc.nat({ max: 5 });
const api = fc.constantFrom(0 as const, 1 as const);
const times = fc.integer({ min: 1, max: 2 });

/** The network rejects the large amounts at submission. */
const cents = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 9_000_000 }) },
  { weight: 1, arbitrary: fc.constant(1_200_000_000) },
);

export const payoutOrder: fc.Arbitrary<PayoutOrder> = fc.record({
  to: fc.constantFrom(...RECEIVERS, 'ok', 'ok', 'own', 'own', 'lost_answer', 'never'),
  cents,
  covered: fc.constantFrom(true, true, true, true, true, true, true, false),
  lookUp: fc.constantFrom('no', 'no', 'newest', 'named', 'named'),
  idempotent: fc.boolean(),
});

function step<Do extends Step['do'], Rest extends object>(
  name: Do,
  rest: fc.Arbitrary<Rest>,
): fc.Arbitrary<{ do: Do } & Rest> {
  return rest.map((drawn) => ({ do: name, ...drawn }));
}

const rail = fc.constant('BRE_B' as const);

/** Mostly faults of orders, since misreading their responses is the worst bug. */
const fault = fc.record({
  rail,
  on: fc.constantFrom(...PAY_CALLS, 'order' as const, 'order' as const),
  fault: fc.constantFrom(...CALL_FAULTS),
  times,
});
const rejectedKey = fc.record({
  rail,
  on: fc.constant('resolve' as const),
  fault: fc.constant('rejected' as const),
  code: fc.constantFrom('0004' as const, '0006' as const, '5000' as const),
  times,
});

/** The first polls, the time after which no order can be in flight, and the expiry of key resolutions. */
const seconds = fc.constantFrom(3, 6, 31, 39, 45, 61, 660);

const weighted: readonly (readonly [number, fc.Arbitrary<Step>])[] = [
  [
    24,
    step(
      'payout',
      fc.tuple(payoutOrder, api).map(([order, at]) => ({ ...order, api: at })),
    ),
  ],
  [3, step('concurrent_payouts', payoutOrder)],
  [2, step('competing_payouts', fc.record({ meet: fc.boolean() }))],
  [
    4,
    step(
      'repeat_payout',
      fc.record({
        nth,
        how: fc.constantFrom('same' as const, 'other_body' as const, 'other_key' as const),
        api,
      }),
    ),
  ],
  [
    9,
    step(
      'payout_then_cancel',
      fc.tuple(payoutOrder, api, fc.boolean()).map(([order, at, both]) => ({ ...order, api: at, both })),
    ),
  ],
  [5, step('cancel', fc.record({ nth, both: fc.boolean() }))],
  [2, step('look_up', fc.record({ to: fc.constantFrom(...RECEIVERS), api }))],
  [5, step('directory', fc.record({ how: fc.constantFrom(...LISTINGS) }))],
  [9, step('end_order', fc.record({ nth, how: fc.constantFrom(...ORDER_ENDINGS), anyway: fc.boolean() }))],
  [11, step('fault', fault)],
  [1, step('fault', rejectedKey)],
  [10, step('shift', fc.record({ seconds }))],
  [3, step('read_payout', fc.record({ nth }))],
];

export const anyPayoutStep: fc.Arbitrary<Step> = fc.oneof(
  ...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })),
);

const sent = fc
  .tuple(payoutOrder, api)
  .map(([order, at]) => ({ do: 'payout' as const, ...order, covered: true, api: at, awaitIdle: true }));
const passes = (...choice: readonly number[]) =>
  fc.constantFrom(...choice).map((drawn) => ({ do: 'shift' as const, seconds: drawn, awaitIdle: true }));
const losesNotice = { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 } as const;
const endsAnyway = (how: 'settled' | 'refused'): Step => ({
  do: 'end_order',
  nth: -1,
  how,
  anyway: true,
  awaitIdle: true,
});

/**
 * Step sequences that are only meaningful together. Drawn independently they hardly ever combine: of 255 payouts in such
 * histories, four were resent and none was executed after its rejection.
 */
export const anyPayoutSequence: fc.Arbitrary<Step[]> = fc.oneof(
  // The order or its response is lost.
  fc
    .tuple(fc.constantFrom(...CALL_FAULTS), times, fc.boolean(), sent, passes(3, 39, 45), passes(6, 61, 660))
    .map(([how, many, silent, payout, first, second]): Step[] => [
      { do: 'fault', rail: 'BRE_B', on: 'order', fault: how, times: many },
      ...(silent ? [losesNotice] : []),
      payout,
      first,
      second,
    ]),
  // The key resolution expires, and the key may have changed.
  fc
    .tuple(sent, fc.option(fc.constantFrom(...LISTINGS), { nil: null }), passes(660, 1210))
    .map(([payout, how, time]): Step[] => [
      { do: 'fault', rail: 'BRE_B', on: 'order', fault: 'down', times: 1 },
      { ...payout, to: 'own', lookUp: 'named' },
      ...(how === null ? [] : [{ do: 'directory' as const, how }]),
      time,
    ]),
  // The rail reverses its decision.
  fc
    .tuple(sent, fc.boolean(), fc.boolean(), passes(6, 61))
    .map(([payout, rejected, silent, time]): Step[] => [
      { ...payout, to: rejected ? 'declined' : 'ok' },
      ...(silent ? [losesNotice] : []),
      endsAnyway(rejected ? 'settled' : 'refused'),
      time,
    ]),
);
