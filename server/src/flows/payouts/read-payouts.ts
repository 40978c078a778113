import { anomaliesOfPayout } from '../../anomalies/anomaly.store.ts';
import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Deps } from '../../deps.ts';
import type { Position } from '../../kit/cursor.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Page } from '../../kit/page.ts';
import type { Principal } from '../../organizations/organization.ts';
import { findPayouts, payoutFromRow } from '../../payouts/payout.store.ts';
import type { Payout } from '../../payouts/payout.ts';
import { listPayouts, type PayoutFilters } from '../../payouts/payout-list.store.ts';
import { receiverIndex } from '../../payouts/receiver.encryption.ts';
import { readPage } from '../shared/read-page.ts';

/** @throws ApiError `not_found` for an id that is unknown or another organization's: callers cannot tell them apart */
export async function readPayout(
  deps: Deps,
  principal: Principal,
  id: string,
): Promise<{ readonly payout: Payout; readonly anomalies: readonly Anomaly[] }> {
  const organizationId = principal.organization.id;
  return deps.read.read(organizationId, async (tx) => {
    const [row] = await findPayouts(tx, [{ organizationId, id }]);
    if (!row) throw new ApiError('not_found');
    const anomalies = await anomaliesOfPayout(tx, organizationId, id);
    return { payout: payoutFromRow(row, principal.secrets.dataKey), anomalies };
  });
}

/** @param filters `brebKey`: only payouts to this Bre-B key, normalized */
export function readPayoutPage(
  deps: Deps,
  { organization, secrets }: Principal,
  { brebKey, ...filters }: Omit<PayoutFilters, 'receiver'> & { readonly brebKey?: string | undefined },
  position: Position | null,
  pageSize: number,
): Promise<Page<Payout>> {
  const receiver = brebKey === undefined ? undefined : receiverIndex(secrets.hashKey, brebKey);
  return readPage(deps, organization.id, position, pageSize, async (tx, limit) => {
    const rows = await listPayouts(tx, organization.id, { ...filters, receiver }, position, limit);
    return rows.map((row) => payoutFromRow(row, secrets.dataKey));
  });
}
