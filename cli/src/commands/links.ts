import { setTimeout as sleep } from 'node:timers/promises';
import type { Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context } from '../command.ts';
import { createOnce, newIdempotencyKey, newReference } from '../creation.ts';
import type { ExitCode } from '../exit-codes.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../listing.ts';
import { exitCodeOf, followToEnd, WAIT_OPTIONS } from '../outcome.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { showCents } from '../pesos.ts';
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
  within,
} from '../request-body.ts';
import { idOrReference } from '../resource-id.ts';
import type { Screen } from '../screen.ts';
import { showMoment } from '../time.ts';

type Link = Awaited<ReturnType<Caudal['paymentLinks']['get']>>;
type CreateBody = Parameters<Caudal['paymentLinks']['create']>[0];
type ListQuery = NonNullable<Parameters<Caudal['paymentLinks']['list']>[0]>;

const RAILS = ['BRE_B', 'PSE'];
const CLOSED_WITHIN_MS = 3000;
const LOOK_EVERY_MS = 150;
const NAMED = [{ name: 'ID', summary: 'its id, or its reference' }];

export const LINK_COMMANDS: readonly Command[] = [
  {
    name: 'links create',
    section: 'payments',
    summary: 'make a page on which a payer pays, by the method of their choice',
    options: [
      ...AMOUNT_OPTIONS,
      {
        name: 'callback-url',
        value: 'URL',
        summary: 'where the payer returns to; needed, here or in --data',
      },
      { name: 'description', value: 'TEXT', summary: 'what is paid for, shown to the payer' },
      { name: 'rail', value: 'RAIL', summary: 'only this method', choices: RAILS },
      { name: 'bank', value: 'BANK', summary: 'PSE: the bank chosen already (means --rail PSE)' },
      ...CUSTOMER_OPTIONS,
      ...CREATION_OPTIONS,
      ...WAIT_OPTIONS,
    ],
    words: [],
    details: 'It lives for an hour. paymentlink.completed is the only signal that it was paid.',
    examples: [
      "caudal links create --amount 49800 --description 'Dos pares de zapatos' --callback-url https://shop.example.com/thanks --reference order-2001",
    ],
    run: create,
  },
  {
    name: 'links get',
    section: 'payments',
    summary: 'a link as it is now',
    options: WAIT_OPTIONS,
    words: NAMED,
    examples: ['caudal links get order-2001'],
    run: get,
  },
  {
    name: 'links list',
    section: 'payments',
    summary: 'the newest first',
    options: [
      {
        name: 'status',
        value: 'STATUS',
        summary: 'only those in this state',
        choices: ['PENDING', 'COMPLETED', 'EXPIRED'],
      },
      { name: 'rail', value: 'RAIL', summary: 'only those for this rail', choices: RAILS },
      { name: 'reference', value: 'TEXT', summary: 'only the one with this reference' },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    words: [],
    examples: ['caudal links list --status PENDING'],
    run: list,
  },
  {
    name: 'links expire',
    section: 'payments',
    summary: 'close one before its time',
    options: [],
    words: NAMED,
    details: 'A payment that is under way is awaited; then the link is EXPIRED, usually within a second.',
    examples: ['caudal links expire order-2001'],
    run: expire,
  },
];

async function create(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const body = bodyOf(args, await readData(args));
  demandAmount(body, 'links create');
  const caudal = apiOf(context, args);
  const idempotencyKey = args.text('idempotency-key') ?? newIdempotencyKey();
  const reference = String(body['reference']);
  const created = await createOnce({ reference, idempotencyKey }, () =>
    caudal.paymentLinks.create(body as unknown as CreateBody, { idempotencyKey, signal }),
  );
  const text = () =>
    screen.facts([
      ['link', created.paymentLinkUrl],
      ['id', created.paymentLinkId],
      ['reference', reference],
      ['status', screen.status(created.status)],
      ['amount', `COP ${showCents(Number(body['amountInCents']))}`],
      ['expires', showMoment(created.expiresAt)],
    ]);
  if (!args.flag('wait')) {
    // The creation's answer does not carry the reference, and it may have been made here.
    screen.answer({ ...created, reference }, text);
    return undefined;
  }
  screen.note(`Created ${reference}: ${created.paymentLinkUrl}`);
  const ended = await follow(context, args, caudal, created.paymentLinkId);
  screen.answer(ended, () => linkText(screen, ended));
  return exitCodeOf(ended.status);
}

function bodyOf(args: ParsedArgs, data: Body): Body {
  const bank = args.text('bank');
  return {
    amountType: 'FIXED',
    reference: newReference('order'),
    ...data,
    ...defined({
      amountInCents: readAmount(args),
      rail: args.text('rail') ?? (bank === undefined ? undefined : 'PSE'),
      reference: args.text('reference'),
      callbackUrl: args.text('callback-url'),
      description: args.text('description'),
      inlineCustomer: readCustomer(args, data['inlineCustomer']),
    }),
    ...within(data, 'pse', { bank }),
  };
}

function linkText(screen: Screen, link: Link): string {
  return screen.facts([
    ['link', link.paymentLinkUrl],
    ['id', link.paymentLinkId],
    ['reference', link.reference],
    ['status', screen.status(link.status)],
    ['amount', `COP ${showCents(link.amountInCents)}`],
    ['description', link.description],
    ['rail', link.rail],
    ['payin', link.payinId],
    ['created', showMoment(link.createdAt)],
    ['expires', link.status === 'PENDING' ? showMoment(link.expiresAt) : null],
    ['completed', showMoment(link.completedAt)],
  ]);
}

function linkIdOf(caudal: Caudal, text: string): Promise<string> {
  return idOrReference(
    text,
    'payment link',
    (reference) => caudal.paymentLinks.list({ reference, pageSize: 1 }),
    ({ paymentLinkId }: Link) => paymentLinkId,
  );
}

function follow({ screen, signal }: Context, args: ParsedArgs, caudal: Caudal, id: string): Promise<Link> {
  return followToEnd({ screen, signal, args, what: `link ${id}`, id }, () =>
    caudal.paymentLinks.get(id, { signal }),
  );
}

async function get(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen } = context;
  const caudal = apiOf(context, args);
  const id = await linkIdOf(caudal, args.word(0));
  const link = args.flag('wait')
    ? await follow(context, args, caudal, id)
    : await caudal.paymentLinks.get(id);
  screen.answer(link, () => linkText(screen, link));
  return args.flag('wait') ? exitCodeOf(link.status) : undefined;
}

async function expire(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  let link = await caudal.paymentLinks.expire(await linkIdOf(caudal, args.word(0)), { signal });
  const deadline = performance.now() + CLOSED_WITHIN_MS;
  while (link.status === 'PENDING' && performance.now() < deadline) {
    await sleep(LOOK_EVERY_MS, undefined, { signal });
    link = await caudal.paymentLinks.get(link.paymentLinkId, { signal });
  }
  screen.answer(link, () => linkText(screen, link));
  if (link.status === 'PENDING')
    screen.note('Closed to new attempts; it is EXPIRED as soon as nothing is under way.');
  return undefined;
}

function list(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  return showListing(context, args, {
    filters: {
      status: args.text('status'),
      rail: args.text('rail'),
      reference: args.text('reference'),
      ...createdRange(args),
    },
    read: (caudal, query: ListQuery) => caudal.paymentLinks.list(query),
    text: (rows) =>
      screen.table(
        [
          { title: 'ID', text: ({ paymentLinkId }) => paymentLinkId },
          { title: 'STATUS', text: ({ status }) => status, style: ({ status }) => screen.status(status) },
          { title: 'COP', text: (row) => showCents(row.amountInCents), align: 'right' },
          { title: 'REFERENCE', text: ({ reference }) => reference, least: 12 },
          { title: 'DESCRIPTION', text: ({ description }) => description ?? '', least: 12, spare: 2 },
          { title: 'CREATED', text: ({ createdAt }) => showMoment(createdAt), spare: 1 },
        ],
        rows,
        'No payment links. See: caudal help links create',
      ),
  });
}
