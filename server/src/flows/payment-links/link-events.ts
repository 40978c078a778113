import type { Deps } from '../../deps.ts';
import type { NewEvent } from '../../events/event.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { KeyRing } from '../../kit/key-ring.ts';
import { linkEventData } from '../../payment-links/payment-link.event.ts';
import { type LinkRow, linkWithoutCustomer } from '../../payment-links/payment-link.store.ts';

/** The final events of links that just completed or expired. */
export function linkEvents(
  deps: Pick<Deps, 'clock' | 'cell'>,
  ended: readonly LinkRow[],
  getDataKey: (organizationId: string) => KeyRing,
): NewEvent[] {
  return ended.map((row) => ({
    id: uuidv7(deps.clock.now(), deps.cell),
    organizationId: row.organization_id,
    event: row.status === 'COMPLETED' ? 'paymentlink.completed' : 'paymentlink.expired',
    resource: 'paymentlink',
    resourceId: row.id,
    createdAt: row.updated_at,
    data: linkEventData(linkWithoutCustomer(row, getDataKey(row.organization_id))),
    traceContext: row.trace_context,
  }));
}
