import * as fc from 'fast-check';
import { anyLinkSequence, anyLinkStart, anyLinkStep } from './generate-link-steps.ts';
import { anyPayoutSequence, anyPayoutStep, payoutOrder } from './generate-payout-steps.ts';
import { CALL_FAULTS, CALLS, ENDINGS, NOTICE_FAULTS, type Order, type Step } from './step.ts';

const rail = fc.constantFrom('BRE_B' as const, 'PSE' as const);
const nth = fc.nat({ max: 5 });
const api = fc.constantFrom(0 as const, 1 as const);
const how = fc.constantFrom(...ENDINGS);

/** PSE rejects less than 1,500 pesos; some amounts are smaller. */
const cents = fc.oneof(
  { weight: 7, arbitrary: fc.integer({ min: 150_000, max: 9_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1000, max: 149_999 }) },
);

const order: fc.Arbitrary<Order> = fc.record({
  rail,
  cents,
  payer: fc.oneof(
    { weight: 12, arbitrary: fc.constant('plain' as const) },
    { weight: 1, arbitrary: fc.constant('none' as const) },
    { weight: 1, arbitrary: fc.constant('refused' as const) },
  ),
  idempotent: fc.boolean(),
});

function step<Do extends Step['do'], Rest extends object>(
  name: Do,
  rest: fc.Arbitrary<Rest>,
): fc.Arbitrary<{ do: Do } & Rest> {
  return rest.map((drawn) => ({ do: name, ...drawn }));
}

const nothing = fc.constant({});

const noticeFault = fc.record({
  rail,
  on: fc.constant('notice' as const),
  // `reorder` is drawn less often: a held-back notice takes two seconds.
  fault: fc.constantFrom(...NOTICE_FAULTS, ...NOTICE_FAULTS.filter((fault) => fault !== 'reorder')),
  times: fc.integer({ min: 1, max: 2 }),
});
/** At most two: after three failures in a row the server's circuit opens for a second, which would slow every history. */
const callFault = fc.record({
  rail,
  on: fc.constantFrom(...CALLS),
  fault: fc.constantFrom(...CALL_FAULTS),
  times: fc.integer({ min: 1, max: 2 }),
});

/** The times of the server's polls, the banks' timeouts and the payins' expiry, and times shortly before. */
const seconds = fc.constantFrom(2, 31, 301, 480, 660, 1210, 3000, 3660);

const weighted: readonly (readonly [number, fc.Arbitrary<Step>])[] = [
  [
    20,
    step(
      'create',
      fc.tuple(order, api).map(([drawn, at]) => ({ ...drawn, api: at })),
    ),
  ],
  [3, step('concurrent_payins', order)],
  [
    4,
    step(
      'repeat',
      fc.record({
        nth,
        how: fc.constantFrom('same' as const, 'other_body' as const, 'other_key' as const),
        api,
      }),
    ),
  ],
  [
    22,
    step(
      'pay',
      fc.record({
        nth,
        share: fc.constantFrom('full' as const, 'full' as const, 'less' as const, 'more' as const),
        times: fc.constantFrom(1 as const, 1 as const, 1 as const, 2 as const),
        anyway: fc.boolean(),
      }),
    ),
  ],
  [1, step('stray', fc.record({ cents }))],
  [9, step('end', fc.record({ nth, how, anyway: fc.boolean() }))],
  [7, step('fault', noticeFault)],
  [6, step('fault', callFault)],
  [2, step('clear', nothing)],
  [7, step('shift', fc.record({ seconds }))],
  [2, step('near_expiry', fc.record({ nth, leftMs: fc.constantFrom(50, 300) }))],
  [
    4,
    step(
      'race',
      fc.record({ nth, with: fc.constantFrom('payment' as const, 'payment' as const, ...ENDINGS) }),
    ),
  ],
  [4, step('accept', fc.record({ nth }))],
  [2, step('contend', fc.record({ nth, other: nth }))],
  [3, step('read', fc.record({ nth }))],
  [2, step('balance', nothing)],
];

const payinStep = fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** Most histories have payins and payouts, which share a balance and a rail. */
const action = fc.oneof({ weight: 11, arbitrary: payinStep }, { weight: 9, arbitrary: anyPayoutStep });

/** Two of three steps wait until the stack is idle. */
function sometimesAwaitIdle(drawn: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> {
  return fc
    .tuple(drawn, fc.constantFrom(true, true, false))
    .map(([each, awaitIdle]) => [awaitIdle ? { ...each, awaitIdle } : each]);
}

const anyPart: fc.Arbitrary<Step[]> = fc.oneof(
  { weight: 14, arbitrary: sometimesAwaitIdle(action) },
  { weight: 1, arbitrary: anyPayoutSequence },
);

/** Steps of payins also apply to the attempts of links. */
const anyLinkPart: fc.Arbitrary<Step[]> = fc.oneof(
  { weight: 8, arbitrary: sometimesAwaitIdle(anyLinkStep) },
  { weight: 5, arbitrary: sometimesAwaitIdle(payinStep) },
  { weight: 2, arbitrary: anyLinkSequence },
);

/** Settlement is a command, which takes as long as a whole history, so only some histories end with it. */
const settling = fc.oneof(
  { weight: 24, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.constant<Step[]>([{ do: 'settle' }, { do: 'balance' }]) },
);

const first: fc.Arbitrary<Step> = fc.oneof(
  order.map((drawn) => ({ do: 'create' as const, ...drawn, api: 0 as const, awaitIdle: true })),
  payoutOrder.map((drawn) => ({ do: 'payout' as const, ...drawn, api: 0 as const })),
);

function history(start: fc.Arbitrary<Step[]>, part: fc.Arbitrary<Step[]>): fc.Arbitrary<Step[]> {
  return fc
    .tuple(start, fc.array(part, { minLength: 6, maxLength: 12 }), settling)
    .map(([steps, parts, last]) => [...steps, ...parts.flat(), ...last]);
}

/** Plain data, so that the printed steps of a failing history can be kept as a regression test. */
export const anyHistory: fc.Arbitrary<Step[]> = fc.oneof(
  {
    weight: 3,
    arbitrary: history(
      first.map((step) => [step]),
      anyPart,
    ),
  },
  { weight: 1, arbitrary: history(anyLinkStart, anyLinkPart) },
);
