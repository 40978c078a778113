import { orderFault, PAYOUT, type PlantedBug } from './planted-bug.ts';

const SENDING = 'flows/payouts/send-payouts.system.ts';
const SENDS = 'payouts/payout-send.store.ts';
const OUTCOME = 'payouts/payout.outcome.ts';
const TRANSITIONS = 'payouts/payout-outcome.store.ts';
const ENDING = 'flows/payouts/end-payouts.ts';

/** Money is sent twice, without a payout, or released while it is sent. */
export const PAYOUT_BUGS: readonly PlantedBug[] = [
  {
    name: 'an order is resent under a new end-to-end id',
    patches: [
      {
        file: SENDING,
        find: 'endToEndId: due.endToEndId,\n    payoutId',
        replace:
          'endToEndId: due.attempt === 1 ? due.endToEndId : `AGAIN${due.attempt}${due.endToEndId}`,\n    payoutId',
      },
    ],
    steps: [orderFault('down'), PAYOUT, { do: 'shift', seconds: 45, awaitIdle: true }],
    breaks: ['order_matches_request', 'payout_executed_once'],
  },
  {
    name: 'a hold is released when the response to the order is lost',
    patches: [
      {
        file: SENDING,
        find: `answer.kind === 'no'\n          ? [`,
        replace: `answer.kind !== 'yes'\n          ? [`,
      },
      {
        file: SENDING,
        find: `notification: { kind: 'refused', errorCode: answer.errorCode },`,
        replace: `notification: { kind: 'refused', errorCode: answer.kind === 'no' ? answer.errorCode : 'RAIL_TIMEOUT' },`,
      },
    ],
    steps: [{ ...PAYOUT, to: 'lost_answer' }],
    breaks: ['decline_requires_rejection'],
  },
  {
    name: 'an order is sent inside the transaction that commits its attempt',
    patches: [
      {
        file: SENDING,
        find: `const due = await system.transaction('commit attempts'`,
        replace: `let sent: Sent[] = [];\n    const due = await system.transaction('commit attempts'`,
      },
      {
        file: SENDING,
        find: '      return orders;\n',
        replace:
          '      if (orders.length > 0) sent = await this.#pay(orders, since);\n      return orders;\n',
      },
      { file: SENDING, find: 'const sent = await this.#pay(due, since);', replace: '' },
    ],
    steps: [
      { do: 'arm_workers', failpoint: 'BRE_B pay: after call' },
      { ...PAYOUT, awaitIdle: false },
      { do: 'await_worker_death' },
      { do: 'age_leases' },
      { do: 'cancel', nth: 0, both: false, awaitIdle: true },
    ],
    breaks: ['attempt_committed_before_send', 'canceled_payout_never_sent', 'resend_requires_unknown_order'],
  },
  {
    name: 'a cancel does not check whether the payout was sent',
    patches: [
      {
        file: TRANSITIONS,
        find: ` and p.status = 'PROCESSING' and p.rail_task = 'send' and p.attempts = p.unsent_attempts`,
        replace: ` and p.status = 'PROCESSING'`,
      },
    ],
    // A table constraint rejects the row, so the merchant gets 500 instead of payout_already_sent.
    steps: [
      { ...PAYOUT, to: 'never' },
      { do: 'cancel', nth: 0, both: false, awaitIdle: true },
    ],
    breaks: ['responses_match_rows'],
  },
  {
    name: 'NOT_FOUND is treated as a rejection',
    patches: [
      {
        file: OUTCOME,
        find: `payout.sentAttempts === 0 || !payout.noOrderInFlight) return NOTHING;`,
        replace: `payout.sentAttempts === 0) return NOTHING;`,
      },
      {
        file: OUTCOME,
        find: `if (payout.rejection !== null) return declined(payout.rejection, 'order_refused');`,
        replace: `return declined(payout.rejection ?? 'RAIL_REJECTED', 'order_refused');`,
      },
    ],
    steps: [orderFault('down'), PAYOUT, { do: 'shift', seconds: 3, awaitIdle: true }],
    breaks: ['decline_requires_rejection'],
  },
  {
    name: 'NOT_FOUND is applied while an order may be in flight',
    patches: [
      { file: OUTCOME, find: ` || !payout.noOrderInFlight) return NOTHING;`, replace: `) return NOTHING;` },
    ],
    steps: [orderFault('down'), PAYOUT, { do: 'shift', seconds: 3, awaitIdle: true }],
    breaks: ['resend_requires_unknown_order'],
  },
  {
    name: 'an order whose response was lost is recorded as not sent',
    patches: [
      {
        file: 'rails/contract.ts',
        find: `(answer.kind === 'unknown' && !answer.sent)`,
        replace: `answer.kind === 'unknown'`,
      },
    ],
    steps: [orderFault('down'), PAYOUT, { do: 'shift', seconds: 3, awaitIdle: true }],
    breaks: ['resend_requires_unknown_order', 'attempt_committed_before_send'],
  },
  {
    name: 'an order is resent without a poll when the rail does not accept its resend now',
    patches: [
      {
        file: SENDS,
        find: `case when t.is_unsent and p.unsent_attempts + 1 = p.attempts then`,
        replace: `case when t.is_unsent then`,
      },
    ],
    steps: [
      orderFault('down'),
      PAYOUT,
      orderFault('rate-limited'),
      { do: 'shift', seconds: 45, awaitIdle: true },
      { do: 'shift', seconds: 3, awaitIdle: true },
    ],
    breaks: ['resend_requires_unknown_order'],
  },
  {
    name: 'the rejection of a resend is applied without verification',
    patches: [
      {
        file: OUTCOME,
        find: `notification.kind === 'refused' && payout.sentAttempts === 1`,
        replace: `notification.kind === 'refused'`,
      },
    ],
    steps: [
      orderFault('lost-answer'),
      { ...PAYOUT, cents: 1_200_000_000 },
      { do: 'shift', seconds: 45, awaitIdle: true },
    ],
    breaks: ['decline_requires_rejection'],
  },
  {
    name: 'a rejection notice is applied without verification',
    patches: [
      {
        file: OUTCOME,
        find: `return notification.kind === 'refused' && payout.sentAttempts === 1`,
        replace: `return notification.kind === 'declined' || payout.sentAttempts === 1`,
      },
    ],
    steps: [
      { ...PAYOUT, to: 'never' },
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 },
      { do: 'end_order', nth: 0, how: 'settled', anyway: false },
      { do: 'end_order', nth: 0, how: 'refused', anyway: true, awaitIdle: true },
    ],
    breaks: ['decline_requires_rejection'],
  },
  {
    name: 'an execution after a rejection is not detected',
    patches: [{ file: OUTCOME, find: `return money('sent_late');`, replace: 'return NOTHING;' }],
    steps: [
      { ...PAYOUT, to: 'declined' },
      { do: 'end_order', nth: 0, how: 'settled', anyway: true, awaitIdle: true },
    ],
    breaks: ['delivered_notice_applied'],
  },
  {
    name: 'a rejected payout is not polled again',
    patches: [
      {
        file: TRANSITIONS,
        find: `rail_task = case when m.to_status = 'DECLINED' and p.attempts > p.unsent_attempts then 'poll' end,`,
        replace: 'rail_task = null,',
      },
      {
        file: TRANSITIONS,
        find: `rail_due_at = case when m.to_status = 'DECLINED' and p.attempts > p.unsent_attempts then moment.at + make_interval(secs => \${TRANSITIONS.scalar(1)} / 1000.0) end,`,
        // Keeps the parameter, because PostgreSQL could not infer its type otherwise.
        replace:
          'rail_due_at = case when false then moment.at + make_interval(secs => ${TRANSITIONS.scalar(1)} / 1000.0) end,',
      },
    ],
    steps: [
      { ...PAYOUT, to: 'declined' },
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 },
      { do: 'end_order', nth: 0, how: 'settled', anyway: true },
      { do: 'shift', seconds: 61, awaitIdle: true },
    ],
    breaks: ['ledger_matches_rail'],
  },
  {
    name: 'an order uses an expired key resolution',
    patches: [
      {
        file: SENDS,
        find: `and (p.resolved_at is null or p.resolved_at > caudal.now() - make_interval(secs => $4 / 1000.0))`,
        replace: 'and $4::float8 > 0',
      },
      {
        file: 'workers/worker.ts',
        find: 'key_resolution: () => parts.resolutionRefresher.refresh(),',
        replace: 'key_resolution: () => Promise.resolve(0),',
      },
    ],
    steps: [
      orderFault('down'),
      { ...PAYOUT, to: 'own', lookUp: 'named' },
      { do: 'shift', seconds: 660, awaitIdle: true },
    ],
    breaks: ['paid_to_resolved_receiver'],
  },
  {
    name: 'the available balance is read without a lock',
    patches: [
      {
        file: 'ledger/balance.store.ts',
        find: `order by organization_id, account for update\``,
        replace: 'order by organization_id, account`',
      },
    ],
    // A constraint keeps the balance from becoming negative, so one of the two requests gets 500.
    steps: [{ do: 'competing_payouts', meet: true, awaitIdle: true }],
    breaks: ['one_payout_per_request', 'hold_requires_funds'],
    apis: 2,
  },
  {
    name: 'the hold of a payout is released twice',
    patches: [
      {
        file: ENDING,
        find: '  return payoutTransfers(deps, ended, createdBy);\n',
        replace: `  const once = payoutTransfers(deps, ended, createdBy);
  const again = payoutTransfers(deps, ended.filter((row) => row.status === 'DECLINED'), createdBy);
  return [...once, ...again.map((each) => ({ ...each, cause: { ...each.cause, id: each.id } }))];\n`,
      },
    ],
    // Another hold is needed: otherwise the held balance would become negative and the database would reject it.
    steps: [
      { ...PAYOUT, to: 'never', cents: 1_000_000 },
      { ...PAYOUT, to: 'declined' },
    ],
    breaks: ['payout_transfers_match_status', 'held_equals_open_payouts'],
  },
];
