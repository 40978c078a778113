import { BASELINE, copyRow, type Damage, type Line } from './damage.ts';

/** Rows of the run that a journal's damage is aimed at. */
export interface Sample {
  readonly expiredKey: string;
  readonly declinedKey: string;
  readonly paidKey: string;
}

const EVENTS = 'one event per final state';
const CREATED = 'every 201 exists as told';
const NOWHERE = 'nothing from nowhere';
const BOOKS = "the books equal the rail's";
const SHARE = 'one payment to the merchant, the rest in suspense';
const LEGAL = 'legal transitions only';
const BALANCES = 'balances add up';
const CLOSED = 'closed before it expires';
const END = 'everything comes to its end';

const A_PAYMENT = `id = (select id from caudal.ledger_transfers where cause_kind = 'payment' and credit_account = 'pending' order by id limit 1)`;
const A_SUSPENSE = `id = (select id from caudal.ledger_transfers where credit_account = 'suspense' and resource_id is not null order by id limit 1)`;
const A_PAYIN = (status: string) =>
  `id = (select id from caudal.payins where status = '${status}' order by id limit 1)`;

/** One way each to spoil what a sound run with payins left behind. */
export const DAMAGES: readonly Damage<Sample>[] = [
  {
    name: 'an event is gone',
    promise: EVENTS,
    sql: 'delete from caudal.events where id = (select id from caudal.events limit 1)',
  },
  {
    name: 'an event stands twice',
    promise: EVENTS,
    sql: copyRow('events', 'true', { id: BASELINE('r.id') }),
  },
  {
    name: 'a final event is gone',
    promise: EVENTS,
    sql: 'delete from caudal.final_events where event_id = (select event_id from caudal.final_events limit 1)',
  },
  {
    name: 'an event tells another end',
    promise: EVENTS,
    sql: `update caudal.events set event = 'payin.declined' where id = (select id from caudal.events where event = 'payin.confirmed' limit 1)`,
  },
  {
    name: 'a payin is lost',
    promise: CREATED,
    sql: `delete from caudal.payins where ${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'an amount changed',
    promise: CREATED,
    sql: `update caudal.payins set amount_in_cents = amount_in_cents + 1 where ${A_PAYIN('CANCELED')}`,
  },
  {
    name: 'a payin comes from nowhere',
    promise: NOWHERE,
    sql: copyRow('payins', 'true', { id: BASELINE('r.id'), reference: `'nobody-asked'` }),
  },
  {
    name: 'two payins have one reference',
    promise: 'one payin per reference',
    sql: copyRow('payins', 'true', { id: BASELINE('r.id') }),
  },
  {
    name: 'a repeat was told another payin',
    promise: 'one payin per idempotency key',
    client: (lines) => {
      const answered = lines.find((line) => line['status'] === 201 && keyOf(lines, line) !== null);
      const sent = lines.find((line) => line.kind === 'sent' && line['attempt'] === answered?.['attempt']);
      const payin = { ...(answered?.['payin'] as object), id: '00000000-0000-7000-8000-000000000000' };
      return [...lines, { ...sent, attempt: -1 } as Line, { ...answered, attempt: -1, payin } as Line];
    },
  },
  {
    name: 'a confirmed payin says declined',
    promise: LEGAL,
    sql: `update caudal.payins set status = 'DECLINED', error_code = 'RAIL_REJECTED', confirmed_amount_in_cents = null where ${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'the first history row is gone',
    promise: LEGAL,
    sql: `delete from caudal.payin_history where from_status = 'NONE' and payin_${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'the last history row is gone',
    promise: LEGAL,
    sql: `delete from caudal.payin_history where from_status <> 'NONE' and payin_${A_PAYIN('DECLINED')}`,
  },
  {
    name: 'the confirmed amount is another',
    promise: 'confirmed by the exact amount',
    sql: `update caudal.payins set confirmed_amount_in_cents = confirmed_amount_in_cents + 1 where ${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'an underpaid payin says that another amount arrived',
    promise: "the rail's word for every end",
    sql: `update caudal.payins set confirmed_amount_in_cents = confirmed_amount_in_cents - 1 where id = (select id from caudal.payins where error_code = 'UNDERPAID' limit 1)`,
  },
  {
    name: 'an underpaid payin was confirmed',
    promise: 'confirmed by the exact amount',
    sql: `update caudal.payins set status = 'CONFIRMED', error_code = null where id = (select id from caudal.payins where error_code = 'UNDERPAID' limit 1)`,
  },
  {
    name: 'a transfer has no cause',
    promise: 'one transfer per cause',
    sql: `delete from caudal.ledger_causes where transfer_${A_PAYMENT}`,
  },
  {
    name: 'a transfer of money that never moved',
    promise: BOOKS,
    sql: copyRow('ledger_transfers', A_PAYMENT, { id: BASELINE('r.id'), cause_id: `'BRE_B:never'` }),
  },
  {
    name: 'an execution is booked twice',
    promise: BOOKS,
    sql: copyRow('ledger_transfers', A_PAYMENT, { id: BASELINE('r.id') }),
  },
  {
    name: 'a transfer is missing',
    promise: BOOKS,
    sql: `delete from caudal.ledger_transfers where ${A_PAYMENT}`,
  },
  {
    name: 'a transfer is a cent too much',
    promise: BOOKS,
    sql: `update caudal.ledger_transfers set amount_in_cents = amount_in_cents + 1 where ${A_PAYMENT}`,
  },
  {
    name: 'a second payment went to the merchant',
    promise: SHARE,
    sql: `update caudal.ledger_transfers set credit_account = 'pending' where ${A_SUSPENSE}`,
  },
  {
    name: 'an anomaly with money is gone',
    promise: 'money in suspense has its anomaly',
    sql: 'delete from caudal.anomalies where id = (select id from caudal.anomalies where amount_in_cents is not null limit 1)',
  },
  {
    name: 'a contradiction is forgotten',
    promise: 'what fits nothing is kept as an anomaly',
    sql: `delete from caudal.anomalies where kind = 'contradiction'`,
  },
  {
    name: 'a balance is a cent off',
    promise: BALANCES,
    sql: `update caudal.ledger_balances set balance_in_cents = balance_in_cents + 1 where account = 'available'`,
  },
  {
    name: 'a balance is below zero',
    promise: BALANCES,
    sql: `alter table caudal.ledger_balances drop constraint balance_not_below_zero;
      update caudal.ledger_balances set balance_in_cents = -1 where account = 'held'`,
  },
  {
    name: 'a settlement is not the sum of its payins',
    promise: 'settlements add up',
    sql: 'update caudal.settlements set amount_in_cents = amount_in_cents + 1',
  },
  {
    name: 'a payin settled on a notification alone',
    promise: 'a payment settles after the rail listed it',
    sql: `update caudal.payins set payment_verified_at = null where id = (select id from caudal.payins where settlement_status = 'SETTLED' limit 1)`,
  },
  {
    name: 'a payin settled about which the rail was never queried',
    promise: 'a payment settles after the rail listed it',
    rail: (lines, { paidKey }) =>
      lines.map((line) =>
        line.kind === 'breb.query'
          ? {
              ...line,
              results: (line['results'] as [string, string][]).filter(([reference]) => reference !== paidKey),
            }
          : line,
      ),
  },
  {
    name: 'an acknowledged notice is gone',
    promise: 'every acknowledged notice is kept',
    sql: 'delete from caudal.rail_notices where id = (select id from caudal.rail_notices where notice_id is not null limit 1)',
  },
  {
    name: 'a notice that no rail sent',
    promise: NOWHERE,
    sql: copyRow('rail_notices', 'notice_id is not null', {
      id: BASELINE('r.id'),
      notice_id: `'never-sent'`,
    }),
  },
  {
    name: 'a notice still waits',
    promise: END,
    sql: `update caudal.rail_notices set task = 'apply', due_at = caudal.now() where id = (select id from caudal.rail_notices limit 1)`,
  },
  {
    name: 'a payin is still claimed',
    promise: END,
    sql: `update caudal.payins set leased_until = clock_timestamp() + interval '1 hour', lease_token = id where ${A_PAYIN('CANCELED')}`,
  },
  {
    name: 'a rail is still to be asked',
    promise: END,
    sql: `update caudal.payins set rail_task = 'close', rail_due_at = caudal.now() where ${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'a payin is open past its expiry',
    promise: END,
    sql: `update caudal.payins set status = 'PROCESSING', error_code = null, result_at = null where ${A_PAYIN('CANCELED')}`,
  },
  {
    name: 'a deposit is lost',
    promise: 'what an operator was told is done',
    sql: `delete from caudal.ledger_transfers where cause_kind = 'deposit'`,
  },
  {
    name: 'a deposit that nobody made',
    promise: NOWHERE,
    client: (lines) => lines.filter((line) => line['act'] !== 'deposit'),
  },
  {
    name: 'an anomaly that nobody resolved',
    promise: NOWHERE,
    client: (lines) => lines.filter((line) => line['act'] !== 'resolve'),
  },
  {
    name: 'money that moved at the rail and is not booked',
    promise: BOOKS,
    rail: (lines, { paidKey }) => {
      const paid = lines.findIndex((line) => line.kind === 'breb.paid' && line['key'] === paidKey);
      const [payment, notice] = lines.slice(paid, paid + 2);
      const executionId = 'unheard-of';
      const told = { ...(notice?.['notice'] as object), executionId };
      return [...lines, { ...payment, executionId } as Line, { ...notice, notice: told } as Line];
    },
  },
  {
    name: 'money in the books that never moved at the rail',
    promise: BOOKS,
    rail: (lines, { paidKey }) =>
      lines.filter((line) => line.kind !== 'breb.paid' || line['key'] !== paidKey),
  },
  {
    name: 'expired, and the key was never closed',
    promise: CLOSED,
    rail: (lines, { expiredKey }) =>
      lines.map((line) =>
        line.kind === 'breb.close'
          ? { ...line, keys: (line['keys'] as string[]).filter((key) => key !== expiredKey) }
          : line,
      ),
  },
  {
    name: 'expired before the key was closed',
    promise: CLOSED,
    rail: (lines, { expiredKey }) =>
      lines.map((line) =>
        line.kind === 'breb.close' && (line['keys'] as string[]).includes(expiredKey)
          ? { ...line, at: new Date(Date.parse(String(line['at'])) + 10_000).toISOString() }
          : line,
      ),
  },
  {
    name: 'expired, though it was paid before the key was closed',
    promise: CLOSED,
    rail: (lines, { expiredKey }) => [
      {
        kind: 'breb.paid',
        seq: 0,
        at: String(lines[0]?.['at']),
        key: expiredKey,
        executionId: 'early',
        amount: '1.00',
      },
      ...lines,
    ],
  },
  {
    name: 'declined, and no rail declined it',
    promise: "the rail's word for every end",
    rail: (lines, { declinedKey }) =>
      lines.filter((line) => line.kind !== 'breb.ended' || line['key'] !== declinedKey),
  },
];

function keyOf(lines: readonly Line[], answered: Line): unknown {
  return lines.find((line) => line.kind === 'sent' && line['attempt'] === answered['attempt'])?.[
    'idempotencyKey'
  ];
}
