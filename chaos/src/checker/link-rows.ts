import type { Query } from './query.ts';

export interface LinkRow {
  readonly organizationId: string;
  readonly id: string;
  readonly amount: bigint;
  readonly reference: string;
  readonly hasCustomer: boolean;
  readonly status: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly expiresAt: Date;
  readonly completedAt: Date | null;
  /** Received by its attempts. */
  readonly paid: bigint;
  readonly openBrebPayinId: string | null;
  readonly openPsePayinId: string | null;
  readonly payinId: string | null;
  /** No attempt may start any more. */
  readonly shut: boolean;
}

interface EventOfLink {
  readonly id: string;
  readonly event: string;
  readonly linkId: string;
}

const LINKS = `
  select organization_id as "organizationId", id, amount_in_cents as amount, reference, customer is not null as "hasCustomer", status,
    created_at as "createdAt", updated_at as "updatedAt", expires_at as "expiresAt", completed_at as "completedAt",
    paid_in_cents as paid, open_breb_payin_id as "openBrebPayinId", open_pse_payin_id as "openPsePayinId", payin_id as "payinId", closes_at <= caudal.now() as shut
  from caudal.payment_links`;

const EVENTS = `select id, event, resource_id as "linkId" from caudal.events where resource = 'paymentlink'`;

const FINAL_EVENTS = `
  select event_id as id, event, resource_id as "linkId" from caudal.final_events where event like 'paymentlink.%'`;

const REFERENCES = `
  select organization_id as "organizationId", reference, resource_id as "linkId"
  from caudal.resource_references where kind = 'payment_link'`;

const AUTHORIZATIONS = `select payin_id as "payinId" from caudal.payer_authorizations`;

/** Reads the payment links. */
export async function readLinkRows(query: Query) {
  const all = await query<LinkRow>(LINKS);
  const authorizations = await query<{ payinId: string }>(AUTHORIZATIONS);
  return {
    all,
    byId: new Map(all.map((link) => [link.id, link])),
    eventsByResource: Map.groupBy(await query<EventOfLink>(EVENTS), ({ linkId }) => linkId),
    finalEventsByResource: Map.groupBy(await query<EventOfLink>(FINAL_EVENTS), ({ linkId }) => linkId),
    references: await query<{ organizationId: string; reference: string; linkId: string }>(REFERENCES),
    authorized: new Set(authorizations.map(({ payinId }) => payinId)),
  };
}
