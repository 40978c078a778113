import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import type { Position } from '../../kit/cursor.ts';
import { type Page, toPage } from '../../kit/page.ts';

/** Reads a page of an organization's list. The extra item that `list` is asked for shows whether another page follows. */
export async function readPage<Item>(
  { read }: Pick<Deps, 'read'>,
  organizationId: string,
  position: Position | null,
  pageSize: number,
  list: (tx: Tx, limit: number) => Promise<readonly Item[]>,
): Promise<Page<Item>> {
  const items = await read.read(organizationId, (tx) => list(tx, pageSize + 1));
  return toPage(items, position, pageSize);
}
