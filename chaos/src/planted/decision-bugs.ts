import { BREB, type PlantedBug, pays } from './planted-bug.ts';

const OUTCOME = 'payins/payin.outcome.ts';
const ASKING = 'flows/payins/poll-rail-status.ts';
const WORDS = 'flows/payins/apply-payin-updates.ts';
const MOVES = 'payins/payin-outcome.store.ts';

/** The server takes what it hears for something else than it is. */
export const BUGS_OF_JUDGEMENT: readonly PlantedBug[] = [
  {
    name: 'an unknown answer is taken for a refusal',
    patches: [
      {
        file: ASKING,
        find: 'else silent.push(task);',
        replace: `else words.push({ rail: this.#rail, reference, notification: null, pastProcessingWindow: false, railStatus: { state: 'declined', payments: [], errorCode: 'RAIL_TIMEOUT' } });`,
      },
    ],
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'ask', fault: 'down', times: 1 },
      { do: 'shift', seconds: 31, quiet: true },
    ],
    breaks: ['railEnds'],
  },
  {
    name: "expiry is judged by the process's clock",
    patches: [
      {
        file: WORDS,
        find: 'expired: payin.expired,',
        replace: 'expired: payin.expires_at.getTime() <= Date.now(),',
      },
    ],
    steps: [BREB, { do: 'shift', seconds: 3660, quiet: true }],
    breaks: ['rest', 'ends'],
  },
  {
    name: 'expiry cancels without closing at the rail',
    patches: [
      {
        file: ASKING,
        find: 'const standings = canClose ? await this.#closeThenAsk(references) : await this.#ask(references);',
        replace: 'const standings = await this.#ask(references);',
      },
      {
        file: OUTCOME,
        find: `if (state === 'closed') return`,
        replace: `if (state === 'closed' || state === 'open') return`,
      },
    ],
    steps: [BREB, { do: 'shift', seconds: 3660, quiet: true }],
    breaks: ['closedFirst'],
  },
  {
    name: 'late money changes a final state',
    patches: [
      {
        file: OUTCOME,
        find: 'const [first, ...rest] = payin !== null && !isFinal(payin.status) ?',
        replace: `const [first, ...rest] = payin !== null && payin.status !== 'CONFIRMED' ?`,
      },
      {
        file: MOVES,
        find: `p.status = m.from_status and p.status in (\${statesBefore('CONFIRMED')})`,
        replace: 'p.status = m.from_status',
      },
      {
        file: MOVES,
        find: 'status, cause, updated_at from moved',
        replace: `status, cause, updated_at from moved where from_status in ('PENDING', 'PROCESSING')`,
      },
      {
        file: 'events/event.store.ts',
        find: 'select organization_id, resource_id, id, event from new\n',
        replace: 'select organization_id, resource_id, id, event from new on conflict do nothing\n',
      },
    ],
    steps: [BREB, { do: 'shift', seconds: 3660, quiet: true }, pays({ anyway: true, quiet: true })],
    breaks: ['absorbs'],
  },
  {
    name: 'an amount that was not to be expected is believed without asking',
    patches: [
      {
        file: OUTCOME,
        find: `|| notification.amount !== payin.amount)\n      return 'needs_verification';`,
        replace: `)\n      return 'needs_verification';`,
      },
    ],
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'wrong-amount', times: 1 },
      pays({ quiet: true }),
    ],
    breaks: ['booked'],
  },
  {
    name: 'a payin is confirmed by less than its amount',
    patches: [
      {
        file: OUTCOME,
        find: 'move: direct ? underpaid(payment) : { ...move, settles: false },',
        replace: 'move: { ...move, settles: false },',
      },
    ],
    steps: [BREB, pays({ share: 'less', quiet: true })],
    breaks: ['confirms'],
  },
  {
    name: 'all that arrives is confirmed, also beyond the amount',
    patches: [
      {
        file: OUTCOME,
        find: 'const takesAny = direct &&',
        replace: 'const takesAny = amount > payin.amount || direct &&',
      },
    ],
    steps: [BREB, pays({ share: 'more', quiet: true })],
    breaks: ['confirms'],
  },
  {
    name: 'a payment settles on its notification alone',
    patches: [
      {
        file: OUTCOME,
        find: `verified: cause !== 'paid_on_notification'`,
        replace: 'verified: true',
      },
    ],
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'close', fault: 'down', times: 50 },
      pays({}),
      // The key is closed as soon as the payin is confirmed, and queried only then.
      { do: 'await struck', count: 1 },
      { do: 'settle' },
    ],
    breaks: ['verified'],
  },
  {
    name: 'a message that no money comes is believed without asking',
    patches: [
      {
        file: OUTCOME,
        find: 'return refused\n    ? {',
        replace: 'return refused || notification\n    ? {',
      },
    ],
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 },
      pays({}),
      { do: 'end', nth: 0, how: 'refused', anyway: true, quiet: true },
    ],
    breaks: ['railEnds'],
  },
  {
    name: 'a second payment is dropped instead of put in suspense',
    patches: [
      {
        file: OUTCOME,
        find: 'const odd = first === undefined ? fresh : rest;',
        replace: 'const odd: typeof fresh = [];',
      },
    ],
    steps: [BREB, pays({ quiet: true }), pays({ anyway: true, quiet: true })],
    breaks: ['heard'],
  },
  {
    name: 'an execution is booked as often as it is heard of',
    patches: [
      {
        file: WORDS,
        find: 'return `${rail}:${executionId}`;',
        replace: 'return `${rail}:${executionId}:${crypto.randomUUID()}`;',
      },
    ],
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'duplicate', times: 1 },
      pays({ quiet: true }),
      // The copy travels by itself.
      { do: 'await waiters', count: 1, quiet: true },
    ],
    breaks: ['bookedOnce'],
  },
];
