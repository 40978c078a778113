import { z } from 'zod';
import { canonicalJson } from '../kit/canonical-json.ts';
import type { Position } from '../kit/cursor.ts';
import type { Page } from '../kit/page.ts';
import type { ApiDeps } from './api-deps.ts';
import { formatIssue } from './fields.ts';
import type { Reply } from './operation.ts';

const DEFAULT_PAGE_SIZE = 10;

const timeFilter = (about: string) =>
  z.iso
    .datetime({ offset: true })
    .transform((value) => new Date(value))
    .describe(about);

/** The query parameters that every list has. */
export function listFields(items: string, verb: string) {
  return {
    cursor: z
      .string()
      .max(200)
      .optional()
      .describe('`nextCursor` or `previousCursor` from a previous page of the same list.'),
    pageSize: z
      .string()
      .regex(/^\d{1,9}$/, formatIssue('integer'))
      .transform(Number)
      .pipe(z.int().min(1).max(100))
      .default(DEFAULT_PAGE_SIZE)
      .describe(`${items} per page, 1 to 100.`),
    createdFrom: timeFilter(`${verb} at or after this time.`).optional(),
    createdTo: timeFilter(`${verb} before this time.`).optional(),
  };
}

/** `pageSize` in a JSON body, where it is a number. */
export function pageSizeInBody(items: string) {
  return z.int().min(1).max(100).default(DEFAULT_PAGE_SIZE).describe(`${items} per page, 1 to 100.`);
}

export const pageInfo = z.strictObject({
  hasNext: z.boolean(),
  hasPrevious: z.boolean(),
  nextCursor: z.string().nullable(),
  previousCursor: z.string().nullable(),
});

const PAGE_INFO_EXAMPLE = {
  hasNext: true,
  hasPrevious: false,
  nextCursor: 'AAGbLF6POnxBgAE_nSt6bBAx…',
  previousCursor: null,
} as const;

/** The response of a list operation. */
export function pageResponse(items: string, schema: z.ZodType, example: object) {
  return {
    200: {
      description: `A page of ${items}.`,
      schema,
      example: { data: [example], pageInfo: PAGE_INFO_EXAMPLE },
    },
  };
}

interface List<Item> {
  readonly name: string;
  readonly organizationId: string;
  /** A cursor is valid only for the list and the filters that it was created for. */
  readonly filters: object;
  readonly cursor: string | undefined;
  readonly read: (position: Position | null) => Promise<Page<Item>>;
  readonly view: (item: Item) => object;
}

/** Replies with a page and its cursors. @throws ApiError `cursor_invalid` */
export async function listReply<Item extends { readonly id: string }>(
  { cursors }: Pick<ApiDeps, 'cursors'>,
  { name, organizationId, filters, cursor, read, view }: List<Item>,
): Promise<Reply> {
  const scope = { list: name, organizationId, filters: canonicalJson(toPlainFilters(filters)) };
  const page = await read(cursor === undefined ? null : cursors.decode(cursor, scope));
  const first = page.items[0];
  const last = page.items.at(-1);
  return {
    status: 200,
    body: {
      data: page.items.map(view),
      pageInfo: {
        hasNext: page.hasNext,
        hasPrevious: page.hasPrevious,
        nextCursor: page.hasNext && last ? cursors.encode({ direction: 'older', id: last.id }, scope) : null,
        previousCursor:
          page.hasPrevious && first ? cursors.encode({ direction: 'newer', id: first.id }, scope) : null,
      },
    },
  };
}

/** Converts dates to strings, so that equal filters have equal canonical JSON. */
function toPlainFilters(filters: object): object {
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [
      name,
      value instanceof Date ? value.toISOString() : (value as unknown),
    ]),
  );
}
