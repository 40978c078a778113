import type { Deps } from '../deps.ts';
import type { Position } from '../kit/cursor.ts';
import type { Entry, EntryFilters } from '../ledger/entry.ts';
import { listEntries } from '../ledger/entry-list.store.ts';
import type { Principal } from '../organizations/organization.ts';

export interface EntryPage {
  readonly entries: readonly Entry[];
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
}

export async function readEntryPage(
  deps: Pick<Deps, 'read'>,
  principal: Principal,
  filters: EntryFilters,
  position: Position | null,
  pageSize: number,
): Promise<EntryPage> {
  const organizationId = principal.organization.id;
  // One more than the page tells whether another follows in the direction of travel.
  const entries = await deps.read.read(organizationId, (tx) =>
    listEntries(tx, organizationId, filters, position, pageSize + 1),
  );
  const more = entries.length > pageSize;
  const backwards = position?.direction === 'newer';
  const page = backwards ? entries.slice(-pageSize) : entries.slice(0, pageSize);
  return {
    entries: page,
    hasNext: page.length > 0 && (backwards || more),
    hasPrevious: page.length > 0 && (backwards ? more : position !== null),
  };
}
