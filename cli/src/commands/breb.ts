import type { Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { defined } from '../request-body.ts';
import type { Screen } from '../screen.ts';
import { showMoment } from '../time.ts';

type Lookup = Awaited<ReturnType<Caudal['breb']['lookUp']>>;

export const BREB_COMMANDS: readonly Command[] = [
  {
    name: 'breb lookup',
    section: 'payments',
    summary: 'see whom a Bre-B key pays, before you pay it',
    options: [
      { name: 'name', value: 'NAME', summary: 'the holder you expect: is it that person? Exit 1 when not' },
      { name: 'id-number', value: 'NUMBER', summary: 'the document you expect' },
    ],
    words: [
      { name: 'KEY', summary: 'a mobile number, e-mail address, document, merchant code, or @ with letters' },
    ],
    details:
      'Personal data is masked. Lookups are limited: keys that do not exist cost most, and a payout that follows pays back.\n\nOn staging: @TESTOK, @TESTNOTFOUND, @TESTSUSPENDED.',
    examples: ["caudal breb lookup @TESTOK --name 'Janeth Smith Prueba'"],
    run: lookUp,
  },
];

async function lookUp(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const query = defined({ name: args.text('name'), documentNumber: args.text('id-number') });
  const lookup = await apiOf(context, args).breb.lookUp(args.word(0), query, { signal });
  screen.answer(lookup, () => holderText(screen, lookup));
  const other = lookup.match?.name === 'NONE' || lookup.match?.documentNumber === false;
  return other ? EXIT.failed : undefined;
}

export function holderText(screen: Screen, { details, match, expiresAt }: Lookup): string {
  return screen.facts([
    ['key', `${details.keyString} (${details.keyType})`],
    ['holder', details.name],
    ['document', `${details.documentType} ${details.documentNumber}`],
    ['account', `${details.bankName} ${details.bankAccountNumber}`],
    ['name matches', match?.name === undefined ? null : screen.status(match.name)],
    ['document matches', match?.documentNumber === undefined ? null : match.documentNumber ? 'yes' : 'no'],
    ['valid until', showMoment(expiresAt)],
  ]);
}
