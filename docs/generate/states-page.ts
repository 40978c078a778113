import { SETTLEMENT_STATUSES } from '../../server/src/payins/payin.columns.ts';
import { FIRST_STATUS, isFinal, PAYIN_STATES, PAYIN_STATUSES } from '../../server/src/payins/payin.states.ts';
import { LINK_STATES, LINK_STATUSES } from '../../server/src/payment-links/payment-link.states.ts';
import { PAYOUT_STATES, PAYOUT_STATUSES } from '../../server/src/payouts/payout.states.ts';
import { code, parts, table } from './markdown.ts';
import type { Page } from './page.ts';
import { stateDiagram, type Transition } from './state-diagram.ts';

type Reasons = Readonly<Record<string, string>>;

const CONFIRMED = 'the rail confirmed the payment';
const DECLINED = 'the rail declined or rejected it, or less than its amount arrived (`UNDERPAID`)';
const CANCELED =
  'the payer canceled or abandoned it, or it expired and the rail reports it closed and unpaid';

const PAYIN_REASONS: Reasons = {
  'created PROCESSING': 'Bre-B: the key can be paid immediately',
  'created PENDING': 'PSE: the bank page URL is not known yet',
  'PENDING PROCESSING': 'PSE: the bank page URL is known (`sourceData.pseUrl`)',
  'PENDING CONFIRMED': CONFIRMED,
  'PENDING DECLINED': DECLINED,
  'PENDING CANCELED': CANCELED,
  'PROCESSING CONFIRMED': CONFIRMED,
  'PROCESSING DECLINED': DECLINED,
  'PROCESSING CANCELED': CANCELED,
};

const PAYOUT_REASONS: Reasons = {
  'created PROCESSING': 'accepted, and the amount held',
  'PROCESSING CONFIRMED': 'the rail settled it',
  'PROCESSING DECLINED': 'the rail rejected it, or the available balance was insufficient',
  'PROCESSING CANCELED': '`POST /payouts/{id}/cancel`, before it was sent',
};

const LINK_REASONS: Reasons = {
  'created PENDING': 'the page waits for a payer',
  'PENDING COMPLETED': 'a payer paid at least its amount',
  'PENDING EXPIRED': 'its hour passed or you closed it, and no payment is in progress',
};

/** Adds reasons to transitions. A transition without a reason, or a reason without a transition, fails the build. */
function explainTransitions(
  pairs: readonly (readonly [string | null, string])[],
  reasons: Reasons,
): readonly Transition[] {
  const names = pairs.map(([from, to]) => `${from ?? 'created'} ${to}`);
  const differences = [
    ...names.filter((name) => reasons[name] === undefined),
    ...Object.keys(reasons).filter((name) => !names.includes(name)),
  ];
  if (differences.length > 0)
    throw new Error(`states-page.ts and the state tables differ: ${differences.join(', ')}`);
  return pairs.map(([from, to]) => ({ from, to, why: reasons[`${from ?? 'created'} ${to}`] ?? '' }));
}

/** @param first initial states */
function listTransitions(
  states: Readonly<Record<string, readonly string[]>>,
  first: readonly string[],
  reasons: Reasons,
): readonly Transition[] {
  const created = first.map((to) => [null, to] as const);
  const others = Object.entries(states).flatMap(([from, ends]) => ends.map((to) => [from, to] as const));
  return explainTransitions([...created, ...others], reasons);
}

function section(
  title: string,
  about: string,
  states: readonly string[],
  transitions: readonly Transition[],
): string {
  const rows = transitions.map(({ from, to, why }) => [
    from === null ? 'created' : code(from),
    code(to),
    why,
  ]);
  return parts(
    `## ${title}`,
    about,
    stateDiagram(title, states, transitions),
    table(['From', 'To', 'When'], rows),
  );
}

export function statesPage(): Page {
  const finals = PAYIN_STATUSES.filter(isFinal).map((status) => code(status));
  return {
    slug: 'concepts/states',
    title: 'States',
    description:
      'The states of payins, payouts and payment links, generated from the state tables in the code.',
    body: parts(
      `The response to a creation is never the final outcome. Exactly one [event](/docs/reference/events) reports the outcome later. Final states (of payins ${finals.join(', ')}) never change: a later message of the rail becomes an anomaly for an operator, and its money goes to a suspense account.`,
      section(
        'Payin',
        'A Bre-B payin starts in `PROCESSING`, a PSE payin in `PENDING`.',
        PAYIN_STATUSES,
        listTransitions(PAYIN_STATES, [...new Set(Object.values(FIRST_STATUS))], PAYIN_REASONS),
      ),
      `In addition, \`settlementStatus\` is the settlement state of confirmed money: null before, then ${SETTLEMENT_STATUSES.filter(
        (each) => each !== 'REVERSED',
      )
        .map((each) => code(each))
        .join(
          ', then ',
        )}, when it becomes available. A payin settles only after a query to its rail has listed the payment: a notification alone is not enough. When the rail does not list it, settlement is held (an anomaly \`PAYMENT_NOT_LISTED\` on the payin), and an operator releases it or reverses it: \`REVERSED\` means that the rail never had the payment, the posting was reversed and the payin will never settle. On the simulator of \`npm run dev\` that takes up to a minute.`,
      section(
        'Payout',
        'A payout whose response was lost stays `PROCESSING` until the rail reports its outcome: [an unknown outcome is not a failure](/docs/concepts/unknown-outcomes).',
        PAYOUT_STATUSES,
        listTransitions(PAYOUT_STATES, ['PROCESSING'], PAYOUT_REASONS),
      ),
      section(
        'Payment link',
        'A link stays open past its hour while a payer is at the bank: a payment started in time is never lost.',
        LINK_STATUSES,
        listTransitions(LINK_STATES, ['PENDING'], LINK_REASONS),
      ),
    ),
  };
}
