import type { Deps } from '../../deps.ts';
import type { Position } from '../../kit/cursor.ts';
import type { Page } from '../../kit/page.ts';
import type { Entry, EntryFilters } from '../../ledger/entry.ts';
import { listEntries } from '../../ledger/entry-list.store.ts';
import type { Principal } from '../../organizations/organization.ts';
import { readPage } from '../shared/read-page.ts';

export function readEntryPage(
  deps: Pick<Deps, 'read'>,
  { organization }: Principal,
  filters: EntryFilters,
  position: Position | null,
  pageSize: number,
): Promise<Page<Entry>> {
  return readPage(deps, organization.id, position, pageSize, (tx, limit) =>
    listEntries(tx, organization.id, filters, position, limit),
  );
}
