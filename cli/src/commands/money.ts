import type { Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context } from '../command.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../listing.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { showCents } from '../pesos.ts';
import { showMoment } from '../time.ts';

type EntryQuery = NonNullable<Parameters<Caudal['ledger']['listEntries']>[0]>;

export const MONEY_COMMANDS: readonly Command[] = [
  {
    name: 'balance',
    section: 'payments',
    summary: 'your money: available, pending and held',
    options: [],
    words: [],
    examples: ['caudal balance'],
    run: balance,
  },
  {
    name: 'entries',
    section: 'payments',
    summary: 'every movement of your money, newest first',
    options: [
      {
        name: 'account',
        value: 'ACCOUNT',
        summary: 'only those of this account',
        choices: ['AVAILABLE', 'PENDING', 'HELD'],
      },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    words: [],
    examples: ['caudal entries --limit 5'],
    run: entries,
  },
  {
    name: 'banks',
    section: 'payments',
    summary: 'the banks of PSE',
    options: [],
    words: [],
    examples: ['caudal banks'],
    run: banks,
  },
];

async function balance(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const seen = await apiOf(context, args).balance.get({ signal });
  screen.answer(seen, () =>
    screen.facts([
      ['available', `COP ${showCents(seen.availableInCents)}`],
      ['pending', `COP ${showCents(seen.pendingInCents)}`],
      ['held', `COP ${showCents(seen.heldInCents)}`],
      ['changed', showMoment(seen.updatedAt)],
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
          { title: 'WHEN', text: ({ createdAt }) => showMoment(createdAt) },
          { title: 'TYPE', text: ({ type }) => type },
          { title: 'COP', text: (row) => showCents(row.amountInCents), align: 'right' },
          { title: 'FROM', text: ({ debitAccount }) => debitAccount },
          { title: 'TO', text: ({ creditAccount }) => creditAccount },
          { title: 'OF', text: ({ resourceId }) => resourceId ?? '', spare: 1 },
        ],
        rows,
        'No movements yet.',
      ),
  });
}

async function banks(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const { data } = await apiOf(context, args).pse.listBanks({ signal });
  screen.answer({ data }, () =>
    screen.table(
      [
        { title: 'BANK', text: ({ code }) => code },
        { title: 'NAME', text: ({ name }) => name, least: 20 },
        { title: '', text: ({ available }) => (available ? '' : 'not available now') },
      ],
      data,
      'No banks.',
    ),
  );
  return undefined;
}
