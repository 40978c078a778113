import type { Caudal } from '@caudal/sdk';
import { createApiClient } from '../connection/client.ts';
import type { Command, Context } from '../framework/command.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../output/listing.ts';
import { formatCents } from '../requests/pesos.ts';
import { formatTimestamp } from '../requests/time.ts';

type EntryQuery = NonNullable<Parameters<Caudal['ledger']['listEntries']>[0]>;

export const MONEY_COMMANDS: readonly Command[] = [
  {
    name: 'balance',
    section: 'payments',
    summary: 'show the available, pending and held balance',
    options: [],
    args: [],
    examples: ['caudal balance'],
    run: balance,
  },
  {
    name: 'entries',
    section: 'payments',
    summary: 'list ledger entries, newest first',
    options: [
      {
        name: 'account',
        value: 'ACCOUNT',
        summary: 'only entries of this account',
        choices: ['AVAILABLE', 'PENDING', 'HELD'],
      },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    args: [],
    examples: ['caudal entries --limit 5'],
    run: entries,
  },
  {
    name: 'banks',
    section: 'payments',
    summary: 'list the PSE banks',
    options: [],
    args: [],
    examples: ['caudal banks'],
    run: banks,
  },
];

async function balance(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const current = await createApiClient(context, args).balance.get({ signal });
  screen.result(current, () =>
    screen.fields([
      ['available', `COP ${formatCents(current.availableInCents)}`],
      ['pending', `COP ${formatCents(current.pendingInCents)}`],
      ['held', `COP ${formatCents(current.heldInCents)}`],
      ['changed', formatTimestamp(current.updatedAt)],
    ]),
  );
  return undefined;
}

function entries(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  return showListing(context, args, {
    filters: {
      account: args.text('account'),
      ...createdRange(args),
    },
    read: (caudal, query: EntryQuery) => caudal.ledger.listEntries(query),
    text: (rows) =>
      screen.table(
        [
          { title: 'WHEN', text: ({ createdAt }) => formatTimestamp(createdAt) },
          { title: 'TYPE', text: ({ type }) => type },
          { title: 'COP', text: (row) => formatCents(row.amountInCents), align: 'right' },
          { title: 'FROM', text: ({ debitAccount }) => debitAccount },
          { title: 'TO', text: ({ creditAccount }) => creditAccount },
          { title: 'OF', text: ({ resourceId }) => resourceId ?? '', dropOrder: 1 },
        ],
        rows,
        'No ledger entries yet.',
      ),
  });
}

async function banks(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const { data } = await createApiClient(context, args).pse.listBanks({ signal });
  screen.result({ data }, () =>
    screen.table(
      [
        { title: 'BANK', text: ({ code }) => code },
        { title: 'NAME', text: ({ name }) => name, minWidth: 20 },
        { title: '', text: ({ available }) => (available ? '' : 'unavailable') },
      ],
      data,
      'No banks.',
    ),
  );
  return undefined;
}
