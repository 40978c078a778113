import { writeFileSync } from 'node:fs';
import type { Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context } from '../command.ts';
import { createOnce, newIdempotencyKey, newReference } from '../creation.ts';
import { Fault } from '../errors.ts';
import type { ExitCode } from '../exit-codes.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../listing.ts';
import { exitCodeOf, followToEnd, WAIT_OPTIONS } from '../outcome.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { showCents } from '../pesos.ts';
import { pngOf, qrLines } from '../qr-picture.ts';
import {
  AMOUNT_OPTIONS,
  type Body,
  CREATION_OPTIONS,
  CUSTOMER_OPTIONS,
  defined,
  demandAmount,
  IDEMPOTENCY_OPTION,
  readAmount,
  readCustomer,
  readData,
  within,
} from '../request-body.ts';
import { idOrReference } from '../resource-id.ts';
import type { Screen } from '../screen.ts';
import { showMoment } from '../time.ts';

export type Payin = Awaited<ReturnType<Caudal['payins']['get']>>;
type CreateBody = Parameters<Caudal['payins']['create']>[0];
type ListQuery = NonNullable<Parameters<Caudal['payins']['list']>[0]>;

const RAILS = ['BRE_B', 'PSE'];
const STATUSES = ['PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'];

export const PAYIN_COMMANDS: readonly Command[] = [
  {
    name: 'payins create',
    section: 'payments',
    summary: 'ask a payer for money',
    options: [
      ...AMOUNT_OPTIONS,
      { name: 'rail', value: 'RAIL', summary: 'BRE_B when left out, PSE with --bank', choices: RAILS },
      {
        name: 'key-type',
        value: 'TYPE',
        summary: 'Bre-B: a key alone, or with a QR; SINGLE_USE when left out',
        choices: ['SINGLE_USE', 'QR_CODE'],
      },
      { name: 'qr', value: null, summary: 'draw the QR here (means --key-type QR_CODE)' },
      { name: 'save-qr', value: 'FILE', summary: 'write the QR as a PNG (means --key-type QR_CODE)' },
      { name: 'bank', value: 'BANK', summary: "PSE: the payer's bank; caudal banks lists them" },
      {
        name: 'person-type',
        value: 'TYPE',
        summary: 'PSE: who pays; INDIVIDUAL when left out',
        choices: ['INDIVIDUAL', 'BUSINESS'],
      },
      ...CUSTOMER_OPTIONS,
      { name: 'callback-url', value: 'URL', summary: 'where the payer returns to' },
      ...CREATION_OPTIONS,
      ...WAIT_OPTIONS,
    ],
    words: [],
    details:
      "On staging the payer's document decides the outcome: 1000000001 pays, 1000000003 is declined, 1000000005 cancels. Any other waits until somebody pays: caudal simulate pay ID.",
    examples: [
      'caudal payins create --amount 49800 --qr --reference order-1001',
      "caudal payins create --amount 49800 --name 'Ana Rojas' --id-number 1000000001 --phone +573001234567 --email ana@example.com --wait",
      "caudal payins create --amount 49.800 --bank CO_NEQUI --name 'Ana Rojas' --id-number 1020304050 --phone +573001234567 --email ana@example.com",
    ],
    run: create,
  },
  {
    name: 'payins get',
    section: 'payments',
    summary: 'a payin as it is now',
    options: WAIT_OPTIONS,
    words: [{ name: 'ID', summary: 'its id, or its reference' }],
    examples: ['caudal payins get order-1001'],
    run: get,
  },
  {
    name: 'payins accept',
    section: 'payments',
    summary: 'take money that arrived in another amount, late or twice',
    options: [IDEMPOTENCY_OPTION],
    words: [
      { name: 'ID', summary: 'the id of the payin, or its reference' },
      { name: 'ANOMALY', summary: 'the id of the anomaly; caudal payins get shows it' },
    ],
    details:
      'The money is credited to the available balance; the state of the payin does not change. What is being returned, or was decided about before, is refused (409 anomaly_resolved).',
    examples: ['caudal payins accept order-1001 019b2c5e-9a10-7b22-8001-5c1e7d0a4f31'],
    run: accept,
  },
  {
    name: 'payins list',
    section: 'payments',
    summary: 'the newest first',
    options: [
      { name: 'status', value: 'STATUS', summary: 'only those in this state', choices: STATUSES },
      { name: 'rail', value: 'RAIL', summary: 'only those on this rail', choices: RAILS },
      { name: 'reference', value: 'TEXT', summary: 'only the one with this reference' },
      { name: 'link', value: 'ID', summary: 'only those of this payment link' },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    words: [],
    examples: ['caudal payins list', 'caudal payins list --status CONFIRMED --since 1d --all --json'],
    run: list,
  },
];

async function create(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const data = await readData(args);
  const body = bodyOf(args, data);
  demandAmount(body, 'payins create');
  const caudal = apiOf(context, args);
  const idempotencyKey = args.text('idempotency-key') ?? newIdempotencyKey();
  const created = await createOnce({ reference: String(body['reference']), idempotencyKey }, () =>
    caudal.payins.create(body as unknown as CreateBody, { idempotencyKey, signal }),
  );
  saveQr(context, args, created);
  showQr(context, args, created);
  if (!args.flag('wait')) {
    screen.answer(created, () => payinText(screen, { ...created, anomalies: [] }));
    return undefined;
  }
  screen.note(
    `Created ${created.reference}: COP ${showCents(created.amountInCents)}, ${whereToPay(created)}`,
  );
  const ended = await follow(context, args, caudal, created.id);
  screen.answer(ended, () => payinText(screen, ended));
  return exitCodeOf(ended.status);
}

function bodyOf(args: ParsedArgs, data: Body): Body {
  const wantsQr = args.flag('qr') || args.text('save-qr') !== undefined;
  const known = { ...data, ...defined({ amountInCents: readAmount(args), rail: args.text('rail') }) };
  const rail =
    known['rail'] ?? (args.text('bank') === undefined && data['pse'] === undefined ? 'BRE_B' : 'PSE');
  const customer = readCustomer(args, data['inlineCustomer']);
  return {
    currency: 'COP',
    reference: newReference('order'),
    ...known,
    rail,
    ...defined({
      reference: args.text('reference'),
      callbackUrl: args.text('callback-url'),
      inlineCustomer: customer,
    }),
    ...(rail === 'PSE'
      ? within({ pse: { personType: 'INDIVIDUAL', ...(data['pse'] as Body | undefined) } }, 'pse', {
          bank: args.text('bank'),
          personType: args.text('person-type'),
        })
      : within({ breb: { keyType: 'SINGLE_USE', ...(data['breb'] as Body | undefined) } }, 'breb', {
          keyType: wantsQr ? 'QR_CODE' : args.text('key-type'),
        })),
  };
}

function whereToPay({ sourceData }: Pick<Payin, 'sourceData'>): string {
  if (sourceData && 'keyString' in sourceData) return `to the key ${sourceData.keyString}`;
  return sourceData?.pseUrl ? `at the bank ${sourceData.pseUrl}` : 'the bank page is being opened';
}

/** Drawn where it can be scanned from, or told why not. */
function showQr({ screen }: Context, args: ParsedArgs, { sourceData }: Pick<Payin, 'sourceData'>): void {
  if (!args.flag('qr') || !sourceData || !('qrString' in sourceData) || !sourceData.qrString) return;
  const coloured = screen.styleNote('black', ' ') !== ' ';
  const drawn = qrLines(pngOf(sourceData.qrString), screen.width, coloured ? 'dark' : 'light');
  if (typeof drawn === 'number')
    screen.note(`The QR needs ${drawn} columns: make the terminal wider, or use --save-qr FILE`);
  else for (const line of drawn ?? []) screen.note(screen.styleNote(['black', 'bgWhiteBright'], line));
}

function saveQr({ screen }: Context, args: ParsedArgs, payin: Pick<Payin, 'sourceData'>): void {
  const file = args.text('save-qr');
  if (file === undefined) return;
  const { sourceData } = payin;
  if (!sourceData || !('qrString' in sourceData) || !sourceData.qrString)
    throw new Fault('this payin has no QR');
  writeFileSync(file, pngOf(sourceData.qrString));
  screen.note(`QR written to ${file}`);
}

export function payinText(screen: Screen, payin: Payin): string {
  const source: Readonly<Record<string, unknown>> = payin.sourceData ?? {};
  const text = (name: string) => (typeof source[name] === 'string' ? source[name] : null);
  const confirmed = payin.confirmedAmountInCents;
  return screen.facts([
    ['id', payin.id],
    ['reference', payin.reference],
    ['status', screen.status(payin.status) + (payin.errorCode ? ` ${payin.errorCode}` : '')],
    ['amount', `COP ${showCents(payin.amountInCents)}`],
    ['paid', confirmed === null || confirmed === payin.amountInCents ? null : `COP ${showCents(confirmed)}`],
    ['rail', [payin.rail, text('bank')].filter((part) => part !== null).join(' ')],
    ['key', text('keyString')],
    ['bank page', text('pseUrl')],
    ['checkout', text('checkoutUrl')],
    ['link', payin.paymentLinkId],
    ['created', showMoment(payin.createdAt)],
    ['expires', payin.resultAt === null ? showMoment(payin.expiresAt) : null],
    ['ended', showMoment(payin.resultAt)],
    ['settlement', payin.settlementStatus],
    ...payin.anomalies.map(
      ({ id, kind, amountInCents, status, resolution }) =>
        [
          'anomaly',
          `${kind}${amountInCents === null ? '' : ` COP ${showCents(amountInCents)}`} ${resolution ?? status} ${id}`,
        ] as const,
    ),
  ]);
}

async function get(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen } = context;
  const caudal = apiOf(context, args);
  const id = await payinIdOf(caudal, args.word(0));
  const payin = args.flag('wait') ? await follow(context, args, caudal, id) : await caudal.payins.get(id);
  screen.answer(payin, () => payinText(screen, payin));
  return args.flag('wait') ? exitCodeOf(payin.status) : undefined;
}

async function accept(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  const id = await payinIdOf(caudal, args.word(0));
  const idempotencyKey = args.text('idempotency-key') ?? newIdempotencyKey();
  const anomaly = await caudal.payins.acceptAnomaly(id, args.word(1), { idempotencyKey, signal });
  screen.answer(anomaly, () =>
    screen.facts([
      ['anomaly', anomaly.id],
      ['kind', anomaly.kind],
      ['amount', `COP ${showCents(anomaly.amountInCents ?? 0)}`],
      ['status', anomaly.status],
    ]),
  );
  return undefined;
}

export function payinIdOf(caudal: Caudal, text: string): Promise<string> {
  return idOrReference(
    text,
    'payin',
    (reference) => caudal.payins.list({ reference, pageSize: 1 }),
    ({ id }: Payin) => id,
  );
}

function follow({ screen, signal }: Context, args: ParsedArgs, caudal: Caudal, id: string): Promise<Payin> {
  return followToEnd({ screen, signal, args, what: `payin ${id}`, id }, () =>
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
            text: (row) => showCents(row.confirmedAmountInCents ?? row.amountInCents),
            align: 'right',
          },
          { title: 'REFERENCE', text: ({ reference }) => reference, least: 12 },
          { title: 'RAIL', text: ({ rail }) => rail, spare: 1 },
          { title: 'ERROR', text: ({ errorCode }) => errorCode ?? '', spare: 3 },
          { title: 'CREATED', text: ({ createdAt }) => showMoment(createdAt), spare: 2 },
        ],
        rows,
        'No payins. Make one: caudal payins create --amount 49800',
      ),
  });
}
