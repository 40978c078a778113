import type { Caudal } from '@caudal/sdk';
import { apiOf } from './client.ts';
import type { Context, Option } from './command.ts';
import type { ParsedArgs } from './parsed-args.ts';
import { defined } from './request-body.ts';
import { readMoment } from './time.ts';

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

export function createdRange(args: ParsedArgs): { createdFrom?: string; createdTo?: string } {
  const [since, until] = [args.text('since'), args.text('until')];
  const now = Date.now();
  return {
    ...(since === undefined ? {} : { createdFrom: readMoment('since', since, now).toISOString() }),
    ...(until === undefined ? {} : { createdTo: readMoment('until', until, now).toISOString() }),
  };
}

interface Listing<Query, Row> {
  readonly filters: Readonly<Record<string, unknown>>;
  readonly read: (caudal: Caudal, query: Query) => AsyncIterable<Row>;
  /** For people. */
  readonly text: (rows: readonly Row[]) => string;
}

/** Runs a command that lists: so many, or all, for people or as one document. */
export async function showListing<Query, Row>(
  context: Context,
  args: ParsedArgs,
  { filters, read, text }: Listing<Query, Row>,
): Promise<undefined> {
  const { screen } = context;
  const most = args.flag('all') ? Number.POSITIVE_INFINITY : (args.whole('limit', 1, 100_000) ?? USUAL);
  // No more is asked for than is shown.
  const query = defined({ ...filters, pageSize: Math.min(most, MOST_IN_A_PAGE) }) as Query;
  const { rows, more } = await gather(read(apiOf(context, args), query), most);
  screen.answer({ data: rows, more }, () => text(rows));
  if (more) screen.note(screen.styleNote('dim', 'There are more: --limit N or --all'));
  return undefined;
}

/** So many of a list, and whether there are more. */
async function gather<T>(list: AsyncIterable<T>, most: number): Promise<{ rows: T[]; more: boolean }> {
  const rows: T[] = [];
  for await (const row of list) {
    if (rows.length === most) return { rows, more: true };
    rows.push(row);
  }
  return { rows, more: false };
}
