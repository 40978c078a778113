import { anomaliesOfPayin } from '../../anomalies/anomaly.store.ts';
import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Customer } from '../../customers/customer.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { type EventRow, listEvents } from '../../events/event-list.store.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { payinFromRow } from '../../payins/payin.store.ts';
import {
  type DetailedPayin,
  type HistoryEntry,
  type KeyRegistration,
  keyRegistration,
  payinDetails,
  payinHistory,
} from '../../payins/payin-details.store.ts';
import { payinsById } from '../../payins/payin-search.store.ts';
import { maskName, maskNumber } from '../../payouts/receiver-view.ts';
import { type CollectionStatus, type RailAnswer, unanswered } from '../../rails/contract.ts';
import { type DeliveryRow, listEventDeliveries } from '../../webhooks/delivery-list.store.ts';

/** All stored data about one payin, and its current status at the rail. */
export interface PayinOverview {
  readonly payin: DetailedPayin;
  readonly railReference: string;
  /** Masked. Null when there is none, or when it cannot be decrypted. */
  readonly customer: Customer | null;
  readonly history: readonly HistoryEntry[];
  /** Bre-B only. */
  readonly registration: KeyRegistration | null;
  /** The current answer of the rail, which is not applied. Null when no order was ever sent. */
  readonly railStatus: RailAnswer<CollectionStatus> | null;
  readonly anomalies: readonly Anomaly[];
  /** Its own, or those of its payment link. */
  readonly events: readonly { readonly event: EventRow; readonly deliveries: readonly DeliveryRow[] }[];
}

/** More than enough: a payin or link has one event. */
const MAX_EVENTS = 10;

/** @returns null when there is no such payin */
export async function showPayin(deps: SystemDeps, id: string): Promise<PayinOverview | null> {
  const stored = await deps.system.transaction('read', (tx) => readStored(tx, id));
  if (!stored) return null;
  const { payin } = stored;
  const railReference = toRailReference(payin);
  const sent = payin.sent_ms_ago !== null || payin.rail === 'BRE_B';
  return {
    ...stored,
    railReference,
    customer: await maskedCustomer(deps, payin),
    railStatus: sent ? await queryRailStatus(deps, payin, railReference) : null,
  };
}

async function readStored(tx: Tx, id: string) {
  const [payin] = await payinDetails(tx, await payinsById(tx, id));
  if (!payin) return null;
  const organizationId = payin.organization_id;
  const resourceId = payin.payment_link_id ?? id;
  const events = await listEvents(tx, organizationId, { resourceId }, null, MAX_EVENTS);
  const delivered: { event: EventRow; deliveries: DeliveryRow[] }[] = [];
  for (const event of events)
    delivered.push({ event, deliveries: await listEventDeliveries(tx, organizationId, event.id) });
  return {
    payin,
    history: await payinHistory(tx, { organizationId, id }),
    registration: payin.breb_key === null ? null : await keyRegistration(tx, payin.breb_key),
    anomalies: await anomaliesOfPayin(tx, organizationId, id),
    events: delivered,
  };
}

export function toRailReference(payin: DetailedPayin): string {
  return payin.breb_key ?? resourceReference(payin.id, payin.organization_number);
}

export async function queryRailStatus(
  deps: Pick<SystemDeps, 'rails'>,
  { rail }: Pick<DetailedPayin, 'rail'>,
  reference: string,
): Promise<RailAnswer<CollectionStatus>> {
  const [answer] = await deps.rails[rail].queryStatus([reference]);
  return answer ?? unanswered('the rail did not answer for this reference');
}

/** Masked, so that support can recognize the payer without seeing all personal data. */
async function maskedCustomer(deps: SystemDeps, payin: DetailedPayin): Promise<Customer | null> {
  if (payin.customer === null) return null;
  try {
    const secrets = await new DataKeys(deps.system, deps.masterKeys).load(new Set([payin.organization_id]));
    const { customer } = payinFromRow(payin, secrets(payin.organization_id).dataKey);
    return (
      customer && {
        name: maskName(customer.name),
        idType: customer.idType,
        idNumber: maskNumber(customer.idNumber),
        phone: maskNumber(customer.phone),
        email: customer.email.replace(/^(.)[^@]*/u, '$1***'),
      }
    );
  } catch {
    return null;
  }
}
