import { setTimeout as sleep } from 'node:timers/promises';
import type { Caudal } from '@caudal/sdk';
import { createApiClient } from '../connection/client.ts';
import type { Command, Context } from '../framework/command.ts';
import type { ExitCode } from '../framework/exit-codes.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../output/listing.ts';
import type { Screen } from '../output/screen.ts';
import { createOnce, newIdempotencyKey, newReference } from '../requests/creation.ts';
import { formatCents } from '../requests/pesos.ts';
import {
  AMOUNT_OPTIONS,
  type Body,
  CREATION_OPTIONS,
  CUSTOMER_OPTIONS,
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

type Link = Awaited<ReturnType<Caudal['paymentLinks']['get']>>;
type CreateBody = Parameters<Caudal['paymentLinks']['create']>[0];
type ListQuery = NonNullable<Parameters<Caudal['paymentLinks']['list']>[0]>;

const RAILS = ['BRE_B', 'PSE'];
const CLOSE_TIMEOUT_MS = 3000;
const POLL_INTERVAL_MS = 150;
const ID_ARG = [{ name: 'ID', summary: 'id or reference of the link' }];

export const LINK_COMMANDS: readonly Command[] = [
  {
    name: 'links create',
    section: 'payments',
    summary: 'create a payment link: a page where the payer chooses a method',
    options: [
      ...AMOUNT_OPTIONS,
      {
        name: 'callback-url',
        value: 'URL',
        summary: 'URL the payer returns to; required, here or in --data',
      },
      { name: 'description', value: 'TEXT', summary: 'description shown to the payer' },
      { name: 'rail', value: 'RAIL', summary: 'offer only this rail', choices: RAILS },
      { name: 'bank', value: 'BANK', summary: 'PSE: preselected bank (implies --rail PSE)' },
      ...CUSTOMER_OPTIONS,
      ...CREATION_OPTIONS,
      ...WAIT_OPTIONS,
    ],
    args: [],
    details:
      'A link expires after one hour. paymentlink.completed is the only event that reports its payment.',
    examples: [
      "caudal links create --amount 49800 --description 'Dos pares de zapatos' --callback-url https://shop.example.com/thanks --reference order-2001",
    ],
    run: create,
  },
  {
    name: 'links get',
    section: 'payments',
    summary: 'show a payment link',
    options: WAIT_OPTIONS,
    args: ID_ARG,
    examples: ['caudal links get order-2001'],
    run: get,
  },
  {
    name: 'links list',
    section: 'payments',
    summary: 'list payment links, newest first',
    options: [
      {
        name: 'status',
        value: 'STATUS',
        summary: 'only links with this status',
        choices: ['PENDING', 'COMPLETED', 'EXPIRED'],
      },
      { name: 'rail', value: 'RAIL', summary: 'only links for this rail', choices: RAILS },
      { name: 'reference', value: 'TEXT', summary: 'only the link with this reference' },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    args: [],
    examples: ['caudal links list --status PENDING'],
    run: list,
  },
  {
    name: 'links expire',
    section: 'payments',
    summary: 'close a link early',
    options: [],
    args: ID_ARG,
    details:
      'A payment in progress is completed first; then the link becomes EXPIRED, usually within a second.',
    examples: ['caudal links expire order-2001'],
    run: expire,
  },
];

async function create(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const body = buildBody(args, await readData(args));
  requireAmount(body, 'links create');
  const caudal = createApiClient(context, args);
  const idempotencyKey = args.text('idempotency-key') ?? newIdempotencyKey();
  const reference = String(body['reference']);
  const created = await createOnce({ reference, idempotencyKey }, () =>
    caudal.paymentLinks.create(body as unknown as CreateBody, { idempotencyKey, signal }),
  );
  const text = () =>
    screen.fields([
      ['link', created.paymentLinkUrl],
      ['id', created.paymentLinkId],
      ['reference', reference],
      ['status', screen.status(created.status)],
      ['amount', `COP ${formatCents(Number(body['amountInCents']))}`],
      ['expires', formatTimestamp(created.expiresAt)],
      ['metadata', metadataText(created.metadata)],
    ]);
  if (!args.flag('wait')) {
    // The API's response has no reference, and it may have been generated here.
    screen.result({ ...created, reference }, text);
    return undefined;
  }
  screen.note(`Created ${reference}: ${created.paymentLinkUrl}`);
  const ended = await waitForOutcome(context, args, caudal, created.paymentLinkId);
  screen.result(ended, () => linkText(screen, ended));
  return exitCodeForStatus(ended.status);
}

function buildBody(args: ParsedArgs, data: Body): Body {
  const bank = args.text('bank');
  return {
    amountType: 'FIXED',
    reference: newReference('order'),
    ...data,
    ...omitUndefined({
      amountInCents: readAmount(args),
      rail: args.text('rail') ?? (bank === undefined ? undefined : 'PSE'),
      reference: args.text('reference'),
      callbackUrl: args.text('callback-url'),
      description: args.text('description'),
      inlineCustomer: readCustomer(args, data['inlineCustomer']),
    }),
    ...nestedObject(data, 'pse', { bank }),
  };
}

function linkText(screen: Screen, link: Link): string {
  return screen.fields([
    ['link', link.paymentLinkUrl],
    ['id', link.paymentLinkId],
    ['reference', link.reference],
    ['status', screen.status(link.status)],
    ['amount', `COP ${formatCents(link.amountInCents)}`],
    ['description', link.description],
    ['rail', link.rail],
    ['payin', link.payinId],
    ['created', formatTimestamp(link.createdAt)],
    ['expires', link.status === 'PENDING' ? formatTimestamp(link.expiresAt) : null],
    ['completed', formatTimestamp(link.completedAt)],
    ['metadata', metadataText(link.metadata)],
  ]);
}

function resolveLinkId(caudal: Caudal, text: string): Promise<string> {
  return resolveId(
    text,
    'payment link',
    (reference) => caudal.paymentLinks.list({ reference, pageSize: 1 }),
    ({ paymentLinkId }: Link) => paymentLinkId,
  );
}

function waitForOutcome(
  { screen, signal }: Context,
  args: ParsedArgs,
  caudal: Caudal,
  id: string,
): Promise<Link> {
  return waitForFinalStatus({ screen, signal, args, what: `link ${id}`, id }, () =>
    caudal.paymentLinks.get(id, { signal }),
  );
}

async function get(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen } = context;
  const caudal = createApiClient(context, args);
  const id = await resolveLinkId(caudal, args.positional(0));
  const link = args.flag('wait')
    ? await waitForOutcome(context, args, caudal, id)
    : await caudal.paymentLinks.get(id);
  screen.result(link, () => linkText(screen, link));
  return args.flag('wait') ? exitCodeForStatus(link.status) : undefined;
}

async function expire(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  let link = await caudal.paymentLinks.expire(await resolveLinkId(caudal, args.positional(0)), { signal });
  const deadline = performance.now() + CLOSE_TIMEOUT_MS;
  while (link.status === 'PENDING' && performance.now() < deadline) {
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
    link = await caudal.paymentLinks.get(link.paymentLinkId, { signal });
  }
  screen.result(link, () => linkText(screen, link));
  if (link.status === 'PENDING')
    screen.note('Closed to new attempts; it becomes EXPIRED when the payment in progress ends.');
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
          { title: 'COP', text: (row) => formatCents(row.amountInCents), align: 'right' },
          { title: 'REFERENCE', text: ({ reference }) => reference, minWidth: 12 },
          { title: 'DESCRIPTION', text: ({ description }) => description ?? '', minWidth: 12, dropOrder: 2 },
          { title: 'CREATED', text: ({ createdAt }) => formatTimestamp(createdAt), dropOrder: 1 },
        ],
        rows,
        'No payment links. See: caudal help links create',
      ),
  });
}
