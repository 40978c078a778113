import { z } from 'zod';
import { canonicalJson } from '../kit/canonical-json.ts';
import type { Position } from '../kit/cursor.ts';
import type { Page } from '../kit/page.ts';
import type { ApiDeps } from './api-deps.ts';
import { formatNamed } from './fields.ts';
import type { Reply } from './operation.ts';

const DEFAULT_PAGE_SIZE = 10;

const moment = (about: string) =>
  z.iso
    .datetime({ offset: true })
    .transform((value) => new Date(value))
    .describe(about);

/** The parameters every list has. */
export function listFields(what: string, done: string) {
  return {
    cursor: z
      .string()
      .max(200)
      .optional()
      .describe('`nextCursor` or `previousCursor` of an earlier page of the same list.'),
    pageSize: z
      .string()
      .regex(/^\d{1,9}$/, formatNamed('whole'))
      .transform(Number)
      .pipe(z.int().min(1).max(100))
      .default(DEFAULT_PAGE_SIZE)
      .describe(`${what} per page, 1 to 100.`),
    createdFrom: moment(`${done} at or after this moment.`).optional(),
    createdTo: moment(`${done} before this moment.`).optional(),
  };
}

export const pageInfo = z.strictObject({
  hasNext: z.boolean(),
  hasPrevious: z.boolean(),
  nextCursor: z.string().nullable(),
  previousCursor: z.string().nullable(),
});

export const PAGE_INFO_EXAMPLE = {
  hasNext: true,
  hasPrevious: false,
  nextCursor: 'AAGbLF6POnxBgAE_nSt6bBAx…',
  previousCursor: null,
} as const;

interface List<Item> {
  readonly name: string;
  readonly organizationId: string;
  /** A cursor is good for the list and filters it was made for, and for no other. */
  readonly filters: object;
  readonly cursor: string | undefined;
  readonly read: (position: Position | null) => Promise<Page<Item>>;
  readonly view: (item: Item) => object;
}

/** A page with its cursors. @throws Fault `cursor_invalid` */
export async function listReply<Item extends { readonly id: string }>(
  { cursors }: Pick<ApiDeps, 'cursors'>,
  { name, organizationId, filters, cursor, read, view }: List<Item>,
): Promise<Reply> {
  const scope = { list: name, organizationId, filters: canonicalJson(plain(filters)) };
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

/** Times as text, so that equal filters are equal. */
function plain(filters: object): object {
  return Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [
      name,
      value instanceof Date ? value.toISOString() : (value as unknown),
    ]),
  );
}
