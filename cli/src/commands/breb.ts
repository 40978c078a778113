import type { Caudal } from '@caudal/sdk';
import { createApiClient } from '../connection/client.ts';
import type { Command, Context } from '../framework/command.ts';
import { EXIT, type ExitCode } from '../framework/exit-codes.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import type { Screen } from '../output/screen.ts';
import { omitUndefined } from '../requests/request-body.ts';
import { formatTimestamp } from '../requests/time.ts';

type Lookup = Awaited<ReturnType<Caudal['breb']['lookUp']>>;

export const BREB_COMMANDS: readonly Command[] = [
  {
    name: 'breb lookup',
    section: 'payments',
    summary: 'look up the holder of a Bre-B key before you pay it',
    options: [
      { name: 'name', value: 'NAME', summary: 'expected name of the holder; exit 1 when it does not match' },
      { name: 'id-number', value: 'NUMBER', summary: 'expected document number of the holder' },
    ],
    args: [
      { name: 'KEY', summary: 'mobile number, e-mail address, document number, merchant code, or @ALIAS' },
    ],
    details:
      'Personal data is masked. Lookups are rate limited: keys that do not exist cost the most, and a payout to the key refunds its lookup.\n\nOn staging: @TESTOK, @TESTNOTFOUND, @TESTSUSPENDED.',
    examples: ["caudal breb lookup @TESTOK --name 'Janeth Smith Prueba'"],
    run: lookUp,
  },
];

async function lookUp(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const query = omitUndefined({ name: args.text('name'), documentNumber: args.text('id-number') });
  const lookup = await createApiClient(context, args).breb.lookUp(args.positional(0), query, { signal });
  screen.result(lookup, () => holderText(screen, lookup));
  const mismatch = lookup.match?.name === 'NONE' || lookup.match?.documentNumber === false;
  return mismatch ? EXIT.failed : undefined;
}

export function holderText(screen: Screen, { details, match, expiresAt }: Lookup): string {
  return screen.fields([
    ['key', `${details.keyString} (${details.keyType})`],
    ['holder', details.name],
    ['document', `${details.documentType} ${details.documentNumber}`],
    ['account', `${details.bankName} ${details.bankAccountNumber}`],
    ['name matches', match?.name === undefined ? null : screen.status(match.name)],
    ['document matches', match?.documentNumber === undefined ? null : match.documentNumber ? 'yes' : 'no'],
    ['valid until', formatTimestamp(expiresAt)],
  ]);
}
