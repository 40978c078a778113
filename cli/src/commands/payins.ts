import { writeFileSync } from 'node:fs';
import type { Caudal } from '@caudal/sdk';
import { createApiClient } from '../connection/client.ts';
import type { Command, Context } from '../framework/command.ts';
import { CliError } from '../framework/errors.ts';
import type { ExitCode } from '../framework/exit-codes.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../output/listing.ts';
import { decodePngDataUri, qrLines } from '../output/qr-code.ts';
import type { Screen } from '../output/screen.ts';
import { createOnce, newIdempotencyKey, newReference } from '../requests/creation.ts';
import { formatCents } from '../requests/pesos.ts';
import {
  AMOUNT_OPTIONS,
  type Body,
  CREATION_OPTIONS,
  CUSTOMER_OPTIONS,
  IDEMPOTENCY_OPTION,
  metadataText,
  nestedObject,
  omitUndefined,
  readAmount,
  readCustomer,
  readData,
  requireAmount,
} from '../requests/request-body.ts';
import { resolveId } from '../requests/resource-id.ts';
import { formatTimestamp } from '../requests/time.ts';
import { exitCodeForStatus, WAIT_OPTIONS, waitForFinalStatus } from '../requests/wait-for-final-status.ts';

export type Payin = Awaited<ReturnType<Caudal['payins']['get']>>;
type CreateBody = Parameters<Caudal['payins']['create']>[0];
type ListQuery = NonNullable<Parameters<Caudal['payins']['list']>[0]>;

const RAILS = ['BRE_B', 'PSE'];
const STATUSES = ['PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'];

export const PAYIN_COMMANDS: readonly Command[] = [
  {
    name: 'payins create',
    section: 'payments',
    summary: 'create a payin',
    options: [
      ...AMOUNT_OPTIONS,
      { name: 'rail', value: 'RAIL', summary: 'the rail; PSE with --bank, else BRE_B', choices: RAILS },
      {
        name: 'key-type',
        value: 'TYPE',
        summary: 'Bre-B: a key, or a key with a QR code (default: SINGLE_USE)',
        choices: ['SINGLE_USE', 'QR_CODE'],
      },
      { name: 'qr', value: null, summary: 'draw the QR code in the terminal (implies --key-type QR_CODE)' },
      { name: 'save-qr', value: 'FILE', summary: 'save the QR code as a PNG (implies --key-type QR_CODE)' },
      { name: 'bank', value: 'BANK', summary: "PSE: the payer's bank; see caudal banks" },
      {
        name: 'person-type',
        value: 'TYPE',
        summary: 'PSE: type of payer (default: INDIVIDUAL)',
        choices: ['INDIVIDUAL', 'BUSINESS'],
      },
      ...CUSTOMER_OPTIONS,
      { name: 'callback-url', value: 'URL', summary: 'URL the payer returns to' },
      ...CREATION_OPTIONS,
      ...WAIT_OPTIONS,
    ],
    args: [],
    details:
      "On staging the payer's document decides the outcome: 1000000001 pays, 1000000003 is declined, 1000000005 cancels. Any other document waits for a payment: caudal simulate pay ID.",
    examples: [
      'caudal payins create --amount 49800 --qr --reference order-1001',
      'caudal payins create --amount 49800 --metadata order=1001,store=Norte',
      "caudal payins create --amount 49800 --name 'Ana Rojas' --id-number 1000000001 --phone +573001234567 --email ana@example.com --wait",
      "caudal payins create --amount 49.800 --bank CO_NEQUI --name 'Ana Rojas' --id-number 1020304050 --phone +573001234567 --email ana@example.com",
    ],
    run: create,
  },
  {
    name: 'payins get',
    section: 'payments',
    summary: 'show a payin',
    options: WAIT_OPTIONS,
    args: [{ name: 'ID', summary: 'id or reference of the payin' }],
    examples: ['caudal payins get order-1001'],
    run: get,
  },
  {
    name: 'payins accept',
    section: 'payments',
    summary: 'accept money that arrived late, twice or in another amount',
    options: [IDEMPOTENCY_OPTION],
    args: [
      { name: 'ID', summary: 'id or reference of the payin' },
      { name: 'ANOMALY', summary: 'id of the anomaly; see caudal payins get' },
    ],
    details:
      'Credits the money to the available balance; the status of the payin does not change. An anomaly that is being returned or was already resolved is rejected (409 anomaly_resolved).',
    examples: ['caudal payins accept order-1001 019b2c5e-9a10-7b22-8001-5c1e7d0a4f31'],
    run: accept,
  },
  {
    name: 'payins list',
    section: 'payments',
    summary: 'list payins, newest first',
    options: [
      { name: 'status', value: 'STATUS', summary: 'only payins with this status', choices: STATUSES },
      { name: 'rail', value: 'RAIL', summary: 'only payins on this rail', choices: RAILS },
      { name: 'reference', value: 'TEXT', summary: 'only the payin with this reference' },
      { name: 'link', value: 'ID', summary: 'only payins of this payment link' },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    args: [],
    examples: ['caudal payins list', 'caudal payins list --status CONFIRMED --since 1d --all --json'],
    run: list,
  },
];

async function create(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const data = await readData(args);
  const body = buildBody(args, data);
  requireAmount(body, 'payins create');
  const caudal = createApiClient(context, args);
  const idempotencyKey = args.text('idempotency-key') ?? newIdempotencyKey();
  const created = await createOnce({ reference: String(body['reference']), idempotencyKey }, () =>
    caudal.payins.create(body as unknown as CreateBody, { idempotencyKey, signal }),
  );
  saveQr(context, args, created);
  showQr(context, args, created);
  if (!args.flag('wait')) {
    screen.result(created, () => payinText(screen, { ...created, anomalies: [] }));
    return undefined;
  }
  screen.note(
    `Created ${created.reference}: COP ${formatCents(created.amountInCents)}, ${whereToPay(created)}`,
  );
  const ended = await waitForOutcome(context, args, caudal, created.id);
  screen.result(ended, () => payinText(screen, ended));
  return exitCodeForStatus(ended.status);
}

function buildBody(args: ParsedArgs, data: Body): Body {
  const wantsQr = args.flag('qr') || args.text('save-qr') !== undefined;
  const base = { ...data, ...omitUndefined({ amountInCents: readAmount(args), rail: args.text('rail') }) };
  const rail =
    base['rail'] ?? (args.text('bank') === undefined && data['pse'] === undefined ? 'BRE_B' : 'PSE');
  const customer = readCustomer(args, data['inlineCustomer']);
  return {
    currency: 'COP',
    reference: newReference('order'),
    ...base,
    rail,
    ...omitUndefined({
      reference: args.text('reference'),
      callbackUrl: args.text('callback-url'),
      inlineCustomer: customer,
    }),
    ...(rail === 'PSE'
      ? nestedObject({ pse: { personType: 'INDIVIDUAL', ...(data['pse'] as Body | undefined) } }, 'pse', {
          bank: args.text('bank'),
          personType: args.text('person-type'),
        })
      : nestedObject({ breb: { keyType: 'SINGLE_USE', ...(data['breb'] as Body | undefined) } }, 'breb', {
          keyType: wantsQr ? 'QR_CODE' : args.text('key-type'),
        })),
  };
}

function whereToPay({ sourceData }: Pick<Payin, 'sourceData'>): string {
  if (sourceData && 'keyString' in sourceData) return `pay to the key ${sourceData.keyString}`;
  return sourceData?.pseUrl ? `pay at ${sourceData.pseUrl}` : 'the bank page is not ready yet';
}

/** Draws the QR code, or says why it does not fit. */
function showQr({ screen }: Context, args: ParsedArgs, { sourceData }: Pick<Payin, 'sourceData'>): void {
  if (!args.flag('qr') || !sourceData || !('qrString' in sourceData) || !sourceData.qrString) return;
  const hasColor = screen.styleNote('black', ' ') !== ' ';
  const drawn = qrLines(decodePngDataUri(sourceData.qrString), screen.width, hasColor ? 'dark' : 'light');
  if (typeof drawn === 'number')
    screen.note(`The QR code needs ${drawn} columns: widen the terminal or use --save-qr FILE`);
  else for (const line of drawn ?? []) screen.note(screen.styleNote(['black', 'bgWhiteBright'], line));
}

function saveQr({ screen }: Context, args: ParsedArgs, payin: Pick<Payin, 'sourceData'>): void {
  const file = args.text('save-qr');
  if (file === undefined) return;
  const { sourceData } = payin;
  if (!sourceData || !('qrString' in sourceData) || !sourceData.qrString)
    throw new CliError('this payin has no QR code');
  writeFileSync(file, decodePngDataUri(sourceData.qrString));
  screen.note(`QR code saved to ${file}`);
}

export function payinText(screen: Screen, payin: Payin): string {
  const source: Readonly<Record<string, unknown>> = payin.sourceData ?? {};
  const text = (name: string) => (typeof source[name] === 'string' ? source[name] : null);
  const confirmed = payin.confirmedAmountInCents;
  return screen.fields([
    ['id', payin.id],
    ['reference', payin.reference],
    ['status', screen.status(payin.status) + (payin.errorCode ? ` ${payin.errorCode}` : '')],
    ['amount', `COP ${formatCents(payin.amountInCents)}`],
    [
      'paid',
      confirmed === null || confirmed === payin.amountInCents ? null : `COP ${formatCents(confirmed)}`,
    ],
    ['rail', [payin.rail, text('bank')].filter((part) => part !== null).join(' ')],
    ['key', text('keyString')],
    ['bank page', text('pseUrl')],
    ['checkout', text('checkoutUrl')],
    ['link', payin.paymentLinkId],
    ['created', formatTimestamp(payin.createdAt)],
    ['expires', payin.resultAt === null ? formatTimestamp(payin.expiresAt) : null],
    ['ended', formatTimestamp(payin.resultAt)],
    ['settlement', payin.settlementStatus],
    ['metadata', metadataText(payin.metadata)],
    ...payin.anomalies.map(
      ({ id, kind, amountInCents, status, resolution }) =>
        [
          'anomaly',
          `${kind}${amountInCents === null ? '' : ` COP ${formatCents(amountInCents)}`} ${resolution ?? status} ${id}`,
        ] as const,
    ),
  ]);
}

async function get(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen } = context;
  const caudal = createApiClient(context, args);
  const id = await resolvePayinId(caudal, args.positional(0));
  const payin = args.flag('wait')
    ? await waitForOutcome(context, args, caudal, id)
    : await caudal.payins.get(id);
  screen.result(payin, () => payinText(screen, payin));
  return args.flag('wait') ? exitCodeForStatus(payin.status) : undefined;
}

async function accept(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  const id = await resolvePayinId(caudal, args.positional(0));
  const idempotencyKey = args.text('idempotency-key') ?? newIdempotencyKey();
  const anomaly = await caudal.payins.acceptAnomaly(id, args.positional(1), { idempotencyKey, signal });
  screen.result(anomaly, () =>
    screen.fields([
      ['anomaly', anomaly.id],
      ['kind', anomaly.kind],
      ['amount', `COP ${formatCents(anomaly.amountInCents ?? 0)}`],
      ['status', anomaly.status],
    ]),
  );
  return undefined;
}

export function resolvePayinId(caudal: Caudal, text: string): Promise<string> {
  return resolveId(
    text,
    'payin',
    (reference) => caudal.payins.list({ reference, pageSize: 1 }),
    ({ id }: Payin) => id,
  );
}

function waitForOutcome(
  { screen, signal }: Context,
  args: ParsedArgs,
  caudal: Caudal,
  id: string,
): Promise<Payin> {
  return waitForFinalStatus({ screen, signal, args, what: `payin ${id}`, id }, () =>
    caudal.payins.get(id, { signal }),
  );
}

function list(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  return showListing(context, args, {
    filters: {
      status: args.text('status'),
      rail: args.text('rail'),
      reference: args.text('reference'),
      paymentLinkId: args.text('link'),
      ...createdRange(args),
    },
    read: (caudal, query: ListQuery) => caudal.payins.list(query),
    text: (rows) =>
      screen.table(
        [
          { title: 'ID', text: ({ id }) => id },
          { title: 'STATUS', text: ({ status }) => status, style: ({ status }) => screen.status(status) },
          {
            title: 'COP',
            text: (row) => formatCents(row.confirmedAmountInCents ?? row.amountInCents),
            align: 'right',
          },
          { title: 'REFERENCE', text: ({ reference }) => reference, minWidth: 12 },
          { title: 'RAIL', text: ({ rail }) => rail, dropOrder: 1 },
          { title: 'ERROR', text: ({ errorCode }) => errorCode ?? '', dropOrder: 3 },
          { title: 'CREATED', text: ({ createdAt }) => formatTimestamp(createdAt), dropOrder: 2 },
        ],
        rows,
        'No payins. Create one: caudal payins create --amount 49800',
      ),
  });
}
