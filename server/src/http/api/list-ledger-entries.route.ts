import { z } from 'zod';
import { readEntryPage } from '../../flows/read-ledger.ts';
import { canonicalJson } from '../../kit/canonical-json.ts';
import type { CursorScope } from '../../kit/cursor.ts';
import { ENTRY_ACCOUNT_FILTER, entryView } from '../../ledger/entry.view.ts';
import { merchantOperation } from '../operation.ts';
import { LEDGER_ENTRY_EXAMPLE, ledgerEntryListSchema } from './ledger.schema.ts';

const DEFAULT_PAGE_SIZE = 10;

const moment = (about: string) =>
  z.iso
    .datetime({ offset: true })
    .transform((value) => new Date(value))
    .describe(about);

const query = z.strictObject({
  cursor: z
    .string()
    .max(200)
    .optional()
    .describe('`nextCursor` or `previousCursor` of an earlier page of the same list.'),
  pageSize: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(DEFAULT_PAGE_SIZE)
    .describe('Entries per page, 1 to 100.'),
  account: z
    .enum(['AVAILABLE', 'PENDING', 'HELD'])
    .optional()
    .describe('Only entries that left or reached this account.'),
  createdFrom: moment('Booked at or after this moment.').optional(),
  createdTo: moment('Booked before this moment.').optional(),
});

export const listLedgerEntries = merchantOperation({
  method: 'GET',
  path: '/ledger/entries',
  operationId: 'listLedgerEntries',
  tag: 'Balance',
  summary: 'List ledger entries',
  description:
    'Every movement of your money, newest first: each takes an amount from one account (debit) to another (credit). Entries never change; what was wrong is put right by another. Follow `nextCursor` to older entries and `previousCursor` to newer ones, with the same filters.',
  scope: 'balance:read',
  query,
  responses: {
    200: {
      description: 'A page of entries.',
      schema: ledgerEntryListSchema,
      example: {
        data: [LEDGER_ENTRY_EXAMPLE],
        pageInfo: {
          hasNext: true,
          hasPrevious: false,
          nextCursor: 'AAGbLF6POnxBgAE_nSt6bBAx…',
          previousCursor: null,
        },
      },
    },
  },
  problems: ['cursor_invalid'],

  async handle(deps, principal, { query: { cursor, pageSize, ...filters } }) {
    const scope: CursorScope = {
      list: 'ledger entries',
      organizationId: principal.organization.id,
      filters: canonicalJson({
        ...filters,
        createdFrom: filters.createdFrom?.toISOString(),
        createdTo: filters.createdTo?.toISOString(),
      }),
    };
    const position = cursor === undefined ? null : deps.cursors.decode(cursor, scope);
    const account = filters.account && ENTRY_ACCOUNT_FILTER[filters.account];
    const page = await readEntryPage(deps, principal, { ...filters, account }, position, pageSize);
    const first = page.entries[0];
    const last = page.entries.at(-1);
    return {
      status: 200,
      body: {
        data: page.entries.map(entryView),
        pageInfo: {
          hasNext: page.hasNext,
          hasPrevious: page.hasPrevious,
          nextCursor:
            page.hasNext && last ? deps.cursors.encode({ direction: 'older', id: last.id }, scope) : null,
          previousCursor:
            page.hasPrevious && first
              ? deps.cursors.encode({ direction: 'newer', id: first.id }, scope)
              : null,
        },
      },
    };
  },
});
