import { anomaliesOfPayout } from '../../anomalies/anomaly.store.ts';
import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Deps } from '../../deps.ts';
import type { Position } from '../../kit/cursor.ts';
import { ApiError } from '../../kit/errors.ts';
import { type Page, pageOf } from '../../kit/page.ts';
import type { Principal } from '../../organizations/organization.ts';
import { findPayouts, payoutOf } from '../../payouts/payout.store.ts';
import type { Payout } from '../../payouts/payout.ts';
import { listPayouts, type PayoutFilters } from '../../payouts/payout-list.store.ts';
import { receiverIndex } from '../../payouts/receiver.seal.ts';

/** @throws Fault `not_found` for an id that is unknown or another organization's: the two cannot be told apart */
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
    return { payout: payoutOf(row, principal.secrets.dataKey), anomalies };
  });
}

/** @param key only payouts to this receiver; normalised */
export async function readPayoutPage(
  deps: Deps,
  principal: Principal,
  filters: Omit<PayoutFilters, 'receiver'> & { readonly key?: string | undefined },
  position: Position | null,
  pageSize: number,
): Promise<Page<Payout>> {
  const organizationId = principal.organization.id;
  const { key, ...rest } = filters;
  const { hashKey, dataKey } = principal.secrets;
  const receiver = key === undefined ? undefined : receiverIndex(hashKey, key);
  const rows = await deps.read.read(organizationId, (tx) =>
    listPayouts(tx, organizationId, { ...rest, receiver }, position, pageSize + 1),
  );
  return pageOf(
    rows.map((row) => payoutOf(row, dataKey)),
    position,
    pageSize,
  );
}
