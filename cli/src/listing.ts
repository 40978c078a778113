import type { Option } from './command.ts';
import type { Given } from './given.ts';
import { readMoment } from './moments.ts';
import type { Screen } from './screen.ts';
import type { Column } from './table.ts';

export const LIST_OPTIONS: readonly Option[] = [
  { name: 'limit', value: 'N', summary: 'at most so many, 20 when left out' },
  { name: 'all', value: null, summary: 'every one, page after page' },
];

export const CREATED_OPTIONS: readonly Option[] = [
  { name: 'since', value: 'WHEN', summary: 'created since: 10m, 2h, 1d, a date or a time' },
  { name: 'until', value: 'WHEN', summary: 'created before' },
];

const MOST_IN_A_PAGE = 100;
const USUAL = 20;

export function createdRange(given: Given): { createdFrom?: string; createdTo?: string } {
  const [since, until] = [given.text('since'), given.text('until')];
  const now = Date.now();
  return {
    ...(since === undefined ? {} : { createdFrom: readMoment('since', since, now).toISOString() }),
    ...(until === undefined ? {} : { createdTo: readMoment('until', until, now).toISOString() }),
  };
}

export function howMany(given: Given): number {
  return given.flag('all') ? Number.POSITIVE_INFINITY : (given.whole('limit', 1, 100_000) ?? USUAL);
}

/** What a page should hold, so that no more is asked for than is shown. */
export function pageSize(most: number): number {
  return Math.min(most, MOST_IN_A_PAGE);
}

/** So many of a list, and whether there are more. */
export async function gather<T>(list: AsyncIterable<T>, most: number): Promise<{ rows: T[]; more: boolean }> {
  const rows: T[] = [];
  for await (const row of list) {
    if (rows.length === most) return { rows, more: true };
    rows.push(row);
  }
  return { rows, more: false };
}

export function showList<T>(
  screen: Screen,
  { rows, more }: { rows: readonly T[]; more: boolean },
  columns: readonly Column<T>[],
  none: string,
): void {
  screen.answer({ data: rows, more }, () => screen.table(columns, rows, none));
  if (more) screen.note(screen.styleNote('dim', 'There are more: --limit N or --all'));
}
