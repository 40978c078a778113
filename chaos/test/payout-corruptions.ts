import { type Corruption, copyRow, type Line, siblingId } from './corruption.ts';

/** Payouts of the run that journal corruptions target. */
export interface PayoutSample {
  readonly confirmed: Named;
  readonly declined: Named;
  readonly canceled: Named;
  /** Confirmed, with a looked-up key. */
  readonly shown: Named;
  /** The first confirmed payout, which SQL corruptions target. */
  readonly first: Named & { readonly sentAt: Date };
}

interface Named {
  readonly id: string;
  readonly endToEndId: string;
}

const CREATED = 'created_payout_exists';
const NO_ORIGIN = 'no_unexplained_records';
const EXECUTED = 'one_execution_per_confirmed_payout';
const ONE_ID = 'one_end_to_end_id_per_payout';
const COMMITTED = 'attempt_committed_before_send';
const DECLINE_REPORTED = 'payout_decline_reported_by_rail';
const CANCEL_HOLDS = 'cancel_response_holds';
const EVENTS = 'one_event_per_final_payout';
const LEGAL = 'legal_payout_transitions';
const TRANSFERS = 'payout_transfers_match_status';
const UNEXPECTED_EXECUTION = 'unexpected_execution_has_anomaly';
const ALL_FINAL = 'every_payout_final';

const A_PAYOUT = (status: string, and = 'true') =>
  `id = (select id from caudal.payouts where status = '${status}' and ${and} order by id limit 1)`;
const A_CONFIRMED = A_PAYOUT('CONFIRMED');
const A_TRANSFER = (cause: string) =>
  `id = (select id from caudal.ledger_transfers where cause_kind = '${cause}' order by id limit 1)`;
const AN_EVENT = (table: string, id: string) =>
  `${id} = (select ${id} from caudal.${table} where event = 'payout.confirmed' order by ${id} limit 1)`;
const BACK_TO_OPEN = `status = 'PROCESSING', result_at = null, execution_id = null, rail_task = 'poll', rail_due_at = caudal.now() + interval '1 hour'`;
const NEVER = '00000000-0000-7000-8000-000000000000';

export const PAYOUT_CORRUPTIONS: readonly Corruption<PayoutSample>[] = [
  {
    name: 'an acknowledged payout is missing',
    invariant: CREATED,
    sql: `delete from caudal.payouts where ${A_CONFIRMED}`,
  },
  {
    name: 'an amount changed after creation',
    invariant: CREATED,
    sql: `update caudal.payouts set amount_in_cents = amount_in_cents + 1 where ${A_PAYOUT('CANCELED')}`,
  },
  {
    name: 'a payout was never requested',
    invariant: NO_ORIGIN,
    sql: copyRow('payouts', 'true', { id: siblingId('r.id'), reference: `'never-requested'` }),
  },
  {
    name: 'a rail order has no payout',
    invariant: NO_ORIGIN,
    rail: (lines, { confirmed }) => [...lines, copyOrder(lines, confirmed, { internalId: NEVER })],
  },
  {
    name: 'two payouts have the same reference',
    invariant: 'one_payout_per_reference',
    sql: copyRow('payouts', 'true', { id: siblingId('r.id') }),
  },
  {
    name: 'a repeat returned another payout',
    invariant: 'one_payout_per_idempotency_key',
    client: (lines) => {
      const sent = lines.find((line) => line.kind === 'payout_sent' && line['idempotencyKey'] !== null);
      const answered = lines.find(
        (line) => line.kind === 'payout_answered' && line['attempt'] === sent?.['attempt'],
      );
      const payout = { ...(answered?.['payout'] as object), id: NEVER };
      return [...lines, { ...sent, attempt: -1 } as Line, { ...answered, attempt: -1, payout } as Line];
    },
  },
  {
    name: 'a payout is confirmed but not executed',
    invariant: EXECUTED,
    rail: (lines, { confirmed }) => lines.filter((line) => !isExecution(line, confirmed)),
  },
  {
    name: 'a payout is executed twice',
    invariant: EXECUTED,
    rail: (lines, { confirmed }) => [
      ...lines,
      { ...lines.find((line) => isExecution(line, confirmed)), executionId: 'again' } as Line,
    ],
  },
  {
    name: 'a payout is executed twice under two end-to-end ids',
    invariant: EXECUTED,
    rail: (lines, { confirmed }) => [
      ...lines,
      copyOrder(lines, confirmed, { endToEndId: 'FRESH' }),
      {
        ...lines.find((line) => isExecution(line, confirmed)),
        executionId: 'again',
        endToEndId: 'FRESH',
      } as Line,
    ],
  },
  {
    name: 'a payout is executed with another amount',
    invariant: EXECUTED,
    rail: (lines, { confirmed }) =>
      lines.map((line) => (isExecution(line, confirmed) ? { ...line, amount: '0.77' } : line)),
  },
  {
    name: 'a payout is executed to another key',
    invariant: EXECUTED,
    rail: (lines, { confirmed }) =>
      lines.map((line) => (isExecution(line, confirmed) ? { ...line, key: '@OTHERPERSON' } : line)),
  },
  {
    name: 'one execution confirms two payouts',
    invariant: EXECUTED,
    sql: `update caudal.payouts set execution_id = (select execution_id from caudal.payouts where status = 'CONFIRMED' order by id offset 1 limit 1) where ${A_CONFIRMED}`,
  },
  {
    name: 'an executed payout is marked declined',
    invariant: EXECUTED,
    sql: `update caudal.payouts set status = 'DECLINED', error_code = 'RAIL_REJECTED', execution_id = null where ${A_CONFIRMED}`,
  },
  {
    name: 'an executed payout is still open',
    invariant: EXECUTED,
    sql: `update caudal.payouts set ${BACK_TO_OPEN} where ${A_CONFIRMED}`,
  },
  {
    name: 'the anomaly of a late execution is missing',
    invariant: EXECUTED,
    sql: `delete from caudal.anomalies where kind = 'sent_late'`,
  },
  {
    name: 'a canceled payout has an attempt that may have reached the rail',
    invariant: 'canceled_payout_never_sent',
    sql: `insert into caudal.payout_attempts (organization_id, payout_id, number, at)
        select organization_id, id, 1, created_at from caudal.payouts where ${A_PAYOUT('CANCELED')};
      update caudal.payouts set attempts = 1, unsent_attempts = 1, first_sent_at = created_at, last_sent_at = created_at
        where ${A_PAYOUT('CANCELED')}`,
  },
  {
    name: 'the order of a canceled payout reached the rail',
    invariant: 'canceled_payout_never_sent',
    rail: (lines, { confirmed, canceled: { id, endToEndId } }) => [
      ...lines,
      copyOrder(lines, confirmed, { internalId: id, endToEndId }),
    ],
  },
  {
    name: 'an order was sent under another end-to-end id',
    invariant: ONE_ID,
    rail: (lines, { confirmed }) => [...lines, copyOrder(lines, confirmed, { endToEndId: 'FRESH' })],
  },
  {
    name: "a payout has another one's end-to-end id",
    invariant: ONE_ID,
    sql: `update caudal.payouts set end_to_end_id = (select end_to_end_id from caudal.payouts where ${A_PAYOUT('CANCELED')}) where ${A_CONFIRMED}`,
  },
  {
    name: 'an order has another amount',
    invariant: 'order_matches_request',
    rail: (lines, { confirmed }) => [...lines, copyOrder(lines, confirmed, { amount: '0.77' })],
  },
  {
    name: 'an order has another key',
    invariant: 'order_matches_request',
    rail: (lines, { confirmed }) => [...lines, copyOrder(lines, confirmed, { key: '@OTHERPERSON' })],
  },
  {
    name: 'the receiver differs from the lookup',
    invariant: 'paid_to_resolved_receiver',
    rail: (lines) =>
      lines.map((line) => {
        const holder = line['holder'] as { person: object } | null;
        if (line.kind !== 'breb.resolve' || holder === null) return line;
        return { ...line, holder: { ...holder, person: { ...holder.person, documentNumber: '7' } } };
      }),
  },
  {
    name: 'the order of a looked-up payout has no resolution',
    invariant: 'paid_to_resolved_receiver',
    rail: (lines, { shown }) =>
      lines.map((line) =>
        line.kind === 'breb.orders'
          ? {
              ...line,
              orders: getRows(line).map(([id, internalId, resolution, ...rest]) =>
                id === shown.endToEndId
                  ? [id, internalId, null, ...rest]
                  : [id, internalId, resolution, ...rest],
              ),
            }
          : line,
      ),
  },
  {
    name: 'an attempt is not recorded',
    invariant: COMMITTED,
    sql: `delete from caudal.payout_attempts where payout_${A_CONFIRMED}`,
  },
  {
    name: 'an attempt was committed after its order arrived',
    invariant: COMMITTED,
    sql: `update caudal.payout_attempts set at = at + interval '1 hour' where payout_${A_CONFIRMED}`,
  },
  {
    name: 'one attempt sent two orders',
    invariant: COMMITTED,
    rail: (lines, { confirmed }) => [...lines, copyOrder(lines, confirmed, {})],
  },
  {
    name: 'an order was resent without a poll',
    invariant: 'resend_requires_unknown_order',
    sql: `${copyRow('payout_attempts', `payout_${A_CONFIRMED}`, { number: '2', at: `r.at + interval '1 minute'` })};
      update caudal.payouts set attempts = 2 where ${A_CONFIRMED}`,
  },
  {
    name: 'an order was resent after a poll that was too early',
    invariant: 'resend_requires_unknown_order',
    sql: `${copyRow('payout_attempts', `payout_${A_CONFIRMED}`, { number: '2', at: `r.at + interval '1 minute'` })};
      update caudal.payouts set attempts = 2 where ${A_CONFIRMED}`,
    // Without time shifts, the poll counts as too early.
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
    name: 'a payout is declined although the rail did not reject it',
    invariant: DECLINE_REPORTED,
    rail: (lines, { declined }) =>
      lines.filter((line) => line.kind !== 'breb.order-ended' || line['endToEndId'] !== declined.endToEndId),
  },
  {
    name: "a payout is declined with another reason than the rail's",
    invariant: DECLINE_REPORTED,
    sql: `update caudal.payouts set error_code = 'SUSPECTED_FRAUD' where ${A_PAYOUT('DECLINED')}`,
  },
  {
    name: 'a payout is declined for insufficient funds although covered',
    invariant: DECLINE_REPORTED,
    sql: `delete from caudal.ledger_transfers where cause_id = (select id::text from caudal.payouts where ${A_PAYOUT('CANCELED')});
      update caudal.payouts set status = 'DECLINED', error_code = 'INSUFFICIENT_FUNDS' where ${A_PAYOUT('CANCELED')}`,
  },
  {
    name: 'a granted cancel was undone',
    invariant: CANCEL_HOLDS,
    sql: `update caudal.payouts set status = 'DECLINED', error_code = 'RAIL_REJECTED' where ${A_PAYOUT('CANCELED')}`,
  },
  {
    name: 'a cancel was rejected although nothing was sent',
    invariant: CANCEL_HOLDS,
    sql: `update caudal.payouts set attempts = 0, first_sent_at = null, last_sent_at = null where attempts > 0`,
  },
  {
    name: 'the held balance is off by one cent',
    invariant: 'held_equals_open_payouts',
    sql: `update caudal.ledger_balances set balance_in_cents = balance_in_cents + 1 where account = 'held'`,
  },
  {
    name: 'a balance differs from the sum of its transfers',
    invariant: 'balances_match_transfers',
    sql: `update caudal.ledger_balances set balance_in_cents = balance_in_cents + 1 where account = 'available'`,
  },
  {
    name: 'a hold is missing',
    invariant: TRANSFERS,
    sql: `delete from caudal.ledger_transfers where ${A_TRANSFER('payout_hold')}`,
  },
  {
    name: 'a hold is released twice',
    invariant: TRANSFERS,
    sql: copyRow('ledger_transfers', A_TRANSFER('payout_release'), { id: siblingId('r.id') }),
  },
  {
    name: 'the money of a confirmed payout was released',
    invariant: TRANSFERS,
    sql: `update caudal.ledger_transfers set credit_account = 'available' where ${A_TRANSFER('payout')}`,
  },
  {
    name: 'a payout transfer is one cent too high',
    invariant: TRANSFERS,
    sql: `update caudal.ledger_transfers set amount_in_cents = amount_in_cents + 1 where ${A_TRANSFER('payout')}`,
  },
  {
    name: 'a transfer belongs to no payout',
    invariant: TRANSFERS,
    sql: `update caudal.ledger_transfers set cause_id = '${NEVER}' where ${A_TRANSFER('payout')}`,
  },
  {
    name: 'a late execution is not posted',
    invariant: UNEXPECTED_EXECUTION,
    sql: `delete from caudal.ledger_transfers where cause_kind = 'execution'`,
  },
  {
    name: 'a posting has no execution',
    invariant: UNEXPECTED_EXECUTION,
    sql: copyRow('ledger_transfers', A_TRANSFER('execution'), {
      id: siblingId('r.id'),
      cause_id: `'BRE_B:never'`,
    }),
  },
  {
    name: 'an event is missing',
    invariant: EVENTS,
    sql: `delete from caudal.events where ${AN_EVENT('events', 'id')}`,
  },
  {
    name: 'an event exists twice',
    invariant: EVENTS,
    sql: copyRow('events', AN_EVENT('events', 'id'), { id: siblingId('r.id') }),
  },
  {
    name: 'a final event is missing',
    invariant: EVENTS,
    sql: `delete from caudal.final_events where ${AN_EVENT('final_events', 'event_id')}`,
  },
  {
    name: 'an event reports another final status',
    invariant: EVENTS,
    sql: `update caudal.events set event = 'payout.declined' where ${AN_EVENT('events', 'id')}`,
  },
  {
    name: 'an open payout has an event',
    invariant: EVENTS,
    sql: `update caudal.payouts set ${BACK_TO_OPEN} where ${A_CONFIRMED}`,
  },
  {
    name: 'the first history row is missing',
    invariant: LEGAL,
    sql: `delete from caudal.payout_history where from_status = 'NONE' and payout_${A_CONFIRMED}`,
  },
  {
    name: 'the last history row is missing',
    invariant: LEGAL,
    sql: `delete from caudal.payout_history where from_status = 'PROCESSING' and payout_${A_CONFIRMED}`,
  },
  {
    name: 'the history ends in another status',
    invariant: LEGAL,
    sql: `update caudal.payout_history set to_status = 'CANCELED' where from_status = 'PROCESSING' and payout_${A_CONFIRMED}`,
  },
  {
    name: 'result_at differs from the history',
    invariant: LEGAL,
    sql: `update caudal.payouts set result_at = result_at + interval '1 second' where ${A_CONFIRMED}`,
  },
  {
    name: 'an acknowledged order notice is missing',
    invariant: 'acknowledged_notice_stored',
    sql: `delete from caudal.rail_notices where id = (select id from caudal.rail_notices where about = 'payout' and notice_id is not null limit 1)`,
  },
  {
    name: 'a payout is still open after draining',
    invariant: ALL_FINAL,
    sql: `update caudal.payouts set ${BACK_TO_OPEN} where ${A_CONFIRMED}`,
  },
  {
    name: 'a payout is still leased',
    invariant: ALL_FINAL,
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

function getRows(line: Line): readonly Row[] {
  return line['orders'] as readonly Row[];
}

/** A copy of a payout's order with changes, to append to the journal. */
function copyOrder(
  lines: readonly Line[],
  { endToEndId: wanted }: Named,
  changes: { endToEndId?: string; internalId?: string; key?: string; amount?: string },
): Line {
  const line = lines.find(
    (each) => each.kind === 'breb.orders' && getRows(each).some(([id]) => id === wanted),
  );
  const row = line && getRows(line).find(([id]) => id === wanted);
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
