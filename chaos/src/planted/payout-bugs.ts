import { ordersAre, PAYOUT, type PlantedBug } from './planted-bug.ts';

const SENDING = 'flows/payouts/send-payouts.ts';
const SENDS = 'payouts/payout-send.store.ts';
const OUTCOME = 'payouts/payout.outcome.ts';
const MOVES = 'payouts/payout-outcome.store.ts';
const ENDING = 'flows/payouts/end-payouts.ts';
const CREATING = 'flows/payouts/create-payouts.ts';

/** Money leaves twice, or for nobody, or comes back while it leaves. */
export const BUGS_OF_PAYING: readonly PlantedBug[] = [
  {
    name: 'an order is sent again under a new end-to-end id',
    patches: [
      {
        file: SENDING,
        find: 'endToEndId: due.endToEndId,\n    payoutId',
        replace:
          'endToEndId: due.attempt === 1 ? due.endToEndId : `AGAIN${due.attempt}${due.endToEndId}`,\n    payoutId',
      },
    ],
    steps: [ordersAre('down'), PAYOUT, { do: 'shift', seconds: 45, quiet: true }],
    breaks: ['sentAs', 'sentOnce'],
  },
  {
    name: 'money comes back when the answer to its order is lost',
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
    steps: [{ ...PAYOUT, to: 'lost answer' }],
    breaks: ['clearNo'],
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
      { do: 'arm workers', failpoint: 'BRE_B pay: after call' },
      { ...PAYOUT, quiet: false },
      { do: 'await death' },
      { do: 'age claims' },
      { do: 'cancel', nth: 0, both: false, quiet: true },
    ],
    breaks: ['committedFirst', 'unsent', 'patience'],
  },
  {
    name: 'a payout is canceled without asking whether it was sent',
    patches: [
      {
        file: MOVES,
        find: ` and p.status = 'PROCESSING' and p.rail_task = 'send' and p.attempts = 0`,
        replace: ` and p.status = 'PROCESSING'`,
      },
    ],
    // The table refuses such a row: the merchant is notification 500 instead of that it was sent.
    steps: [
      { ...PAYOUT, to: 'never' },
      { do: 'cancel', nth: 0, both: false, quiet: true },
    ],
    breaks: ['answers'],
  },
  {
    name: '"no such order" is taken for a no',
    patches: [
      {
        file: OUTCOME,
        find: `payout.attempts === 0 || !payout.nothingUnderWay) return NOTHING;`,
        replace: `payout.attempts === 0) return NOTHING;`,
      },
      {
        file: OUTCOME,
        find: `if (payout.refusal !== null) return declined(payout.refusal, 'order_refused');`,
        replace: `return declined(payout.refusal ?? 'RAIL_REJECTED', 'order_refused');`,
      },
    ],
    steps: [ordersAre('down'), PAYOUT, { do: 'shift', seconds: 3, quiet: true }],
    breaks: ['clearNo'],
  },
  {
    name: '"no such order" is believed while one may be under way',
    patches: [
      { file: OUTCOME, find: ` || !payout.nothingUnderWay) return NOTHING;`, replace: `) return NOTHING;` },
    ],
    steps: [ordersAre('down'), PAYOUT, { do: 'shift', seconds: 3, quiet: true }],
    breaks: ['patience'],
  },
  {
    name: 'the refusal of a repeat is believed without asking',
    patches: [
      {
        file: OUTCOME,
        find: `notification.kind === 'refused' && payout.attempts === 1`,
        replace: `notification.kind === 'refused'`,
      },
    ],
    steps: [
      ordersAre('lost-answer'),
      { ...PAYOUT, cents: 1_200_000_000 },
      { do: 'shift', seconds: 45, quiet: true },
    ],
    breaks: ['clearNo'],
  },
  {
    name: 'a message that an order was rejected is believed without asking',
    patches: [
      {
        file: OUTCOME,
        find: `return notification.kind === 'refused' && payout.attempts === 1`,
        replace: `return notification.kind === 'declined' || payout.attempts === 1`,
      },
    ],
    steps: [
      { ...PAYOUT, to: 'never' },
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 },
      { do: 'end order', nth: 0, how: 'settled', anyway: false },
      { do: 'end order', nth: 0, how: 'refused', anyway: true, quiet: true },
    ],
    breaks: ['clearNo'],
  },
  {
    name: 'money that leaves after a rejection is not noticed',
    patches: [{ file: OUTCOME, find: `return money('sent_late');`, replace: 'return NOTHING;' }],
    steps: [
      { ...PAYOUT, to: 'declined' },
      { do: 'end order', nth: 0, how: 'settled', anyway: true, quiet: true },
    ],
    breaks: ['heard'],
  },
  {
    name: 'nobody asks once more about a payout that was rejected',
    patches: [
      {
        file: MOVES,
        find: `rail_task = case when m.to_status = 'DECLINED' and p.attempts > 0 then 'ask' end,`,
        replace: 'rail_task = null,',
      },
      {
        file: MOVES,
        find: `rail_due_at = case when m.to_status = 'DECLINED' and p.attempts > 0 then moment.at + make_interval(secs => $7 / 1000.0) end,`,
        // The parameter stays, or PostgreSQL could not tell its type.
        replace: 'rail_due_at = case when false then moment.at + make_interval(secs => $7 / 1000.0) end,',
      },
    ],
    steps: [
      { ...PAYOUT, to: 'declined' },
      { do: 'fault', rail: 'BRE_B', on: 'notice', fault: 'lost-notice', times: 1 },
      { do: 'end order', nth: 0, how: 'settled', anyway: true },
      { do: 'shift', seconds: 61, quiet: true },
    ],
    breaks: ['booked'],
  },
  {
    name: 'an order goes by a promise of the directory that has grown old',
    patches: [
      {
        file: SENDS,
        find: `and (p.resolved_at is null or p.resolved_at > caudal.now() - make_interval(secs => $4 / 1000.0))`,
        replace: 'and $4::float8 > 0',
      },
      {
        file: 'workers/worker.ts',
        find: 'key_resolution: () => parts.renewer.renew(),',
        replace: 'key_resolution: () => Promise.resolve(0),',
      },
    ],
    steps: [
      ordersAre('down'),
      { ...PAYOUT, to: 'own', lookUp: 'named' },
      { do: 'shift', seconds: 660, quiet: true },
    ],
    breaks: ['receiver'],
  },
  {
    name: 'what is available is read without a lock',
    patches: [
      {
        file: 'ledger/balance.store.ts',
        find: `order by organization_id, account for update\``,
        replace: 'order by organization_id, account`',
      },
    ],
    // The balance may not fall below zero: one of the two is notification 500 instead of its outcome.
    steps: [{ do: 'rivals', meet: true, quiet: true }],
    breaks: ['onePayout', 'covered'],
    apis: 2,
  },
  {
    name: 'no money is set aside for a payout',
    patches: [
      {
        file: CREATING,
        find: `        .filter((command) => covered.has(command))\n        .map((command) =>\n          holdOf`,
        replace: `        .filter((command) => !covered.has(command) && command.amount < 0n)\n        .map((command) =>\n          holdOf`,
      },
    ],
    steps: [PAYOUT],
    breaks: ['payoutMoney'],
  },
  {
    name: 'what was set aside for a payout comes back twice',
    patches: [
      {
        file: ENDING,
        find: '  return payoutTransfers(deps, moved);\n',
        replace: `  const once = payoutTransfers(deps, moved);
  const again = payoutTransfers(deps, moved.filter((row) => row.status === 'DECLINED'));
  return [...once, ...again.map((each) => ({ ...each, cause: { ...each.cause, id: \`\${each.cause.id}/2\` } }))];\n`,
      },
    ],
    // Where nothing else is held the account would fall below zero, and the database refuses.
    steps: [
      { ...PAYOUT, to: 'never', cents: 1_000_000 },
      { ...PAYOUT, to: 'declined' },
    ],
    breaks: ['payoutMoney', 'held'],
  },
];
