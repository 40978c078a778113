import type { Deps } from '../../deps.ts';
import type { Position } from '../../kit/cursor.ts';
import { type Page, toPage } from '../../kit/page.ts';
import type { Entry, EntryFilters } from '../../ledger/entry.ts';
import { listEntries } from '../../ledger/entry-list.store.ts';
import type { Principal } from '../../organizations/organization.ts';

export async function readEntryPage(
  deps: Pick<Deps, 'read'>,
  principal: Principal,
  filters: EntryFilters,
  position: Position | null,
  pageSize: number,
): Promise<Page<Entry>> {
  const organizationId = principal.organization.id;
  const entries = await deps.read.read(organizationId, (tx) =>
    listEntries(tx, organizationId, filters, position, pageSize + 1),
  );
  return toPage(entries, position, pageSize);
}
