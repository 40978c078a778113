import type { DatabaseReader } from './database-reader.ts';
import type { Rail } from './rail.ts';

type Status = 'PENDING' | 'PROCESSING' | 'CONFIRMED' | 'DECLINED' | 'CANCELED';

export interface PayinRow {
  readonly id: string;
  readonly rail: Rail;
  readonly status: Status;
  readonly cents: string;
  readonly confirmed: string | null;
  readonly settlement: string | null;
  /** The rail listed its payment when the server queried it. */
  readonly verified: boolean;
  readonly error: string | null;
  readonly reference: string;
  readonly key: string | null;
  /** The execution that decided it. */
  readonly execution: string | null;
  /** The payment link that it is an attempt of. */
  readonly link: string | null;
  /** What earlier attempts of the link received, if this one completed it. */
  readonly earlier_parts: string | null;
  readonly result_at: string | null;
  readonly expires_at: string;
  /** Whether it ended after its expiry. */
  readonly after_expiry: boolean | null;
}

export interface LinkRow {
  readonly id: string;
  readonly status: 'PENDING' | 'COMPLETED' | 'EXPIRED';
  readonly cents: string;
  /** What its attempts received toward its amount. */
  readonly paid: string;
  /** The attempt that completed it. */
  readonly payin: string | null;
  readonly open_breb: string | null;
  readonly open_pse: string | null;
  /** No attempt may start any more. */
  readonly shut: boolean;
  /** Whether its last change came after its expiry. */
  readonly after_expiry: boolean;
}

export interface PayoutRow {
  readonly id: string;
  readonly status: Exclude<Status, 'PENDING'>;
  readonly cents: string;
  readonly error: string | null;
  readonly execution: string | null;
  readonly end_to_end_id: string;
  readonly resolution: string | null;
  readonly attempts: number;
  readonly result_at: string | null;
}

interface AttemptRow {
  readonly payout: string;
  readonly number: number;
  /** Business time at which it was committed. */
  readonly seconds: number;
  /** Recorded as without effect: not sent, or not accepted by the rail. */
  readonly unsent: boolean;
}

interface HistoryRow {
  /** Of a payin or a payout. */
  readonly resource: string;
  readonly from: string;
  readonly to: string;
  readonly at: string;
  /** `at` in seconds, for comparison. */
  readonly seconds: number;
}

export interface EventRow {
  readonly resource: string;
  readonly event: string;
  /** Its event in `final_events`. */
  readonly final: string | null;
}

export interface TransferRow {
  readonly id: string;
  readonly organization: string;
  readonly debit: string;
  readonly credit: string;
  readonly cents: string;
  readonly kind: string;
  readonly cause: string;
  readonly resource: string | null;
  /** The transfer id in the row of its cause. */
  readonly caused: string | null;
}

export interface AnomalyRow {
  readonly id: string;
  readonly kind: string;
  readonly payin: string | null;
  readonly payout: string | null;
  readonly reference: string;
  readonly execution: string | null;
  /** Negative for outgoing money. */
  readonly cents: string | null;
}

/** The database rows of a history, in one snapshot. */
export interface Snapshot {
  readonly payins: readonly PayinRow[];
  readonly payouts: readonly PayoutRow[];
  readonly links: readonly LinkRow[];
  readonly attempts: readonly AttemptRow[];
  /** Resources of the organization that no response acknowledged. */
  readonly unacknowledged: {
    readonly payins: readonly string[];
    readonly payouts: readonly string[];
    readonly links: readonly string[];
  };
  readonly history: readonly HistoryRow[];
  readonly events: readonly EventRow[];
  readonly transfers: readonly TransferRow[];
  readonly anomalies: readonly AnomalyRow[];
  /** Stored balances of the organization, with the sum of their transfers. */
  readonly balances: readonly { readonly account: string; readonly stored: string; readonly sum: string }[];
  readonly confirmed: {
    readonly pending: string;
    readonly settled: string;
    readonly settlements: string;
  };
  /** Totals of the organization: deposits, credited acceptances, open payouts and confirmed payouts. */
  readonly funds: {
    readonly deposits: string;
    readonly accepted: string;
    readonly open: string;
    readonly paid: string;
  };
  readonly notices: readonly string[];
}

export interface Scope {
  readonly organizationId: string;
  /** Business time at which the history started. */
  readonly since: string;
  readonly payinIds: readonly string[];
  readonly payoutIds: readonly string[];
  readonly linkIds: readonly string[];
}

/** SQL for a JSON array of rows, [] if empty. Amounts are selected as text, so that none becomes a float. */
function rows(select: string): string {
  return `(select coalesce(json_agg(r), '[]') from (${select}) r)`;
}

/**
 * Limits the read to recent ids, so that a long run does not read its past again. Ids contain the clock of the process that
 * created them, which may lag by several one-hour shifts, hence the wide margin.
 */
const FLOOR = `caudal.uuid_floor($2::timestamptz - interval '2 days')`;

/**
 * One statement reads one snapshot, so the compared rows are consistent even while workers run. The SQL shares nothing with
 * the server.
 */
const READ = `select json_build_object(
  'payins', ${rows(`
    select id, rail, status, amount_in_cents::text as cents, confirmed_amount_in_cents::text as confirmed,
      settlement_status as settlement, payment_verified_at is not null as verified, error_code as error, reference, breb_key as key,
      payment_execution_id as execution, payment_link_id as link, earlier_parts_in_cents::text as earlier_parts,
      result_at::text, expires_at::text, result_at >= expires_at as after_expiry
    from caudal.payins where organization_id = $1 and id = any ($3::uuid[])`)},
  'payouts', ${rows(`
    select id, status, amount_in_cents::text as cents, error_code as error, execution_id as execution, end_to_end_id,
      resolution_id as resolution, attempts, result_at::text
    from caudal.payouts where organization_id = $1 and id = any ($4::uuid[])`)},
  'links', ${rows(`
    select id, status, amount_in_cents::text as cents, paid_in_cents::text as paid, payin_id as payin,
      open_breb_payin_id as open_breb, open_pse_payin_id as open_pse, closes_at <= caudal.now() as shut,
      updated_at >= expires_at as after_expiry
    from caudal.payment_links where organization_id = $1 and id = any ($5::uuid[])`)},
  'attempts', ${rows(`
    select payout_id as payout, number, extract(epoch from at)::float8 as seconds, coalesce(answer in ('not_now', 'not_sent'), false) as unsent
    from caudal.payout_attempts where organization_id = $1 and payout_id = any ($4::uuid[]) order by payout_id, number`)},
  'unacknowledged', json_build_object(
    'payins', (
      select coalesce(json_agg(id), '[]') from caudal.payins
      where organization_id = $1 and created_at >= $2 and id <> all ($3::uuid[])),
    'payouts', (
      select coalesce(json_agg(id), '[]') from caudal.payouts
      where organization_id = $1 and created_at >= $2 and id <> all ($4::uuid[])),
    'links', (
      select coalesce(json_agg(id), '[]') from caudal.payment_links
      where organization_id = $1 and created_at >= $2 and id <> all ($5::uuid[]))),
  'history', ${rows(`
    select resource, "from", "to", at::text, extract(epoch from at)::float8 as seconds
    from (
      select payin_id as resource, from_status as "from", to_status as "to", at
      from caudal.payin_history where organization_id = $1 and payin_id = any ($3::uuid[])
      union all
      select payout_id, from_status, to_status, at
      from caudal.payout_history where organization_id = $1 and payout_id = any ($4::uuid[])
    ) h`)},
  'events', ${rows(`
    select coalesce(e.resource_id, f.resource_id) as resource, e.event, f.event as final
    from (select * from caudal.events where organization_id = $1 and resource_id = any ($3::uuid[] || $4::uuid[] || $5::uuid[])) e
    full join (select * from caudal.final_events where organization_id = $1 and resource_id = any ($3::uuid[] || $4::uuid[] || $5::uuid[])) f
      on f.event_id = e.id`)},
  'transfers', ${rows(`
    select t.id, t.organization_id as organization, t.debit_account as debit, t.credit_account as credit,
      t.amount_in_cents::text as cents, t.cause_kind as kind, t.cause_id as cause, t.resource_id as resource,
      c.transfer_id as caused
    from caudal.ledger_transfers t left join caudal.ledger_causes c on c.kind = t.cause_kind and c.id = t.cause_id
    where t.at >= $2 and t.id >= ${FLOOR}`)},
  'anomalies', ${rows(`
    select id, kind, payin_id as payin, payout_id as payout, reference, execution_id as execution, amount_in_cents::text as cents
    from caudal.anomalies where noticed_at >= $2`)},
  'balances', ${rows(`
    select b.account, b.balance_in_cents::text as stored, coalesce((
        select sum(case when t.credit_account = b.account then t.amount_in_cents else -t.amount_in_cents end)
        from caudal.ledger_transfers t
        where t.organization_id = $1 and b.account in (t.credit_account, t.debit_account)), 0)::text as sum
    from caudal.ledger_balances b where b.organization_id = $1`)},
  'confirmed', (
    select json_build_object(
      'pending', coalesce(sum(confirmed_amount_in_cents + coalesce(earlier_parts_in_cents, 0))
        filter (where settlement_status = 'PENDING_SETTLEMENT'), 0)::text,
      'settled', coalesce(sum(confirmed_amount_in_cents + coalesce(earlier_parts_in_cents, 0))
        filter (where settlement_status = 'SETTLED'), 0)::text,
      'settlements', (select coalesce(sum(amount_in_cents), 0)::text from caudal.settlements where organization_id = $1))
    from caudal.payins where organization_id = $1),
  'funds', (
    select json_build_object(
      'deposits', (
        select coalesce(sum(amount_in_cents), 0)::text from caudal.ledger_transfers
        where organization_id = $1 and cause_kind = 'deposit'),
      'accepted', (
        select coalesce(sum(amount_in_cents), 0)::text from caudal.anomalies
        where organization_id = $1 and accepted_at is not null and resolved_at is not null),
      'open', coalesce(sum(amount_in_cents) filter (where status = 'PROCESSING'), 0)::text,
      'paid', coalesce(sum(amount_in_cents) filter (where status = 'CONFIRMED'), 0)::text)
    from caudal.payouts where organization_id = $1),
  'notices', (
    select coalesce(json_agg(notice_id), '[]') from caudal.rail_notices
    where organization_id = (select id from caudal.organizations where is_operator) and id >= ${FLOOR}
      and received_at >= $2 and notice_id is not null)
) as snapshot`;

export async function readSnapshot(database: DatabaseReader, scope: Scope): Promise<Snapshot> {
  const [row] = await database.query<{ snapshot: Snapshot }>('snapshot', READ, [
    scope.organizationId,
    scope.since,
    scope.payinIds,
    scope.payoutIds,
    scope.linkIds,
  ]);
  if (!row) throw new Error('the database returned no row');
  return row.snapshot;
}

/** Expensive with many transfers, so it runs only at the end of a history. */
export async function causesWithoutTransfer(database: DatabaseReader): Promise<string[]> {
  const found = await database.query<{ id: string }>(
    'causes',
    `select c.kind || '/' || c.id as id from caudal.ledger_causes c
     where not exists (select from caudal.ledger_transfers t where t.organization_id = c.organization_id and t.id = c.transfer_id)`,
  );
  return found.map(({ id }) => id);
}
