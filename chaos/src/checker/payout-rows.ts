import type { Query } from './query.ts';

export interface PayoutRow {
  readonly organizationId: string;
  readonly id: string;
  readonly amount: bigint;
  readonly status: string;
  readonly errorCode: string | null;
  readonly reference: string;
  readonly endToEndId: string;
  readonly executionId: string | null;
  /** For a return: the anomaly whose money it returns, and the organization of that anomaly. */
  readonly anomalyId: string | null;
  readonly anomalyOrganizationId: string | null;
  /** It has a key resolution of the directory. */
  readonly resolved: boolean;
  readonly attempts: number;
  readonly resultAt: Date | null;
  readonly due: boolean;
  readonly leased: boolean;
}

export interface AttemptRow {
  readonly payoutId: string;
  readonly number: number;
  readonly at: Date;
  /** Recorded as without effect: not sent, or not accepted by the rail. */
  readonly unsent: boolean;
}

interface PayoutTransition {
  readonly payoutId: string;
  readonly from: string;
  readonly to: string;
  readonly at: Date;
}

export interface PayoutEvent {
  readonly id: string;
  readonly event: string;
  readonly resourceId: string;
}

const PAYOUTS = `
  select organization_id as "organizationId", id, amount_in_cents as amount, status, error_code as "errorCode", reference,
    end_to_end_id as "endToEndId", execution_id as "executionId", anomaly_id as "anomalyId",
    anomaly_organization_id as "anomalyOrganizationId", resolution_id is not null as resolved, attempts, result_at as "resultAt",
    coalesce(rail_due_at <= caudal.now(), false) as due, coalesce(leased_until > clock_timestamp(), false) as leased
  from caudal.payouts`;

const HISTORY = `
  select payout_id as "payoutId", from_status as "from", to_status as "to", at from caudal.payout_history order by at`;

const ATTEMPTS = `
  select payout_id as "payoutId", number, at, coalesce(answer in ('not_now', 'not_sent'), false) as unsent
  from caudal.payout_attempts order by payout_id, number`;

const EVENTS = `select id, event, resource_id as "resourceId" from caudal.events where resource = 'payout'`;

const FINAL_EVENTS = `
  select event_id as id, event, resource_id as "resourceId" from caudal.final_events where event not like 'payin.%' and event not like 'paymentlink.%'`;

const REFERENCES = `
  select organization_id as "organizationId", reference, resource_id as "resourceId"
  from caudal.resource_references where kind = 'payout'`;

/** Reads the payouts. */
export async function readPayoutRows(query: Query) {
  const all = await query<PayoutRow>(PAYOUTS);
  return {
    all,
    byId: new Map(all.map((payout) => [payout.id, payout])),
    byEndToEndId: new Map(all.map((payout) => [payout.endToEndId, payout])),
    historyByResource: Map.groupBy(await query<PayoutTransition>(HISTORY), (row) => row.payoutId),
    attemptsByPayout: Map.groupBy(await query<AttemptRow>(ATTEMPTS), (row) => row.payoutId),
    eventsByResource: Map.groupBy(await query<PayoutEvent>(EVENTS), (row) => row.resourceId),
    finalEventsByResource: Map.groupBy(await query<PayoutEvent>(FINAL_EVENTS), (row) => row.resourceId),
    references: await query<{ organizationId: string; reference: string; resourceId: string }>(REFERENCES),
  };
}
