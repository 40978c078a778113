import type { Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context } from '../command.ts';
import type { Given } from '../given.ts';
import {
  CREATED_OPTIONS,
  createdRange,
  gather,
  howMany,
  LIST_OPTIONS,
  pageSize,
  showList,
} from '../listing.ts';
import { showMoment } from '../moments.ts';
import { showCents } from '../pesos.ts';
import { defined } from '../request-body.ts';

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

async function balance(context: Context, given: Given): Promise<undefined> {
  const { screen, signal } = context;
  const seen = await apiOf(context, given).balance.get({ signal });
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

async function entries(context: Context, given: Given): Promise<undefined> {
  const { screen } = context;
  const most = howMany(given);
  const query = defined({
    account: given.text('account'),
    ...createdRange(given),
    pageSize: pageSize(most),
  }) as EntryQuery;
  const found = await gather(apiOf(context, given).ledger.listEntries(query), most);
  showList(
    screen,
    found,
    [
      { title: 'WHEN', text: ({ createdAt }) => showMoment(createdAt) },
      { title: 'TYPE', text: ({ type }) => type },
      { title: 'COP', text: (row) => showCents(row.amountInCents), align: 'right' },
      { title: 'FROM', text: ({ debitAccount }) => debitAccount },
      { title: 'TO', text: ({ creditAccount }) => creditAccount },
      { title: 'OF', text: ({ resourceId }) => resourceId ?? '', spare: 1 },
    ],
    'No movements yet.',
  );
  return undefined;
}

async function banks(context: Context, given: Given): Promise<undefined> {
  const { screen, signal } = context;
  const { data } = await apiOf(context, given).pse.listBanks({ signal });
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
