import { FIRST_STATUS, isFinal, PAYIN_STATES, PAYIN_STATUSES } from '../../server/src/payins/payin.states.ts';
import { SETTLEMENT_STATUSES } from '../../server/src/payins/payin.ts';
import { LINK_STATES, LINK_STATUSES } from '../../server/src/payment-links/payment-link.states.ts';
import { PAYOUT_STATES, PAYOUT_STATUSES } from '../../server/src/payouts/payout.states.ts';
import { code, parts, table } from './markdown.ts';
import type { Page } from './page.ts';
import { type Move, stateDiagram } from './state-diagram.ts';

type Reasons = Readonly<Record<string, string>>;

const CONFIRMED = 'the rail confirmed the payment';
const DECLINED = 'the rail declined or refused it, or less than its amount arrived (`UNDERPAID`)';
const CANCELED = 'the payer canceled or left, or it expired and the rail says: closed, unpaid';

const OF_PAYINS: Reasons = {
  'created PROCESSING': 'Bre-B: the key can be paid at once',
  'created PENDING': 'PSE: the bank’s page is not known yet',
  'PENDING PROCESSING': 'PSE: the bank’s page is known (`sourceData.pseUrl`)',
  'PENDING CONFIRMED': CONFIRMED,
  'PENDING DECLINED': DECLINED,
  'PENDING CANCELED': CANCELED,
  'PROCESSING CONFIRMED': CONFIRMED,
  'PROCESSING DECLINED': DECLINED,
  'PROCESSING CANCELED': CANCELED,
};

const OF_PAYOUTS: Reasons = {
  'created PROCESSING': 'accepted, and the amount set aside',
  'PROCESSING CONFIRMED': 'the rail settled it',
  'PROCESSING DECLINED': 'the rail rejected it, or the available balance did not cover it',
  'PROCESSING CANCELED': '`POST /payouts/{id}/cancel`, before it was sent',
};

const OF_LINKS: Reasons = {
  'created PENDING': 'the page waits for a payer',
  'PENDING COMPLETED': 'a payer paid at least its amount',
  'PENDING EXPIRED': 'its hour passed or you closed it, and no attempt is under way',
};

/** Words and moves must be the same set: a move that was added or taken away in the code stops the build. */
function explained(pairs: readonly (readonly [string | null, string])[], reasons: Reasons): readonly Move[] {
  const names = pairs.map(([from, to]) => `${from ?? 'created'} ${to}`);
  const odd = [
    ...names.filter((name) => reasons[name] === undefined),
    ...Object.keys(reasons).filter((name) => !names.includes(name)),
  ];
  if (odd.length > 0) throw new Error(`states-page.ts and the code differ about: ${odd.join(', ')}`);
  return pairs.map(([from, to]) => ({ from, to, why: reasons[`${from ?? 'created'} ${to}`] ?? '' }));
}

/** @param first where it begins */
function movesOf(
  states: Readonly<Record<string, readonly string[]>>,
  first: readonly string[],
  reasons: Reasons,
): readonly Move[] {
  const created = first.map((to) => [null, to] as const);
  const others = Object.entries(states).flatMap(([from, ends]) => ends.map((to) => [from, to] as const));
  return explained([...created, ...others], reasons);
}

function section(title: string, about: string, states: readonly string[], moves: readonly Move[]): string {
  const rows = moves.map(({ from, to, why }) => [from === null ? 'created' : code(from), code(to), why]);
  return parts(`## ${title}`, about, stateDiagram(title, states, moves), table(['From', 'To', 'When'], rows));
}

export function statesPage(): Page {
  const finals = PAYIN_STATUSES.filter(isFinal).map((status) => code(status));
  return {
    slug: 'concepts/states',
    title: 'States',
    description: 'The life of a payin, a payout and a payment link, drawn from the tables in the code.',
    body: parts(
      `A creation never answers the final outcome. It comes later, by itself, and is told by exactly one [event](/docs/reference/events). Final states (of payins ${finals.join(', ')}) absorb: whatever a rail says afterwards becomes an anomaly that an operator sees, its money goes to a suspense account, and the state stays as it was told to you.`,
      section(
        'Payin',
        'A Bre-B payin begins in `PROCESSING`, a PSE payin in `PENDING`.',
        PAYIN_STATUSES,
        movesOf(PAYIN_STATES, [...new Set(Object.values(FIRST_STATUS))], OF_PAYINS),
      ),
      `Beside it, \`settlementStatus\` says where confirmed money stands: null before, then ${SETTLEMENT_STATUSES.filter(
        (each) => each !== 'REVERSED',
      )
        .map((each) => code(each))
        .join(
          ', then ',
        )}, which is when it becomes available. A payin settles only after its rail, queried, has listed the payment: a notification alone settles nothing. When the rail does not list it, settlement is held (an anomaly \`PAYMENT_NOT_LISTED\` on the payin), and an operator releases it or reverses it: \`REVERSED\` means that the rail never had the payment, the booking was taken back and the payin will never settle. On the simulator of \`npm run dev\` that takes up to a minute.`,
      section(
        'Payout',
        'A payout whose answer got lost stays `PROCESSING` until the rail has said what became of it: [unknown is not no](/docs/concepts/unknown-outcomes).',
        PAYOUT_STATUSES,
        movesOf(PAYOUT_STATES, ['PROCESSING'], OF_PAYOUTS),
      ),
      section(
        'Payment link',
        'A link outlives its hour while a payer is at the bank: a payment begun in time is never lost.',
        LINK_STATUSES,
        movesOf(LINK_STATES, ['PENDING'], OF_LINKS),
      ),
    ),
  };
}
