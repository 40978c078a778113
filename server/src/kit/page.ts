import type { Position } from './cursor.ts';

/** A page of a list, newest first, and whether adjacent pages exist. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
}

/** @param found up to pageSize + 1 items: the extra item shows that another page follows in the requested direction */
export function toPage<T>(found: readonly T[], position: Position | null, pageSize: number): Page<T> {
  const more = found.length > pageSize;
  const backwards = position?.direction === 'newer';
  const items = backwards ? found.slice(-pageSize) : found.slice(0, pageSize);
  // An empty page (its items no longer match the filter) has no adjacent pages.
  return {
    items,
    hasNext: items.length > 0 && (backwards || more),
    hasPrevious: items.length > 0 && (backwards ? more : position !== null),
  };
}
