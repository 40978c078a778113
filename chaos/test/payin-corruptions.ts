import { type Corruption, copyRow, type Line, siblingId } from './corruption.ts';

/** Rows of the run that journal corruptions target. */
export interface Sample {
  readonly expiredKey: string;
  readonly declinedKey: string;
  readonly paidKey: string;
}

const EVENTS = 'one_event_per_final_payin';
const CREATED = 'created_payin_exists';
const NO_ORIGIN = 'no_unexplained_records';
const LEDGER_MATCHES = 'ledger_matches_rail';
const ONE_CREDITED = 'one_payment_credited';
const LEGAL = 'legal_payin_transitions';
const BALANCES = 'balances_match_transfers';
const CLOSED_BEFORE_EXPIRY = 'key_closed_before_expiry';
const ALL_FINAL = 'no_pending_work';

const A_PAYMENT = `id = (select id from caudal.ledger_transfers where cause_kind = 'payment' and credit_account = 'pending' order by id limit 1)`;
const A_SUSPENSE = `id = (select id from caudal.ledger_transfers where credit_account = 'suspense' and resource_id is not null order by id limit 1)`;
const A_PAYIN = (status: string) =>
  `id = (select id from caudal.payins where status = '${status}' order by id limit 1)`;

/** Corruptions of a correct run with payins. */
export const PAYIN_CORRUPTIONS: readonly Corruption<Sample>[] = [
  {
    name: 'an event is missing',
    invariant: EVENTS,
    sql: 'delete from caudal.events where id = (select id from caudal.events limit 1)',
  },
  {
    name: 'an event exists twice',
    invariant: EVENTS,
    sql: copyRow('events', 'true', { id: siblingId('r.id') }),
  },
  {
    name: 'a final event is missing',
    invariant: EVENTS,
    sql: 'delete from caudal.final_events where event_id = (select event_id from caudal.final_events limit 1)',
  },
  {
    name: 'an event reports another final status',
    invariant: EVENTS,
    sql: `update caudal.events set event = 'payin.declined' where id = (select id from caudal.events where event = 'payin.confirmed' limit 1)`,
  },
  {
    name: 'an acknowledged payin is missing',
    invariant: CREATED,
    sql: `delete from caudal.payins where ${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'an amount changed after creation',
    invariant: CREATED,
    sql: `update caudal.payins set amount_in_cents = amount_in_cents + 1 where ${A_PAYIN('CANCELED')}`,
  },
  {
    name: 'a payin was never requested',
    invariant: NO_ORIGIN,
    sql: copyRow('payins', 'true', { id: siblingId('r.id'), reference: `'never-requested'` }),
  },
  {
    name: 'two payins have the same reference',
    invariant: 'one_payin_per_reference',
    sql: copyRow('payins', 'true', { id: siblingId('r.id') }),
  },
  {
    name: 'a repeat returned another payin',
    invariant: 'one_payin_per_idempotency_key',
    client: (lines) => {
      const answered = lines.find(
        (line) => line['status'] === 201 && findIdempotencyKey(lines, line) !== null,
      );
      const sent = lines.find((line) => line.kind === 'sent' && line['attempt'] === answered?.['attempt']);
      const payin = { ...(answered?.['payin'] as object), id: '00000000-0000-7000-8000-000000000000' };
      return [...lines, { ...sent, attempt: -1 } as Line, { ...answered, attempt: -1, payin } as Line];
    },
  },
  {
    name: 'a confirmed payin is marked declined',
    invariant: LEGAL,
    sql: `update caudal.payins set status = 'DECLINED', error_code = 'RAIL_REJECTED', confirmed_amount_in_cents = null where ${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'the first history row is missing',
    invariant: LEGAL,
    sql: `delete from caudal.payin_history where from_status = 'NONE' and payin_${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'the last history row is missing',
    invariant: LEGAL,
    sql: `delete from caudal.payin_history where from_status <> 'NONE' and payin_${A_PAYIN('DECLINED')}`,
  },
  {
    name: 'the confirmed amount differs',
    invariant: 'confirmed_by_exact_amount',
    sql: `update caudal.payins set confirmed_amount_in_cents = confirmed_amount_in_cents + 1 where ${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'an underpaid payin records another received amount',
    invariant: 'payin_end_reported_by_rail',
    sql: `update caudal.payins set confirmed_amount_in_cents = confirmed_amount_in_cents - 1 where id = (select id from caudal.payins where error_code = 'UNDERPAID' limit 1)`,
  },
  {
    name: 'an underpaid payin is confirmed',
    invariant: 'confirmed_by_exact_amount',
    sql: `update caudal.payins set status = 'CONFIRMED', error_code = null where id = (select id from caudal.payins where error_code = 'UNDERPAID' limit 1)`,
  },
  {
    name: 'a transfer has no cause',
    invariant: 'one_transfer_per_cause',
    sql: `delete from caudal.ledger_causes where transfer_${A_PAYMENT}`,
  },
  {
    name: 'a transfer has no execution at the rail',
    invariant: LEDGER_MATCHES,
    sql: copyRow('ledger_transfers', A_PAYMENT, { id: siblingId('r.id'), cause_id: `'BRE_B:never'` }),
  },
  {
    name: 'an execution is posted twice',
    invariant: LEDGER_MATCHES,
    sql: copyRow('ledger_transfers', A_PAYMENT, { id: siblingId('r.id') }),
  },
  {
    name: 'a transfer is missing',
    invariant: LEDGER_MATCHES,
    sql: `delete from caudal.ledger_transfers where ${A_PAYMENT}`,
  },
  {
    name: 'a transfer is one cent too high',
    invariant: LEDGER_MATCHES,
    sql: `update caudal.ledger_transfers set amount_in_cents = amount_in_cents + 1 where ${A_PAYMENT}`,
  },
  {
    name: 'a second payment is credited to the merchant',
    invariant: ONE_CREDITED,
    sql: `update caudal.ledger_transfers set credit_account = 'pending' where ${A_SUSPENSE}`,
  },
  {
    name: 'an anomaly with money is missing',
    invariant: 'suspense_has_anomaly',
    sql: 'delete from caudal.anomalies where id = (select id from caudal.anomalies where amount_in_cents is not null limit 1)',
  },
  {
    name: 'the anomaly of a contradiction is missing',
    invariant: 'inconsistent_notice_has_anomaly',
    sql: `delete from caudal.anomalies where kind = 'contradiction'`,
  },
  {
    name: 'a balance is off by one cent',
    invariant: BALANCES,
    sql: `update caudal.ledger_balances set balance_in_cents = balance_in_cents + 1 where account = 'available'`,
  },
  {
    name: 'a balance is below zero',
    invariant: BALANCES,
    sql: `alter table caudal.ledger_balances drop constraint balance_not_below_zero;
      update caudal.ledger_balances set balance_in_cents = -1 where account = 'held'`,
  },
  {
    name: 'a settlement differs from the sum of its payins',
    invariant: 'settlements_match_payins',
    sql: 'update caudal.settlements set amount_in_cents = amount_in_cents + 1',
  },
  {
    name: 'a payin settled without verification',
    invariant: 'settlement_requires_verification',
    sql: `update caudal.payins set payment_verified_at = null where id = (select id from caudal.payins where settlement_status = 'SETTLED' limit 1)`,
  },
  {
    name: 'a payin settled although the rail was never queried about it',
    invariant: 'settlement_requires_verification',
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
    name: 'an acknowledged notice is missing',
    invariant: 'acknowledged_notice_stored',
    sql: 'delete from caudal.rail_notices where id = (select id from caudal.rail_notices where notice_id is not null limit 1)',
  },
  {
    name: 'a stored notice was sent by no rail',
    invariant: NO_ORIGIN,
    sql: copyRow('rail_notices', 'notice_id is not null', {
      id: siblingId('r.id'),
      notice_id: `'never-sent'`,
    }),
  },
  {
    name: 'a notice is still pending',
    invariant: ALL_FINAL,
    sql: `update caudal.rail_notices set task = 'apply', due_at = caudal.now() where id = (select id from caudal.rail_notices limit 1)`,
  },
  {
    name: 'a payin is still leased',
    invariant: ALL_FINAL,
    sql: `update caudal.payins set leased_until = clock_timestamp() + interval '1 hour', lease_token = id where ${A_PAYIN('CANCELED')}`,
  },
  {
    name: 'a rail task is still due',
    invariant: ALL_FINAL,
    sql: `update caudal.payins set rail_task = 'close', rail_due_at = caudal.now() where ${A_PAYIN('CONFIRMED')}`,
  },
  {
    name: 'a payin is open past its expiry',
    invariant: ALL_FINAL,
    sql: `update caudal.payins set status = 'PROCESSING', error_code = null, result_at = null where ${A_PAYIN('CANCELED')}`,
  },
  {
    name: 'an acknowledged deposit is missing',
    invariant: 'acknowledged_command_applied',
    sql: `delete from caudal.ledger_transfers where cause_kind = 'deposit'`,
  },
  {
    name: 'a deposit was made by no operator',
    invariant: NO_ORIGIN,
    client: (lines) => lines.filter((line) => line['act'] !== 'deposit'),
  },
  {
    name: 'an anomaly was resolved by no operator',
    invariant: NO_ORIGIN,
    client: (lines) => lines.filter((line) => line['act'] !== 'resolve'),
  },
  {
    name: 'an execution at the rail is not posted',
    invariant: LEDGER_MATCHES,
    rail: (lines, { paidKey }) => {
      const paid = lines.findIndex((line) => line.kind === 'breb.paid' && line['key'] === paidKey);
      const [payment, notice] = lines.slice(paid, paid + 2);
      const executionId = 'unknown';
      const content = { ...(notice?.['notice'] as object), executionId };
      return [...lines, { ...payment, executionId } as Line, { ...notice, notice: content } as Line];
    },
  },
  {
    name: 'a posting has no execution at the rail',
    invariant: LEDGER_MATCHES,
    rail: (lines, { paidKey }) =>
      lines.filter((line) => line.kind !== 'breb.paid' || line['key'] !== paidKey),
  },
  {
    name: 'a payin expired although its key was never closed',
    invariant: CLOSED_BEFORE_EXPIRY,
    rail: (lines, { expiredKey }) =>
      lines.map((line) =>
        line.kind === 'breb.close'
          ? { ...line, keys: (line['keys'] as string[]).filter((key) => key !== expiredKey) }
          : line,
      ),
  },
  {
    name: 'a payin expired before its key was closed',
    invariant: CLOSED_BEFORE_EXPIRY,
    rail: (lines, { expiredKey }) =>
      lines.map((line) =>
        line.kind === 'breb.close' && (line['keys'] as string[]).includes(expiredKey)
          ? { ...line, at: new Date(Date.parse(String(line['at'])) + 10_000).toISOString() }
          : line,
      ),
  },
  {
    name: 'a payin expired although it was paid before its key was closed',
    invariant: CLOSED_BEFORE_EXPIRY,
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
    name: 'a payin is declined although no rail declined it',
    invariant: 'payin_end_reported_by_rail',
    rail: (lines, { declinedKey }) =>
      lines.filter((line) => line.kind !== 'breb.ended' || line['key'] !== declinedKey),
  },
];

function findIdempotencyKey(lines: readonly Line[], answered: Line): unknown {
  return lines.find((line) => line.kind === 'sent' && line['attempt'] === answered['attempt'])?.[
    'idempotencyKey'
  ];
}
