import { ApiError, type Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context } from '../command.ts';
import { createOnce, newIdempotencyKey, newReference } from '../creation.ts';
import { Fault, UsageError } from '../errors.ts';
import type { ExitCode } from '../exit-codes.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../listing.ts';
import { exitCodeOf, followToEnd, WAIT_OPTIONS } from '../outcome.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { showCents } from '../pesos.ts';
import { canAsk, confirm } from '../prompt.ts';
import {
  AMOUNT_OPTIONS,
  type Body,
  CREATION_OPTIONS,
  CUSTOMER_OPTIONS,
  defined,
  demandAmount,
  readAmount,
  readCustomer,
  readData,
} from '../request-body.ts';
import { idOrReference } from '../resource-id.ts';
import type { Screen } from '../screen.ts';
import { showMoment } from '../time.ts';
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
      { name: 'yes', value: null, summary: 'do not ask, also when the key is in another name' },
      ...CREATION_OPTIONS,
      ...WAIT_OPTIONS,
    ],
    words: [],
    details:
      'The key is looked up first and whom it pays is shown, masked; on a terminal you are asked before the money leaves. Elsewhere a key in another name than --name is refused, unless --yes.\n\nOn staging the key decides: @TESTOK is paid, @TESTDECLINED is declined, @TESTTIMEOUT stays open.',
    examples: [
      "caudal payouts create --amount 125000 --key @TESTOK --name 'Janeth Smith Prueba' --id-number 1000000099 --phone +573001234567 --email janeth@example.com --reference salary-1001 --wait --yes",
    ],
    run: create,
  },
  {
    name: 'payouts get',
    section: 'payments',
    summary: 'a payout as it is now',
    options: WAIT_OPTIONS,
    words: [{ name: 'ID', summary: 'its id, or its reference' }],
    examples: ['caudal payouts get salary-1001 --wait'],
    run: get,
  },
  {
    name: 'payouts list',
    section: 'payments',
    summary: 'the newest first',
    options: [
      {
        name: 'status',
        value: 'STATUS',
        summary: 'only those in this state',
        choices: ['PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'],
      },
      { name: 'reference', value: 'TEXT', summary: 'only the one with this reference' },
      { name: 'key', value: 'KEY', summary: 'only those to this key' },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    words: [],
    examples: ['caudal payouts list', 'caudal payouts list --key @TESTOK --since 1d'],
    run: list,
  },
  {
    name: 'payouts cancel',
    section: 'payments',
    summary: 'stop one that has not left yet',
    options: [],
    words: [{ name: 'ID', summary: 'its id, or its reference' }],
    details:
      'A payout usually leaves within a second; after that it cannot be stopped (409 payout_already_sent).',
    examples: ['caudal payouts cancel salary-1001'],
    run: cancel,
  },
];

async function create(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const body = bodyOf(args, await readData(args));
  demandAmount(body, 'payouts create');
  const caudal = apiOf(context, args);
  await vet(context, args, caudal, body);
  const idempotencyKey = args.text('idempotency-key') ?? newIdempotencyKey();
  // Without the lookup's id, for a repeat must carry the same body; the server takes our newest lookup of the key.
  const created = await createOnce({ reference: String(body['reference']), idempotencyKey }, () =>
    caudal.payouts.create(body as unknown as CreateBody, { idempotencyKey, signal }),
  );
  if (!args.flag('wait')) {
    screen.answer(created, () => payoutText(screen, { ...created, anomalies: [] }));
    return undefined;
  }
  screen.note(
    `Created ${created.reference}: COP ${showCents(created.amountInCents)} to ${created.sourceData.keyString}`,
  );
  const ended = await follow(context, args, caudal, created.id);
  screen.answer(ended, () => payoutText(screen, ended));
  return exitCodeOf(ended.status);
}

function bodyOf(args: ParsedArgs, data: Body): Body {
  const known = { ...(data['breb'] as Body | undefined), ...defined({ keyString: args.text('key') }) };
  if (known['keyString'] === undefined)
    throw new UsageError('payouts create needs --key', ['See: caudal help payouts create']);
  const inlineCustomer = readCustomer(args, data['inlineCustomer']) ?? data['inlineCustomer'];
  if (inlineCustomer === undefined)
    throw new UsageError('payouts create needs who receives: --name, --id-number, --phone and --email');
  return {
    currency: 'COP',
    rail: 'BRE_B',
    reference: newReference('payout'),
    ...data,
    ...defined({ amountInCents: readAmount(args), reference: args.text('reference'), inlineCustomer }),
    breb: known,
  };
}

/** Whom the key pays, shown before anything leaves. @throws Fault when that is not whom was meant */
async function vet({ screen, signal }: Context, args: ParsedArgs, caudal: Caudal, body: Body): Promise<void> {
  const { keyString } = body['breb'] as { keyString: string };
  const { name } = body['inlineCustomer'] as { name?: string };
  const lookup = await caudal.breb
    .lookUp(keyString, name === undefined ? {} : { name }, { signal })
    .catch((error: unknown) => {
      // A key may be paid without a lookup; one that the directory refuses would only be declined.
      if (error instanceof ApiError && (error.status === 429 || error.status >= 500)) return null;
      throw error;
    });
  const amount = `COP ${showCents(Number(body['amountInCents']))}`;
  if (lookup) screen.note(`${holderText(screen, lookup)}\n`);
  else screen.note(`Who holds ${keyString} could not be looked up.`);
  const stranger = lookup?.match?.name === 'NONE';
  if (args.flag('yes')) return;
  if (canAsk()) {
    const warning = stranger ? screen.styleNote('red', `That is not ${name}. `) : '';
    if (!(await confirm(`${warning}Send ${amount} to ${keyString}?`, signal)))
      throw new Fault('nothing was sent');
  } else if (stranger) {
    throw new Fault(`the key belongs to ${lookup.details.name}, not to ${name}: nothing was sent`, [
      'Correct --name or --key, or add --yes to pay whoever holds it.',
    ]);
  }
}

export function payoutText(screen: Screen, payout: Payout): string {
  return screen.facts([
    ['id', payout.id],
    ['reference', payout.reference],
    ['status', screen.status(payout.status) + (payout.errorCode ? ` ${payout.errorCode}` : '')],
    ['amount', `COP ${showCents(payout.amountInCents)}`],
    ['key', payout.sourceData.keyString],
    ['receiver', payout.inlineCustomer?.name],
    ['created', showMoment(payout.createdAt)],
    ['ended', showMoment(payout.resultAt)],
    ...payout.anomalies.map(({ kind }) => ['anomaly', `${kind}, with the operator`] as const),
  ]);
}

async function get(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen } = context;
  const caudal = apiOf(context, args);
  const id = await payoutIdOf(caudal, args.word(0));
  const payout = args.flag('wait') ? await follow(context, args, caudal, id) : await caudal.payouts.get(id);
  screen.answer(payout, () => payoutText(screen, payout));
  return args.flag('wait') ? exitCodeOf(payout.status) : undefined;
}

export function payoutIdOf(caudal: Caudal, text: string): Promise<string> {
  return idOrReference(
    text,
    'payout',
    (reference) => caudal.payouts.list({ reference, pageSize: 1 }),
    ({ id }: Payout) => id,
  );
}

function follow({ screen, signal }: Context, args: ParsedArgs, caudal: Caudal, id: string): Promise<Payout> {
  return followToEnd({ screen, signal, args, what: `payout ${id}`, id }, () =>
    caudal.payouts.get(id, { signal }),
  );
}

async function cancel(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  const payout = await caudal.payouts.cancel(await payoutIdOf(caudal, args.word(0)), { signal });
  screen.answer(payout, () => payoutText(screen, { ...payout, anomalies: [] }));
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
          { title: 'COP', text: (row) => showCents(row.amountInCents), align: 'right' },
          { title: 'REFERENCE', text: ({ reference }) => reference, least: 12 },
          { title: 'KEY', text: ({ sourceData }) => sourceData.keyString, least: 10, spare: 1 },
          { title: 'ERROR', text: ({ errorCode }) => errorCode ?? '', spare: 3 },
          { title: 'CREATED', text: ({ createdAt }) => showMoment(createdAt), spare: 2 },
        ],
        rows,
        'No payouts. See: caudal help payouts create',
      ),
  });
}
