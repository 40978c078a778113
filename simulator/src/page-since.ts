import { z } from 'zod';
import { isoTime } from './wire.ts';

/** Items per page of a list. */
const PAGE_SIZE = 500;

/** Lists what happened since a time; the cursor of the previous page continues it. */
export const sinceBody = z.strictObject({
  since: isoTime,
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the cursor of the previous page')
    .nullish(),
});

export type SinceBody = z.infer<typeof sinceBody>;

/**
 * One page, oldest first. The cursor is the position of the next item in the store, to which items are only appended: what
 * is added between two pages appears on a later one.
 */
export function pageSince<Item>(
  all: Iterable<Item>,
  { since, cursor }: SinceBody,
  toTimes: (item: Item) => readonly (string | null)[],
): { readonly items: Item[]; readonly next: string | null } {
  const sinceMs = Date.parse(since);
  const first = Number(cursor ?? 0);
  const items: Item[] = [];
  let position = -1;
  for (const item of all) {
    position += 1;
    if (position < first || !toTimes(item).some((at) => at !== null && Date.parse(at) >= sinceMs)) continue;
    if (items.length === PAGE_SIZE) return { items, next: String(position) };
    items.push(item);
  }
  return { items, next: null };
}
