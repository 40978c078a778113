import type { Deps } from '../../deps.ts';
import type { Position } from '../../kit/cursor.ts';
import { ApiError } from '../../kit/errors.ts';
import type { Page } from '../../kit/page.ts';
import type { Principal } from '../../organizations/organization.ts';
import { findLinks, linkFromRow } from '../../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';
import { type LinkFilters, listLinks } from '../../payment-links/payment-link-list.store.ts';
import { readPage } from '../shared/read-page.ts';

/** @throws ApiError `not_found` for an unknown id and for another organization's id, which are indistinguishable */
export async function readLink(
  deps: Deps,
  { organization, secrets }: Principal,
  id: string,
): Promise<PaymentLink> {
  const [row] = await deps.read.read(organization.id, (tx) =>
    findLinks(tx, [{ organizationId: organization.id, id }]),
  );
  if (!row) throw new ApiError('not_found');
  return linkFromRow(row, secrets.dataKey);
}

export function readLinkPage(
  deps: Deps,
  { organization, secrets }: Principal,
  filters: LinkFilters,
  position: Position | null,
  pageSize: number,
): Promise<Page<PaymentLink>> {
  return readPage(deps, organization.id, position, pageSize, async (tx, limit) => {
    const rows = await listLinks(tx, organization.id, filters, position, limit);
    return rows.map((row) => linkFromRow(row, secrets.dataKey));
  });
}
