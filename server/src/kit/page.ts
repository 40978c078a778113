import type { Position } from './cursor.ts';

/** A page of a list, newest first, and whether others lie beside it. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
}

/** @param found one more than the page, if there is one: it tells whether another page follows in the direction of travel */
export function pageOf<T>(found: readonly T[], position: Position | null, pageSize: number): Page<T> {
  const more = found.length > pageSize;
  const backwards = position?.direction === 'newer';
  const items = backwards ? found.slice(-pageSize) : found.slice(0, pageSize);
  // An empty page (its items have left the filter meanwhile) leads nowhere.
  return {
    items,
    hasNext: items.length > 0 && (backwards || more),
    hasPrevious: items.length > 0 && (backwards ? more : position !== null),
  };
}
