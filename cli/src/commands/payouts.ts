import { ApiError, type Caudal } from '@caudal/sdk';
import { createApiClient } from '../connection/client.ts';
import type { Command, Context } from '../framework/command.ts';
import { CliError, UsageError } from '../framework/errors.ts';
import type { ExitCode } from '../framework/exit-codes.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../output/listing.ts';
import { confirm, isInteractive } from '../output/prompt.ts';
import type { Screen } from '../output/screen.ts';
import { createOnce, newIdempotencyKey, newReference } from '../requests/creation.ts';
import { formatCents } from '../requests/pesos.ts';
import {
  AMOUNT_OPTIONS,
  type Body,
  CREATION_OPTIONS,
  CUSTOMER_OPTIONS,
  metadataText,
  omitUndefined,
  readAmount,
  readCustomer,
  readData,
  requireAmount,
} from '../requests/request-body.ts';
import { resolveId } from '../requests/resource-id.ts';
import { formatTimestamp } from '../requests/time.ts';
import { exitCodeForStatus, WAIT_OPTIONS, waitForFinalStatus } from '../requests/wait-for-final-status.ts';
import { holderText } from './breb.ts';

export type Payout = Awaited<ReturnType<Caudal['payouts']['get']>>;
type CreateBody = Parameters<Caudal['payouts']['create']>[0];
type ListQuery = NonNullable<Parameters<Caudal['payouts']['list']>[0]>;

export const PAYOUT_COMMANDS: readonly Command[] = [
  {
    name: 'payouts create',
    section: 'payments',
    summary: 'send money to a Bre-B key',
    options: [
      ...AMOUNT_OPTIONS,
      { name: 'key', value: 'KEY', summary: "the receiver's Bre-B key" },
      ...CUSTOMER_OPTIONS,
      {
        name: 'yes',
        value: null,
        summary: 'do not ask for confirmation, even if the holder has another name',
      },
      ...CREATION_OPTIONS,
      ...WAIT_OPTIONS,
    ],
    args: [],
    details:
      'Looks up the key and shows its holder, masked. On a terminal it asks for confirmation; elsewhere it fails when the holder is not --name, unless --yes is set.\n\nOn staging the key decides the outcome: @TESTOK is paid, @TESTDECLINED is declined, @TESTTIMEOUT stays in progress.',
    examples: [
      "caudal payouts create --amount 125000 --key @TESTOK --name 'Janeth Smith Prueba' --id-number 1000000099 --phone +573001234567 --email janeth@example.com --reference salary-1001 --wait --yes",
    ],
    run: create,
  },
  {
    name: 'payouts get',
    section: 'payments',
    summary: 'show a payout',
    options: WAIT_OPTIONS,
    args: [{ name: 'ID', summary: 'id or reference of the payout' }],
    examples: ['caudal payouts get salary-1001 --wait'],
    run: get,
  },
  {
    name: 'payouts list',
    section: 'payments',
    summary: 'list payouts, newest first',
    options: [
      {
        name: 'status',
        value: 'STATUS',
        summary: 'only payouts with this status',
        choices: ['PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'],
      },
      { name: 'reference', value: 'TEXT', summary: 'only the payout with this reference' },
      { name: 'key', value: 'KEY', summary: 'only payouts to this key' },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    args: [],
    examples: ['caudal payouts list', 'caudal payouts list --key @TESTOK --since 1d'],
    run: list,
  },
  {
    name: 'payouts cancel',
    section: 'payments',
    summary: 'cancel a payout whose order the rail does not have yet',
    options: [],
    args: [{ name: 'ID', summary: 'id or reference of the payout' }],
    details:
      'A payout is usually sent within a second. Then it cannot be canceled (409 payout_already_sent), unless the rail could not be reached or did not accept it.',
    examples: ['caudal payouts cancel salary-1001'],
    run: cancel,
  },
];

async function create(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const body = buildBody(args, await readData(args));
  requireAmount(body, 'payouts create');
  const caudal = createApiClient(context, args);
  await confirmRecipient(context, args, caudal, body);
  const idempotencyKey = args.text('idempotency-key') ?? newIdempotencyKey();
  // The body has no lookup id, so that a retry sends the same body; the server uses our newest lookup of the key.
  const created = await createOnce({ reference: String(body['reference']), idempotencyKey }, () =>
    caudal.payouts.create(body as unknown as CreateBody, { idempotencyKey, signal }),
  );
  if (!args.flag('wait')) {
    screen.result(created, () => payoutText(screen, { ...created, anomalies: [] }));
    return undefined;
  }
  screen.note(
    `Created ${created.reference}: COP ${formatCents(created.amountInCents)} to ${created.sourceData.keyString}`,
  );
  const ended = await waitForOutcome(context, args, caudal, created.id);
  screen.result(ended, () => payoutText(screen, ended));
  return exitCodeForStatus(ended.status);
}

function buildBody(args: ParsedArgs, data: Body): Body {
  const breb = { ...(data['breb'] as Body | undefined), ...omitUndefined({ keyString: args.text('key') }) };
  if (breb['keyString'] === undefined)
    throw new UsageError('payouts create needs --key', ['See: caudal help payouts create']);
  const inlineCustomer = readCustomer(args, data['inlineCustomer']) ?? data['inlineCustomer'];
  if (inlineCustomer === undefined)
    throw new UsageError('payouts create needs the receiver: --name, --id-number, --phone and --email');
  return {
    currency: 'COP',
    rail: 'BRE_B',
    reference: newReference('payout'),
    ...data,
    ...omitUndefined({ amountInCents: readAmount(args), reference: args.text('reference'), inlineCustomer }),
    breb,
  };
}

/** Shows the holder of the key before the payout is created. @throws CliError when it is not the expected receiver */
async function confirmRecipient(
  { screen, signal }: Context,
  args: ParsedArgs,
  caudal: Caudal,
  body: Body,
): Promise<void> {
  const { keyString } = body['breb'] as { keyString: string };
  const { name } = body['inlineCustomer'] as { name?: string };
  const lookup = await caudal.breb
    .lookUp(keyString, name === undefined ? {} : { name }, { signal })
    .catch((error: unknown) => {
      // A payout does not require a lookup. A key that the directory rejects would only be declined.
      if (error instanceof ApiError && (error.status === 429 || error.status >= 500)) return null;
      throw error;
    });
  const amount = `COP ${formatCents(Number(body['amountInCents']))}`;
  if (lookup) screen.note(`${holderText(screen, lookup)}\n`);
  else screen.note(`The holder of ${keyString} could not be looked up.`);
  const nameMismatch = lookup?.match?.name === 'NONE';
  if (args.flag('yes')) return;
  if (isInteractive()) {
    const warning = nameMismatch ? screen.styleNote('red', `The holder is not ${name}. `) : '';
    if (!(await confirm(`${warning}Send ${amount} to ${keyString}?`, signal)))
      throw new CliError('nothing was sent');
  } else if (nameMismatch) {
    throw new CliError(`the key belongs to ${lookup.details.name}, not to ${name}: nothing was sent`, [
      'Correct --name or --key, or add --yes to pay this holder.',
    ]);
  }
}

export function payoutText(screen: Screen, payout: Payout): string {
  return screen.fields([
    ['id', payout.id],
    ['reference', payout.reference],
    ['status', screen.status(payout.status) + (payout.errorCode ? ` ${payout.errorCode}` : '')],
    ['amount', `COP ${formatCents(payout.amountInCents)}`],
    ['key', payout.sourceData.keyString],
    ['receiver', payout.inlineCustomer?.name],
    ['created', formatTimestamp(payout.createdAt)],
    ['ended', formatTimestamp(payout.resultAt)],
    ['metadata', metadataText(payout.metadata)],
    ...payout.anomalies.map(({ kind }) => ['anomaly', `${kind}, under review by the operator`] as const),
  ]);
}

async function get(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen } = context;
  const caudal = createApiClient(context, args);
  const id = await resolvePayoutId(caudal, args.positional(0));
  const payout = args.flag('wait')
    ? await waitForOutcome(context, args, caudal, id)
    : await caudal.payouts.get(id);
  screen.result(payout, () => payoutText(screen, payout));
  return args.flag('wait') ? exitCodeForStatus(payout.status) : undefined;
}

export function resolvePayoutId(caudal: Caudal, text: string): Promise<string> {
  return resolveId(
    text,
    'payout',
    (reference) => caudal.payouts.list({ reference, pageSize: 1 }),
    ({ id }: Payout) => id,
  );
}

function waitForOutcome(
  { screen, signal }: Context,
  args: ParsedArgs,
  caudal: Caudal,
  id: string,
): Promise<Payout> {
  return waitForFinalStatus({ screen, signal, args, what: `payout ${id}`, id }, () =>
    caudal.payouts.get(id, { signal }),
  );
}

async function cancel(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  const payout = await caudal.payouts.cancel(await resolvePayoutId(caudal, args.positional(0)), { signal });
  screen.result(payout, () => payoutText(screen, { ...payout, anomalies: [] }));
  return undefined;
}

function list(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  return showListing(context, args, {
    filters: {
      status: args.text('status'),
      reference: args.text('reference'),
      keyString: args.text('key'),
      ...createdRange(args),
    },
    read: (caudal, query: ListQuery) => caudal.payouts.list(query),
    text: (rows) =>
      screen.table(
        [
          { title: 'ID', text: ({ id }) => id },
          { title: 'STATUS', text: ({ status }) => status, style: ({ status }) => screen.status(status) },
          { title: 'COP', text: (row) => formatCents(row.amountInCents), align: 'right' },
          { title: 'REFERENCE', text: ({ reference }) => reference, minWidth: 12 },
          { title: 'KEY', text: ({ sourceData }) => sourceData.keyString, minWidth: 10, dropOrder: 1 },
          { title: 'ERROR', text: ({ errorCode }) => errorCode ?? '', dropOrder: 3 },
          { title: 'CREATED', text: ({ createdAt }) => formatTimestamp(createdAt), dropOrder: 2 },
        ],
        rows,
        'No payouts. See: caudal help payouts create',
      ),
  });
}
