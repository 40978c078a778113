import type { OptionDescription } from '@caudal/command-tree';
import type { Caudal } from '@caudal/sdk';
import { createApiClient } from '../connection/client.ts';
import type { Context } from '../framework/command.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { omitUndefined } from '../requests/request-body.ts';
import { parseTimestamp } from '../requests/time.ts';

export const LIST_OPTIONS: readonly OptionDescription[] = [
  { name: 'limit', value: 'N', summary: 'maximum number of rows (default: 20)' },
  { name: 'all', value: null, summary: 'all rows, across all pages' },
];

export const CREATED_OPTIONS: readonly OptionDescription[] = [
  { name: 'since', value: 'WHEN', summary: 'created since: 10m, 2h, 1d, a date or a timestamp' },
  { name: 'until', value: 'WHEN', summary: 'created before' },
];

const MAX_PAGE_SIZE = 100;
const DEFAULT_LIMIT = 20;

export function createdRange(args: ParsedArgs): { createdFrom?: string; createdTo?: string } {
  const [since, until] = [args.text('since'), args.text('until')];
  const now = Date.now();
  return {
    ...(since === undefined ? {} : { createdFrom: parseTimestamp('since', since, now).toISOString() }),
    ...(until === undefined ? {} : { createdTo: parseTimestamp('until', until, now).toISOString() }),
  };
}

interface Listing<Query, Row> {
  readonly filters: Readonly<Record<string, unknown>>;
  readonly read: (caudal: Caudal, query: Query) => AsyncIterable<Row>;
  readonly text: (rows: readonly Row[]) => string;
}

/** Runs a list command, with --limit or --all, as text or JSON. */
export async function showListing<Query, Row>(
  context: Context,
  args: ParsedArgs,
  { filters, read, text }: Listing<Query, Row>,
): Promise<undefined> {
  const { screen } = context;
  const limit = args.flag('all')
    ? Number.POSITIVE_INFINITY
    : (args.integer('limit', 1, 100_000) ?? DEFAULT_LIMIT);
  // Requests no more rows than it shows.
  const query = omitUndefined({ ...filters, pageSize: Math.min(limit, MAX_PAGE_SIZE) }) as Query;
  const { rows, more } = await collect(read(createApiClient(context, args), query), limit);
  screen.result({ data: rows, more }, () => text(rows));
  if (more) screen.note(screen.styleNote('dim', 'There are more: --limit N or --all'));
  return undefined;
}

/** The first `limit` rows, and whether there are more. */
async function collect<T>(list: AsyncIterable<T>, limit: number): Promise<{ rows: T[]; more: boolean }> {
  const rows: T[] = [];
  for await (const row of list) {
    if (rows.length === limit) return { rows, more: true };
    rows.push(row);
  }
  return { rows, more: false };
}
