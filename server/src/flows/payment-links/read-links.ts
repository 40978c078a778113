import type { Deps } from '../../deps.ts';
import type { Position } from '../../kit/cursor.ts';
import { ApiError } from '../../kit/errors.ts';
import { type Page, toPage } from '../../kit/page.ts';
import type { Principal } from '../../organizations/organization.ts';
import { findLinks, linkFromRow } from '../../payment-links/payment-link.store.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';
import { type LinkFilters, listLinks } from '../../payment-links/payment-link-list.store.ts';

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

export async function readLinkPage(
  deps: Deps,
  { organization, secrets }: Principal,
  filters: LinkFilters,
  position: Position | null,
  pageSize: number,
): Promise<Page<PaymentLink>> {
  const rows = await deps.read.read(organization.id, (tx) =>
    listLinks(tx, organization.id, filters, position, pageSize + 1),
  );
  return toPage(
    rows.map((row) => linkFromRow(row, secrets.dataKey)),
    position,
    pageSize,
  );
}
