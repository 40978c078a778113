import { anomaliesOfPayin } from '../../anomalies/anomaly.store.ts';
import type { Anomaly } from '../../anomalies/anomaly.ts';
import type { Deps } from '../../deps.ts';
import type { Position } from '../../kit/cursor.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Page } from '../../kit/page.ts';
import type { Principal } from '../../organizations/organization.ts';
import { findPayin, payinFromRow } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import { listPayins, type PayinFilters } from '../../payins/payin-list.store.ts';
import { readPage } from '../shared/read-page.ts';

/** @throws ApiError `not_found` for an id that is unknown or belongs to another organization, without distinguishing them */
export async function readPayin(deps: Deps, principal: Principal, id: string): Promise<Payin> {
  return (await readPayinWithAnomalies(deps, principal, id)).payin;
}

/** @throws ApiError `not_found`, like `readPayin` */
export async function readPayinWithAnomalies(
  deps: Deps,
  principal: Principal,
  id: string,
): Promise<{ readonly payin: Payin; readonly anomalies: readonly Anomaly[] }> {
  const organizationId = principal.organization.id;
  return deps.read.read(organizationId, async (tx) => {
    const row = await findPayin(tx, organizationId, id);
    if (!row) throw new ApiError('not_found');
    // An open payin can have anomalies too, such as a notified payment that does not exist.
    const anomalies = await anomaliesOfPayin(tx, organizationId, id);
    return { payin: payinFromRow(row, principal.secrets.dataKey), anomalies };
  });
}

export function readPayinPage(
  deps: Deps,
  { organization, secrets }: Principal,
  filters: PayinFilters,
  position: Position | null,
  pageSize: number,
): Promise<Page<Payin>> {
  return readPage(deps, organization.id, position, pageSize, async (tx, limit) => {
    const rows = await listPayins(tx, organization.id, filters, position, limit);
    return rows.map((row) => payinFromRow(row, secrets.dataKey));
  });
}
