import { BASELINE, copyRow, type Damage, type Line } from './damage.ts';

/** Payouts of the run that a journal's damage is aimed at, by their id and their end-to-end id. */
export interface PayoutSample {
  readonly confirmed: Named;
  readonly declined: Named;
  readonly canceled: Named;
  /** Confirmed, and its key had been looked up. */
  readonly shown: Named;
  /** The first that was confirmed, at which statements aim. */
  readonly first: Named & { readonly sentAt: Date };
}

interface Named {
  readonly id: string;
  readonly endToEndId: string;
}

const CREATED = 'every 201 of a payout exists as told';
const NOWHERE = 'nothing from nowhere';
const EXECUTED = 'executions are the confirmed payouts, one each';
const ONE_ID = 'one end-to-end id per payout';
const COMMITTED = 'an attempt is committed before its order leaves';
const WORD = "the rail's word for every payout declined";
const CANCEL = 'a cancel keeps its word';
const EVENTS = 'one event per final state of a payout';
const LEGAL = 'legal transitions of payouts only';
const TRANSFERS = "a payout's transfers are as its state says";
const LEFT = 'money that left unasked has its anomaly';
const END = 'every payout comes to its end';

const A_PAYOUT = (status: string, and = 'true') =>
  `id = (select id from caudal.payouts where status = '${status}' and ${and} order by id limit 1)`;
const A_CONFIRMED = A_PAYOUT('CONFIRMED');
const A_TRANSFER = (cause: string) =>
  `id = (select id from caudal.ledger_transfers where cause_kind = '${cause}' order by id limit 1)`;
const AN_EVENT = (table: string, id: string) =>
  `${id} = (select ${id} from caudal.${table} where event = 'payout.confirmed' order by ${id} limit 1)`;
const BACK_TO_OPEN = `status = 'PROCESSING', result_at = null, execution_id = null, rail_task = 'ask', rail_due_at = caudal.now() + interval '1 hour'`;
const NEVER = '00000000-0000-7000-8000-000000000000';

export const PAYOUT_DAMAGES: readonly Damage<PayoutSample>[] = [
  {
    name: 'a payout is lost',
    promise: CREATED,
    sql: `delete from caudal.payouts where ${A_CONFIRMED}`,
  },
  {
    name: 'an amount changed',
    promise: CREATED,
    sql: `update caudal.payouts set amount_in_cents = amount_in_cents + 1 where ${A_PAYOUT('CANCELED')}`,
  },
  {
    name: 'a payout comes from nowhere',
    promise: NOWHERE,
    sql: copyRow('payouts', 'true', { id: BASELINE('r.id'), reference: `'nobody-asked'` }),
  },
  {
    name: 'an order at the rail is no payout of ours',
    promise: NOWHERE,
    rail: (lines, { confirmed }) => [...lines, ordered(lines, confirmed, { internalId: NEVER })],
  },
  {
    name: 'two payouts have one reference',
    promise: 'one payout per reference',
    sql: copyRow('payouts', 'true', { id: BASELINE('r.id') }),
  },
  {
    name: 'a repeat was told another payout',
    promise: 'one payout per idempotency key',
    client: (lines) => {
      const sent = lines.find((line) => line.kind === 'payout sent' && line['idempotencyKey'] !== null);
      const answered = lines.find(
        (line) => line.kind === 'payout answered' && line['attempt'] === sent?.['attempt'],
      );
      const payout = { ...(answered?.['payout'] as object), id: NEVER };
      return [...lines, { ...sent, attempt: -1 } as Line, { ...answered, attempt: -1, payout } as Line];
    },
  },
  {
    name: 'confirmed, and nothing was executed',
    promise: EXECUTED,
    rail: (lines, { confirmed }) => lines.filter((line) => !isExecution(line, confirmed)),
  },
  {
    name: 'executed twice',
    promise: EXECUTED,
    rail: (lines, { confirmed }) => [
      ...lines,
      { ...lines.find((line) => isExecution(line, confirmed)), executionId: 'again' } as Line,
    ],
  },
  {
    name: 'executed twice under two end-to-end ids',
    promise: EXECUTED,
    rail: (lines, { confirmed }) => [
      ...lines,
      ordered(lines, confirmed, { endToEndId: 'FRESH' }),
      {
        ...lines.find((line) => isExecution(line, confirmed)),
        executionId: 'again',
        endToEndId: 'FRESH',
      } as Line,
    ],
  },
  {
    name: 'executed with another amount',
    promise: EXECUTED,
    rail: (lines, { confirmed }) =>
      lines.map((line) => (isExecution(line, confirmed) ? { ...line, amount: '0.77' } : line)),
  },
  {
    name: 'executed to another key',
    promise: EXECUTED,
    rail: (lines, { confirmed }) =>
      lines.map((line) => (isExecution(line, confirmed) ? { ...line, key: '@SOMEBODYELSE' } : line)),
  },
  {
    name: 'two payouts are confirmed by one execution',
    promise: EXECUTED,
    sql: `update caudal.payouts set execution_id = (select execution_id from caudal.payouts where status = 'CONFIRMED' order by id offset 1 limit 1) where ${A_CONFIRMED}`,
  },
  {
    name: 'an executed payout says declined',
    promise: EXECUTED,
    sql: `update caudal.payouts set status = 'DECLINED', error_code = 'RAIL_REJECTED', execution_id = null where ${A_CONFIRMED}`,
  },
  {
    name: 'an executed payout is still open',
    promise: EXECUTED,
    sql: `update caudal.payouts set ${BACK_TO_OPEN} where ${A_CONFIRMED}`,
  },
  {
    name: 'money left late and its anomaly is gone',
    promise: EXECUTED,
    sql: `delete from caudal.anomalies where kind = 'sent_late'`,
  },
  {
    name: 'a canceled payout was ordered',
    promise: 'a canceled payout was never ordered',
    rail: (lines, { confirmed, canceled: { id, endToEndId } }) => [
      ...lines,
      ordered(lines, confirmed, { internalId: id, endToEndId }),
    ],
  },
  {
    name: 'an order went out under another end-to-end id',
    promise: ONE_ID,
    rail: (lines, { confirmed }) => [...lines, ordered(lines, confirmed, { endToEndId: 'FRESH' })],
  },
  {
    name: "a payout has another one's end-to-end id",
    promise: ONE_ID,
    sql: `update caudal.payouts set end_to_end_id = (select end_to_end_id from caudal.payouts where ${A_PAYOUT('CANCELED')}) where ${A_CONFIRMED}`,
  },
  {
    name: 'another amount was ordered',
    promise: 'ordered as asked for',
    rail: (lines, { confirmed }) => [...lines, ordered(lines, confirmed, { amount: '0.77' })],
  },
  {
    name: 'another key was ordered',
    promise: 'ordered as asked for',
    rail: (lines, { confirmed }) => [...lines, ordered(lines, confirmed, { key: '@SOMEBODYELSE' })],
  },
  {
    name: 'the person who was paid is not the one who was shown',
    promise: 'paid to whom was shown',
    rail: (lines) =>
      lines.map((line) => {
        const holder = line['holder'] as { person: object } | null;
        if (line.kind !== 'breb.resolve' || holder === null) return line;
        return { ...line, holder: { ...holder, person: { ...holder.person, documentNumber: '7' } } };
      }),
  },
  {
    name: 'a payout by a lookup was ordered without it',
    promise: 'paid to whom was shown',
    rail: (lines, { shown }) =>
      lines.map((line) =>
        line.kind === 'breb.orders'
          ? {
              ...line,
              orders: rowsOf(line).map(([id, internalId, resolution, ...rest]) =>
                id === shown.endToEndId
                  ? [id, internalId, null, ...rest]
                  : [id, internalId, resolution, ...rest],
              ),
            }
          : line,
      ),
  },
  {
    name: 'an attempt is not written down',
    promise: COMMITTED,
    sql: `delete from caudal.payout_attempts where payout_${A_CONFIRMED}`,
  },
  {
    name: 'an attempt was committed after its order arrived',
    promise: COMMITTED,
    sql: `update caudal.payout_attempts set at = at + interval '1 hour' where payout_${A_CONFIRMED}`,
  },
  {
    name: 'an order arrived twice by one attempt',
    promise: COMMITTED,
    rail: (lines, { confirmed }) => [...lines, ordered(lines, confirmed, {})],
  },
  {
    name: 'an order left again without asking',
    promise: 'sent again only when the rail knew of none',
    sql: `${copyRow('payout_attempts', `payout_${A_CONFIRMED}`, { number: '2', at: `r.at + interval '1 minute'` })};
      update caudal.payouts set attempts = 2 where ${A_CONFIRMED}`,
  },
  {
    name: 'an order left again though the rail was asked too early',
    promise: 'sent again only when the rail knew of none',
    sql: `${copyRow('payout_attempts', `payout_${A_CONFIRMED}`, { number: '2', at: `r.at + interval '1 minute'` })};
      update caudal.payouts set attempts = 2 where ${A_CONFIRMED}`,
    // At the very end nothing shifts time any more.
    rail: (lines, { first: { endToEndId, sentAt } }) => [
      ...lines.filter((line) => line.kind !== 'time.shifted'),
      {
        kind: 'breb.order-query',
        seq: 1_000_000,
        at: new Date(sentAt.getTime() + 5000).toISOString(),
        results: [[endToEndId, null, 'NOT_FOUND']],
      },
    ],
  },
  {
    name: 'declined, and the rail never said so',
    promise: WORD,
    rail: (lines, { declined }) =>
      lines.filter((line) => line.kind !== 'breb.order-ended' || line['endToEndId'] !== declined.endToEndId),
  },
  {
    name: 'declined with another reason than the rail gave',
    promise: WORD,
    sql: `update caudal.payouts set error_code = 'SUSPECTED_FRAUD' where ${A_PAYOUT('DECLINED')}`,
  },
  {
    name: 'declined for lack of funds that were there',
    promise: WORD,
    sql: `delete from caudal.ledger_transfers where cause_id = (select id::text from caudal.payouts where ${A_PAYOUT('CANCELED')});
      update caudal.payouts set status = 'DECLINED', error_code = 'INSUFFICIENT_FUNDS' where ${A_PAYOUT('CANCELED')}`,
  },
  {
    name: 'a cancel was granted and undone',
    promise: CANCEL,
    sql: `update caudal.payouts set status = 'DECLINED', error_code = 'RAIL_REJECTED' where ${A_PAYOUT('CANCELED')}`,
  },
  {
    name: 'a cancel was refused though nothing had been sent',
    promise: CANCEL,
    sql: `update caudal.payouts set attempts = 0, first_sent_at = null, last_sent_at = null where attempts > 0`,
  },
  {
    name: 'held is a cent off',
    promise: 'held is what is open',
    sql: `update caudal.ledger_balances set balance_in_cents = balance_in_cents + 1 where account = 'held'`,
  },
  {
    name: 'a balance is not the sum of its transfers',
    promise: 'balances add up',
    sql: `update caudal.ledger_balances set balance_in_cents = balance_in_cents + 1 where account = 'available'`,
  },
  {
    name: 'a hold is missing',
    promise: TRANSFERS,
    sql: `delete from caudal.ledger_transfers where ${A_TRANSFER('payout_hold')}`,
  },
  {
    name: 'a hold is released twice',
    promise: TRANSFERS,
    sql: copyRow('ledger_transfers', A_TRANSFER('payout_release'), { id: BASELINE('r.id') }),
  },
  {
    name: 'the money of a confirmed payout went back',
    promise: TRANSFERS,
    sql: `update caudal.ledger_transfers set credit_account = 'available' where ${A_TRANSFER('payout')}`,
  },
  {
    name: 'a cent too much was sent',
    promise: TRANSFERS,
    sql: `update caudal.ledger_transfers set amount_in_cents = amount_in_cents + 1 where ${A_TRANSFER('payout')}`,
  },
  {
    name: 'a transfer of no payout',
    promise: TRANSFERS,
    sql: `update caudal.ledger_transfers set cause_id = '${NEVER}' where ${A_TRANSFER('payout')}`,
  },
  {
    name: 'money that left late is not booked',
    promise: LEFT,
    sql: `delete from caudal.ledger_transfers where cause_kind = 'execution'`,
  },
  {
    name: 'money is booked that never left',
    promise: LEFT,
    sql: copyRow('ledger_transfers', A_TRANSFER('execution'), {
      id: BASELINE('r.id'),
      cause_id: `'BRE_B:never'`,
    }),
  },
  {
    name: 'an event is gone',
    promise: EVENTS,
    sql: `delete from caudal.events where ${AN_EVENT('events', 'id')}`,
  },
  {
    name: 'an event stands twice',
    promise: EVENTS,
    sql: copyRow('events', AN_EVENT('events', 'id'), { id: BASELINE('r.id') }),
  },
  {
    name: 'a final event is gone',
    promise: EVENTS,
    sql: `delete from caudal.final_events where ${AN_EVENT('final_events', 'event_id')}`,
  },
  {
    name: 'an event tells another end',
    promise: EVENTS,
    sql: `update caudal.events set event = 'payout.declined' where ${AN_EVENT('events', 'id')}`,
  },
  {
    name: 'an open payout has an event',
    promise: EVENTS,
    sql: `update caudal.payouts set ${BACK_TO_OPEN} where ${A_CONFIRMED}`,
  },
  {
    name: 'the first history row is gone',
    promise: LEGAL,
    sql: `delete from caudal.payout_history where from_status = 'NONE' and payout_${A_CONFIRMED}`,
  },
  {
    name: 'the last history row is gone',
    promise: LEGAL,
    sql: `delete from caudal.payout_history where from_status = 'PROCESSING' and payout_${A_CONFIRMED}`,
  },
  {
    name: 'the history ends elsewhere',
    promise: LEGAL,
    sql: `update caudal.payout_history set to_status = 'CANCELED' where from_status = 'PROCESSING' and payout_${A_CONFIRMED}`,
  },
  {
    name: 'the result has another date',
    promise: LEGAL,
    sql: `update caudal.payouts set result_at = result_at + interval '1 second' where ${A_CONFIRMED}`,
  },
  {
    name: 'a notice of an order is gone',
    promise: 'every acknowledged notice is kept',
    sql: `delete from caudal.rail_notices where id = (select id from caudal.rail_notices where about = 'payout' and notice_id is not null limit 1)`,
  },
  {
    name: 'a payout is open at the end',
    promise: END,
    sql: `update caudal.payouts set ${BACK_TO_OPEN} where ${A_CONFIRMED}`,
  },
  {
    name: 'a payout is still claimed',
    promise: END,
    sql: `update caudal.payouts set leased_until = clock_timestamp() + interval '1 hour', lease_token = id where ${A_CONFIRMED}`,
  },
];

function isExecution(line: Line, { endToEndId }: Named): boolean {
  return line.kind === 'breb.executed' && line['endToEndId'] === endToEndId;
}

type Row = readonly [
  endToEndId: string,
  internalId: string,
  resolutionId: string | null,
  key: string,
  amount: string,
  answered: string,
  code: string | null,
];

function rowsOf(line: Line): readonly Row[] {
  return line['orders'] as readonly Row[];
}

/** The order of a payout once more, at the end of the journal, with something changed. */
function ordered(
  lines: readonly Line[],
  { endToEndId: wanted }: Named,
  changes: { endToEndId?: string; internalId?: string; key?: string; amount?: string },
): Line {
  const line = lines.find(
    (each) => each.kind === 'breb.orders' && rowsOf(each).some(([id]) => id === wanted),
  );
  const row = line && rowsOf(line).find(([id]) => id === wanted);
  if (!line || !row) throw new Error('the sample has no order');
  const [endToEndId, internalId, resolutionId, key, amount, answered, code] = row;
  const {
    endToEndId: e = endToEndId,
    internalId: i = internalId,
    key: k = key,
    amount: a = amount,
  } = changes;
  return { ...line, orders: [[e, i, resolutionId, k, a, answered, code]] };
}
