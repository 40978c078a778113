import { AMOUNT, PAID_AFTER_MS, ROW, STATUSES } from './rows.ts';

const PAID_AFTER = `interval '${PAID_AFTER_MS} milliseconds'`;
/** Batch size of a settlement round. */
const SETTLED_TOGETHER = 1000;

const part = (from: number, length: number | string) =>
  `substr($1::bytea, i * ${ROW.bytes} + ${from + 1}, ${length})`;
const byte = (at: number) => `get_byte($1::bytea, i * ${ROW.bytes} + ${at})`;
const CODES = STATUSES.map((status) => `'${status}'`).join(', ');

/**
 * Inserts payins and their events from the bytes of `rows.ts`.
 * Parameters: bytes, owners, number of the first row, its index in the month, count, start of the month, step in
 * milliseconds, rows in the month.
 */
export function insertRows(month: string): string {
  return `with made as materialized (
    select encode(${part(ROW.id, 16)}, 'hex')::uuid as id, ($2::uuid[])[1 + ${byte(ROW.owner)}] as organization_id,
      (array[${CODES}])[1 + ${byte(ROW.status)}] as status, ${byte(ROW.pse)} = 1 as pse,
      encode(${part(ROW.eventId, 16)}, 'hex')::uuid as event_id, convert_from(${part(ROW.key, ROW.keyBytes)}, 'UTF8') as key,
      ${part(ROW.customer, ROW.customerBytes)} as customer,
      ${part(ROW.payload, `${byte(ROW.payloadLength)} * 256 + ${byte(ROW.payloadLength + 1)}`)} as payload,
      'order-' || lpad(($3::bigint + i)::text, 10, '0') as reference, ($4::integer + i) / ${SETTLED_TOGETHER} as round,
      date_trunc('milliseconds', $6::timestamptz + ($4::integer + i) * $7::float8 * interval '1 millisecond') as at
    from generate_series(0, $5::integer - 1) as i
  ),
  recorded as (
    insert into caudal.events_${month} (organization_id, id, event, resource, resource_id, payload, created_at)
    select organization_id, event_id, 'payin.' || lower(status), 'payin', id, payload, at + ${PAID_AFTER} from made
  )
  insert into caudal.payins_${month} (organization_id, id, amount_in_cents, confirmed_amount_in_cents, currency, rail, status, settlement_status,
    error_code, reference, customer, callback_url, created_at, updated_at, expires_at, result_at, breb_key_type, breb_key,
    pse_bank, pse_person_type, pse_url, pse_url_at, payment_execution_id, payment_verified_at, settlement_id)
  select organization_id, id, ${AMOUNT}, case when status = 'CONFIRMED' then ${AMOUNT} end, 'COP', case when pse then 'PSE' else 'BRE_B' end, status,
    case when status = 'CONFIRMED' then 'SETTLED' end,
    case status when 'DECLINED' then 'RAIL_REJECTED' when 'CANCELED' then 'EXPIRED' end,
    reference, customer, 'https://shop.example.com/thanks', at, at + ${PAID_AFTER}, at + interval '1 hour', at + ${PAID_AFTER},
    case when not pse then 'SINGLE_USE' end, case when not pse then key end,
    case when pse then 'CO_BANCOLOMBIA' end, case when pse then 'INDIVIDUAL' end,
    case when pse then 'https://bank.example.com/pay' end, case when pse then at end,
    case when status = 'CONFIRMED' then md5(id::text) end, case when status = 'CONFIRMED' then at + ${PAID_AFTER} end,
    case when status = 'CONFIRMED' then overlay(
      caudal.uuid_floor($6::timestamptz + least((round + 1) * ${SETTLED_TOGETHER}, $8::integer) * $7::float8 * interval '1 millisecond' + interval '31 minutes')::text
      placing '7' || substr(md5(organization_id::text || round)::uuid::text, 16) from 15)::uuid end
  from made`;
}

/** Statements that derive the rows of the other tables from the payins and events of a month. */
export function derivedRows(month: string): readonly string[] {
  const payins = `caudal.payins_${month} p`;
  return [
    `insert into caudal.payin_history_${month} (organization_id, payin_id, from_status, to_status, cause, at)
     select p.organization_id, p.id, h.from_status, h.to_status, h.cause, h.at from ${payins} cross join lateral (values
       ('NONE', case p.rail when 'PSE' then 'PENDING' else 'PROCESSING' end, 'created', p.created_at),
       (case p.rail when 'PSE' then 'PENDING' end, 'PROCESSING', 'opened', p.created_at),
       ('PROCESSING', p.status, 'paid_on_notification', p.result_at)) as h (from_status, to_status, cause, at)
     where h.from_status is not null`,
    `insert into caudal.final_events_${month} (organization_id, resource_id, event_id, event)
     select organization_id, resource_id, id, event from caudal.events_${month}`,
    `insert into caudal.ledger_transfers_${month} (organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id, at)
     select p.organization_id, p.id, 'clearing_' || lower(p.rail), 'pending', p.confirmed_amount_in_cents, 'payment',
       p.rail || ':' || md5(p.id::text), p.id, p.result_at from ${payins} where p.status = 'CONFIRMED'`,
    `with settled as (
       insert into caudal.settlements (organization_id, id, amount_in_cents, payins, at)
       select p.organization_id, p.settlement_id, sum(p.confirmed_amount_in_cents), count(*), max(p.result_at) + interval '30 minutes'
       from ${payins} where p.settlement_id is not null group by p.organization_id, p.settlement_id
       returning organization_id, id, amount_in_cents, at
     ),
     available as (
       update caudal.ledger_balances b set balance_in_cents = b.balance_in_cents + s.amount
       from (select organization_id, sum(amount_in_cents) as amount from settled group by organization_id) s
       where b.organization_id = s.organization_id and b.account = 'available'
     )
     insert into caudal.ledger_transfers_${month} (organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id, at)
     select organization_id, id, 'pending', 'available', amount_in_cents, 'settlement', id::text, id, at from settled`,
    `insert into caudal.ledger_causes (kind, id, organization_id, transfer_id, written_by)
     select cause_kind, cause_id, organization_id, id, 'caudal_system' from caudal.ledger_transfers_${month} order by cause_kind, cause_id`,
    `insert into caudal.breb_keys (key, organization_id, payin_id, minted_at, registered_at)
     select p.breb_key, p.organization_id, p.id, p.created_at, p.created_at from ${payins} where p.breb_key is not null order by p.breb_key`,
    `insert into caudal.resource_references (organization_id, kind, reference, resource_id)
     select p.organization_id, 'payin', p.reference, p.id from ${payins} order by p.organization_id, p.reference`,
    `insert into caudal.idempotency_keys (organization_id, key_hash, body_hash, resource_id, created_at)
     select p.organization_id, uuid_send(md5('key' || p.id)::uuid), uuid_send(md5('body' || p.id)::uuid), p.id, p.created_at
     from ${payins} where p.created_at > caudal.now() - interval '30 days' order by 1, 2`,
    `insert into caudal.webhook_deliveries_${month} (organization_id, endpoint_id, event_id, id, status, attempts, give_up_at, created_at, ended_at)
     select e.organization_id, w.id, e.id, e.id, 'DELIVERED', 1, e.created_at + interval '30 days', e.created_at, e.created_at
     from caudal.events_${month} e join caudal.webhook_endpoints w on w.organization_id = e.organization_id`,
    `insert into caudal.webhook_attempts_${month} (organization_id, endpoint_id, event_id, number, at, status_code, duration_ms)
     select organization_id, endpoint_id, event_id, 1, created_at, 200, 12 from caudal.webhook_deliveries_${month}`,
  ];
}

/** Subtotals of the shared accounts, as the schedule would have written them. */
export const SUBTOTALS = `
  with edge as (select date_trunc('hour', caudal.now() - interval '1 hour', 'UTC') as through),
  pair as (
    select t.debit_account, t.credit_account, sum(t.amount_in_cents) as amount from caudal.ledger_transfers t
    where t.id < (select caudal.uuid_floor(through) from edge) group by 1, 2
  )
  insert into caudal.ledger_subtotals (account, through, debits_in_cents, credits_in_cents)
  select a.account, edge.through, coalesce(sum(pair.amount) filter (where pair.debit_account = a.account), 0),
    coalesce(sum(pair.amount) filter (where pair.credit_account = a.account), 0)
  from edge cross join (values ('clearing_bre_b'), ('clearing_pse'), ('fees'), ('suspense'), ('treasury')) as a (account)
  left join pair on true where not exists (select from caudal.ledger_subtotals) group by a.account, edge.through`;
