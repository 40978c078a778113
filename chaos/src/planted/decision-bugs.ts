import { BREB, type PlantedBug, pays } from './planted-bug.ts';

const OUTCOME = 'payins/payin.outcome.ts';
const POLLING = 'flows/payins/poll-rail-status.system.ts';
const UPDATES = 'flows/payins/apply-payin-updates.system.ts';
const TRANSITIONS = 'payins/payin-outcome.store.ts';

/** The server misinterprets messages of the rail. */
export const DECISION_BUGS: readonly PlantedBug[] = [
  {
    name: 'an unknown outcome is treated as a rejection',
    patches: [
      {
        file: POLLING,
        find: 'else unanswered.push(task);',
        replace: `else updates.push({ rail: this.#rail, reference, notification: null, pastProcessingWindow: false, railStatus: { state: 'declined', payments: [], errorCode: 'RAIL_TIMEOUT' } });`,
      },
    ],
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'query', fault: 'down', times: 1 },
      { do: 'shift', seconds: 31, awaitIdle: true },
    ],
    breaks: ['payin_end_reported_by_rail'],
  },
  {
    name: "expiry uses the process's clock",
    patches: [
      {
        file: UPDATES,
        find: 'expired: payin.expired,',
        replace: 'expired: payin.expires_at.getTime() <= Date.now(),',
      },
    ],
    steps: [BREB, { do: 'shift', seconds: 3660, awaitIdle: true }],
    breaks: ['work_completes', 'everything_final'],
  },
  {
    name: 'expiry cancels without closing at the rail',
    patches: [
      {
        file: POLLING,
        find: 'const statuses = canClose ? await this.#closeThenQuery(references) : await this.#query(references);',
        replace: 'const statuses = await this.#query(references);',
      },
      {
        file: OUTCOME,
        find: `if (state === 'closed') return`,
        replace: `if (state === 'closed' || state === 'open') return`,
      },
    ],
    steps: [BREB, { do: 'shift', seconds: 3660, awaitIdle: true }],
    breaks: ['key_closed_before_expiry'],
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
        file: TRANSITIONS,
        find: `p.status = m.from_status and p.status in (\${statesBefore('CONFIRMED')})`,
        replace: 'p.status = m.from_status',
      },
      {
        file: TRANSITIONS,
        find: 'status, cause, updated_at from moved',
        replace: `status, cause, updated_at from moved where from_status in ('PENDING', 'PROCESSING')`,
      },
      {
        file: 'events/event.store.ts',
        find: 'select organization_id, resource_id, id, event from new\n',
        replace: 'select organization_id, resource_id, id, event from new on conflict do nothing\n',
      },
    ],
    steps: [BREB, { do: 'shift', seconds: 3660, awaitIdle: true }, pays({ anyway: true, awaitIdle: true })],
    breaks: ['final_state_immutable'],
  },
  {
    name: 'an unexpected amount is applied without verification',
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
      pays({ awaitIdle: true }),
    ],
    breaks: ['ledger_matches_rail'],
  },
  {
    name: 'an underpayment confirms a payin',
    patches: [
      {
        file: OUTCOME,
        find: 'transition: underpaid(payment),',
        replace: 'transition: { ...transition, settles: false },',
      },
    ],
    steps: [BREB, pays({ share: 'less', awaitIdle: true })],
    breaks: ['one_execution_confirms'],
  },
  {
    name: 'an overpayment is confirmed in full',
    patches: [
      {
        file: OUTCOME,
        find: 'if (amount === requested ||',
        replace: 'if (amount >= requested ||',
      },
    ],
    steps: [BREB, pays({ share: 'more', awaitIdle: true })],
    breaks: ['one_execution_confirms'],
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
      { do: 'await_faults', count: 1 },
      { do: 'settle' },
    ],
    breaks: ['settlement_requires_verification'],
  },
  {
    name: 'a notice without money is applied without verification',
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
      { do: 'end', nth: 0, how: 'refused', anyway: true, awaitIdle: true },
    ],
    breaks: ['payin_end_reported_by_rail'],
  },
  {
    name: 'a second payment is dropped instead of posted to suspense',
    patches: [
      {
        file: OUTCOME,
        find: 'const unexpected = first === undefined ? fresh : rest;',
        replace: 'const unexpected: typeof fresh = [];',
      },
    ],
    steps: [BREB, pays({ awaitIdle: true }), pays({ anyway: true, awaitIdle: true })],
    breaks: ['delivered_notice_applied'],
  },
  {
    name: 'an execution is posted once per notice',
    patches: [
      {
        file: UPDATES,
        find: 'return `${rail}:${executionId}`;',
        replace: 'return `${rail}:${executionId}:${crypto.randomUUID()}`;',
      },
    ],
    steps: [
      BREB,
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'duplicate', times: 1 },
      pays({ awaitIdle: true }),
      // The duplicate notice arrives separately.
      { do: 'await_lock_waiters', count: 1, awaitIdle: true },
    ],
    breaks: ['execution_posted_once'],
  },
];
