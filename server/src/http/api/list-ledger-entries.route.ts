import { z } from 'zod';
import { readEntryPage } from '../../flows/ledger/read-ledger.ts';
import { ENTRY_ACCOUNT_FILTER, entryView } from '../../ledger/entry.view.ts';
import { listFields, listReply, pageResponse } from '../list.ts';
import { merchantOperation } from '../operation.ts';
import { LEDGER_ENTRY_EXAMPLE, ledgerEntryListSchema } from './ledger.schema.ts';

const { cursor, pageSize, ...span } = listFields('Entries', 'Posted');

const query = z.strictObject({
  cursor,
  pageSize,
  account: z
    .enum(['AVAILABLE', 'PENDING', 'HELD'])
    .optional()
    .describe('Only entries that debit or credit this account.'),
  ...span,
});

export const listLedgerEntries = merchantOperation({
  method: 'GET',
  path: '/ledger/entries',
  operationId: 'listLedgerEntries',
  tag: 'Balance',
  summary: 'List ledger entries',
  description:
    'All movements of your money, newest first. Each entry moves an amount from one account (debit) to another (credit). Entries never change; a correction is a new entry. Follow `nextCursor` to older entries and `previousCursor` to newer ones, with the same filters.',
  scope: 'balance:read',
  query,
  responses: pageResponse('entries', ledgerEntryListSchema, LEDGER_ENTRY_EXAMPLE),
  problems: ['cursor_invalid'],

  handle(deps, principal, { query: { cursor, pageSize, ...filters } }) {
    const account = filters.account && ENTRY_ACCOUNT_FILTER[filters.account];
    return listReply(deps, {
      name: 'ledger entries',
      organizationId: principal.organization.id,
      filters,
      cursor,
      read: (position) => readEntryPage(deps, principal, { ...filters, account }, position, pageSize),
      view: entryView,
    });
  },
});
