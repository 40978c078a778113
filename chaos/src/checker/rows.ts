import { readLinkRows } from './link-rows.ts';
import { readPayoutRows } from './payout-rows.ts';
import type { Query } from './query.ts';
import { readWebhookRows } from './webhook-rows.ts';

export interface PayinRow {
  readonly organizationId: string;
  readonly id: string;
  readonly amount: bigint;
  readonly confirmed: bigint | null;
  /** What earlier attempts of the link that it completed had received. */
  readonly earlierParts: bigint | null;
  readonly rail: 'BRE_B' | 'PSE';
  readonly status: string;
  readonly settlement: string | null;
  readonly settlementId: string | null;
  /** The rail listed its payment when the server queried it. */
  readonly verified: boolean;
  readonly errorCode: string | null;
  readonly reference: string;
  /** The payment link, if the payin is an attempt of one. */
  readonly linkId: string | null;
  readonly key: string | null;
  readonly expiresAt: Date;
  readonly resultAt: Date | null;
  readonly expired: boolean;
  readonly due: boolean;
  readonly leased: boolean;
}

export interface HistoryRow {
  readonly payinId: string;
  readonly from: string;
  readonly to: string;
  readonly at: Date;
}

export interface TransferRow {
  readonly organizationId: string;
  readonly id: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: bigint;
  readonly causeKind: string;
  readonly causeId: string;
  readonly resourceId: string | null;
}

export interface AnomalyRow {
  readonly organizationId: string;
  readonly id: string;
  readonly payinId: string | null;
  readonly payoutId: string | null;
  readonly returnPayoutId: string | null;
  readonly rail: string;
  readonly kind: string;
  readonly reference: string;
  readonly executionId: string | null;
  /** Negative for outgoing money. */
  readonly amount: bigint | null;
  readonly resolution: string | null;
  /** The merchant accepted the money. */
  readonly accepted: boolean;
}

export interface NoticeRow {
  readonly id: string;
  readonly noticeId: string | null;
  readonly reference: string;
  readonly task: string | null;
  readonly leased: boolean;
}

const PAYINS = `
  select organization_id as "organizationId", id, amount_in_cents as amount, confirmed_amount_in_cents as confirmed, earlier_parts_in_cents as "earlierParts", rail, status,
    settlement_status as settlement, settlement_id as "settlementId", payment_verified_at is not null as verified, error_code as "errorCode", reference, payment_link_id as "linkId", breb_key as key,
    expires_at as "expiresAt", result_at as "resultAt", expires_at <= caudal.now() as expired,
    coalesce(rail_due_at <= caudal.now(), false) as due, coalesce(leased_until > clock_timestamp(), false) as leased
  from caudal.payins`;

const HISTORY = `select payin_id as "payinId", from_status as "from", to_status as "to", at from caudal.payin_history order by at`;

const KEYS = `
  select key, payin_id as "payinId", coalesce(register_due_at <= caudal.now(), false) as due,
    coalesce(leased_until > clock_timestamp(), false) as leased
  from caudal.breb_keys`;

const EVENTS = `select id, event, resource_id as "resourceId" from caudal.events where resource = 'payin'`;

const FINAL_EVENTS = `select event_id as id, event, resource_id as "resourceId" from caudal.final_events where event like 'payin.%'`;

const TRANSFERS = `
  select organization_id as "organizationId", id, debit_account as debit, credit_account as credit, amount_in_cents as amount,
    cause_kind as "causeKind", cause_id as "causeId", resource_id as "resourceId"
  from caudal.ledger_transfers`;

const CAUSES = `
  select kind, id, organization_id as "organizationId", transfer_id as "transferId" from caudal.ledger_causes`;

const BALANCES = `
  select organization_id as "organizationId", account, balance_in_cents as balance from caudal.ledger_balances`;

const SETTLEMENTS = `
  select organization_id as "organizationId", id, amount_in_cents as amount, payins from caudal.settlements`;

const ANOMALIES = `
  select organization_id as "organizationId", id, payin_id as "payinId", payout_id as "payoutId", return_payout_id as "returnPayoutId",
    rail, kind, reference, execution_id as "executionId", amount_in_cents as amount, resolution,
    accepted_at is not null as accepted
  from caudal.anomalies`;

const NOTICES = `
  select id, notice_id as "noticeId", reference, task, coalesce(leased_until > clock_timestamp(), false) as leased
  from caudal.rail_notices`;

const REFERENCES = `
  select organization_id as "organizationId", reference, resource_id as "resourceId"
  from caudal.resource_references where kind = 'payin'`;

const IDEMPOTENCY_KEYS = `select organization_id as "organizationId", resource_id as "resourceId" from caudal.idempotency_keys`;

/** All rows that the invariants need. */
export type Rows = Awaited<ReturnType<typeof readRows>>;

export async function readRows(query: Query) {
  const payins = await query<PayinRow>(PAYINS);
  const history = await query<HistoryRow>(HISTORY);
  const events = await query<{ id: string; event: string; resourceId: string }>(EVENTS);
  const finalEvents = await query<{ id: string; event: string; resourceId: string }>(FINAL_EVENTS);
  return {
    payins,
    payinById: new Map(payins.map((payin) => [payin.id, payin])),
    historyByResource: Map.groupBy(history, (row) => row.payinId),
    eventsByResource: Map.groupBy(events, (row) => row.resourceId),
    finalEventsByResource: Map.groupBy(finalEvents, (row) => row.resourceId),
    keys: await query<{ key: string; payinId: string; due: boolean; leased: boolean }>(KEYS),
    transfers: await query<TransferRow>(TRANSFERS),
    causes: await query<{ kind: string; id: string; organizationId: string; transferId: string }>(CAUSES),
    balances: await query<{ organizationId: string; account: string; balance: bigint }>(BALANCES),
    settlements: await query<{ organizationId: string; id: string; amount: bigint; payins: number }>(
      SETTLEMENTS,
    ),
    anomalies: await query<AnomalyRow>(ANOMALIES),
    notices: await query<NoticeRow>(NOTICES),
    references: await query<{ organizationId: string; reference: string; resourceId: string }>(REFERENCES),
    payouts: await readPayoutRows(query),
    links: await readLinkRows(query),
    webhooks: await readWebhookRows(query),
    idempotencyKeys: await query<{ organizationId: string; resourceId: string }>(IDEMPOTENCY_KEYS),
  };
}
