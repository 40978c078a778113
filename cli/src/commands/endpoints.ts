import { setTimeout as sleep } from 'node:timers/promises';
import type { Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context } from '../command.ts';
import { newIdempotencyKey } from '../creation.ts';
import { Fault, UsageError } from '../errors.ts';
import { EVENT_NAMES } from '../event-names.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { LIST_OPTIONS, showListing } from '../listing.ts';
import { nearest } from '../nearest.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { withProgress } from '../progress.ts';
import { defined } from '../request-body.ts';
import { isId } from '../resource-id.ts';
import type { Screen } from '../screen.ts';
import { cut, oneLine } from '../table.ts';
import { showMoment } from '../time.ts';

type CreateBody = Parameters<Caudal['webhookEndpoints']['create']>[0];
type UpdateBody = Parameters<Caudal['webhookEndpoints']['update']>[1];
type Endpoint = Awaited<ReturnType<Caudal['webhookEndpoints']['get']>>;
type Event = Awaited<ReturnType<Caudal['events']['get']>>;
type Delivery = Omit<Event['deliveries'][number], 'webhookEndpointId'>;

const NAMED = [{ name: 'ENDPOINT', summary: 'its id, or its address' }];
const TEST_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 200;

export const ENDPOINT_COMMANDS: readonly Command[] = [
  {
    name: 'endpoints create',
    section: 'events',
    summary: 'have events sent to an address of yours; prints its secret, once',
    options: [
      { name: 'events', value: 'EVENTS', summary: 'which, parted by commas; all when left out' },
      { name: 'description', value: 'TEXT', summary: 'what it is for' },
      { name: 'header', value: 'NAME:VALUE', summary: 'a header of your own on every delivery' },
    ],
    words: [{ name: 'URL', summary: 'https; on a development server also http to this machine' }],
    examples: [
      'caudal endpoints create http://127.0.0.1:3000/webhooks',
      'caudal endpoints create https://shop.example.com/webhooks --events payin.confirmed,payout.confirmed',
    ],
    run: create,
  },
  {
    name: 'endpoints list',
    section: 'events',
    summary: 'your endpoints and how they are',
    options: [],
    words: [],
    examples: ['caudal endpoints list'],
    run: list,
  },
  {
    name: 'endpoints get',
    section: 'events',
    summary: 'one endpoint as it is now',
    options: [],
    words: NAMED,
    examples: ['caudal endpoints get http://127.0.0.1:3000/webhooks'],
    run: get,
  },
  {
    name: 'endpoints update',
    section: 'events',
    summary: 'change its address, events, description or header; the rest stays',
    options: [
      { name: 'url', value: 'URL', summary: 'another address; its secret stays' },
      { name: 'events', value: 'EVENTS', summary: 'which, parted by commas, or all' },
      { name: 'description', value: 'TEXT', summary: "what it is for; '' for none" },
      { name: 'header', value: 'NAME:VALUE', summary: "a header of your own on every delivery; '' for none" },
    ],
    words: NAMED,
    details: 'To hold or go on sending: caudal endpoints disable, caudal endpoints enable.',
    examples: [
      'caudal endpoints update http://127.0.0.1:3000/webhooks --events payin.confirmed,payin.declined',
      'caudal endpoints update http://127.0.0.1:3000/webhooks --events all --description Orders',
    ],
    run: update,
  },
  {
    name: 'endpoints test',
    section: 'events',
    summary: 'send webhook.test to one and see what it answers',
    options: [],
    words: NAMED,
    examples: ['caudal endpoints test http://127.0.0.1:3000/webhooks'],
    run: test,
  },
  {
    name: 'endpoints deliveries',
    section: 'events',
    summary: 'what was sent to one, attempt by attempt',
    options: LIST_OPTIONS,
    words: NAMED,
    examples: ['caudal endpoints deliveries http://127.0.0.1:3000/webhooks --limit 5'],
    run: deliveries,
  },
  {
    name: 'endpoints enable',
    section: 'events',
    summary: 'go on sending to one that was disabled, with what was held',
    options: [],
    words: NAMED,
    examples: ['caudal endpoints enable http://127.0.0.1:3000/webhooks'],
    run: (context, args) => change(context, args, { status: 'ENABLED' }),
  },
  {
    name: 'endpoints disable',
    section: 'events',
    summary: 'hold what would be sent to one',
    options: [],
    words: NAMED,
    examples: ['caudal endpoints disable http://127.0.0.1:3000/webhooks'],
    run: (context, args) => change(context, args, { status: 'DISABLED' }),
  },
  {
    name: 'endpoints rotate',
    section: 'events',
    summary: 'give one a new secret; both sign for 24 hours',
    options: [],
    words: NAMED,
    examples: ['caudal endpoints rotate http://127.0.0.1:3000/webhooks'],
    run: rotate,
  },
  {
    name: 'endpoints delete',
    section: 'events',
    summary: 'send nothing to it any more',
    options: [],
    words: NAMED,
    examples: ['caudal endpoints delete http://127.0.0.1:3000/webhooks'],
    run: remove,
  },
];

/** @throws UsageError for a name that no event has */
export function readEventNames(args: ParsedArgs): string[] | undefined {
  const names = args.list('events');
  for (const name of names ?? []) {
    if (EVENT_NAMES.some((known) => known === name)) continue;
    const meant = nearest(name, EVENT_NAMES);
    throw new UsageError(`--events: there is no event "${name}"`, [
      meant ? `Did you mean ${meant}?` : `There are: ${EVENT_NAMES.join(', ')}`,
    ]);
  }
  return names;
}

/** What a merchant chooses of an endpoint; null for none of it, and for all events. */
function choicesIn(args: ParsedArgs) {
  const header = args.text('header');
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(header ?? '') ?? [];
  if (header !== undefined && header !== '' && name === undefined)
    throw new UsageError('--header is NAME:VALUE');
  return {
    events: args.text('events') === 'all' ? null : readEventNames(args),
    description: args.text('description') === '' ? null : args.text('description'),
    staticHeader: header === undefined ? undefined : name === undefined ? null : { name, value },
  };
}

async function create(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const body = defined({ url: args.word(0), ...choicesIn(args) }) as unknown as CreateBody;
  const endpoint = await apiOf(context, args).webhookEndpoints.create(body, {
    idempotencyKey: newIdempotencyKey(),
    signal,
  });
  screen.answer(endpoint, () => endpointText(screen, endpoint, endpoint.secret));
  screen.note('The secret is shown this once.');
  return undefined;
}

function endpointText(screen: Screen, endpoint: Endpoint, secret: string | null): string {
  return screen.facts([
    ['id', endpoint.id],
    ['url', endpoint.url],
    [
      'status',
      screen.status(endpoint.status) + (endpoint.disabledReason ? `: ${endpoint.disabledReason}` : ''),
    ],
    ['events', endpoint.events?.join(', ') ?? 'all'],
    ['description', endpoint.description],
    ['header', endpoint.staticHeader?.name],
    ['secret', secret],
    ['created', showMoment(endpoint.createdAt)],
  ]);
}

async function list(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const { data } = await apiOf(context, args).webhookEndpoints.list({ signal });
  screen.answer({ data }, () =>
    data.length === 0
      ? 'No endpoints. Make one: caudal endpoints create URL. Without any: caudal listen'
      : data.flatMap((endpoint) => endpointLines(screen, endpoint)).join('\n'),
  );
  return undefined;
}

/** Under each other and not a table: beside an id, an address and its events there is no room in one line. */
function endpointLines(screen: Screen, { id, url, status, disabledReason, events }: Endpoint): string[] {
  return [
    `${screen.status(status)} ${id} ${oneLine(url)}`,
    `  events: ${events?.join(', ') ?? 'all'}`,
    ...(disabledReason === null ? [] : [`  disabled: ${oneLine(disabledReason)}`]),
  ];
}

async function get(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  const endpoint = await caudal.webhookEndpoints.get(await endpointIdOf(caudal, args.word(0)), { signal });
  screen.answer(endpoint, () => endpointText(screen, endpoint, null));
  return undefined;
}

async function update(context: Context, args: ParsedArgs): Promise<undefined> {
  const body = defined({ url: args.text('url'), ...choicesIn(args) });
  if (Object.keys(body).length === 0)
    throw new UsageError('endpoints update needs something to change', ['See: caudal help endpoints update']);
  return change(context, args, body);
}

async function test(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  const { eventId } = await caudal.webhookEndpoints.test(await endpointIdOf(caudal, args.word(0)), {
    signal,
  });
  const deadline = performance.now() + TEST_WITHIN_MS;
  const event = await withProgress(screen, 'Sending webhook.test', async () => {
    for (;;) {
      const seen = await caudal.events.get(eventId, { signal });
      if (seen.deliveries.some(({ attempts }) => attempts.length > 0) || performance.now() > deadline)
        return seen;
      await sleep(LOOK_EVERY_MS, undefined, { signal });
    }
  });
  screen.answer(event, () => event.deliveries.flatMap((each) => deliveryText(screen, each, null)).join('\n'));
  return event.deliveries.some(({ status }) => status === 'DELIVERED') ? undefined : EXIT.failed;
}

async function deliveries(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const id = await endpointIdOf(apiOf(context, args), args.word(0));
  return showListing(context, args, {
    filters: {},
    read: (caudal, query: { pageSize: number }) => caudal.webhookEndpoints.listDeliveries(id, query),
    text: (rows) =>
      rows.length === 0
        ? 'Nothing was sent to it yet.'
        : rows.flatMap((row) => deliveryText(screen, row, null)).join('\n'),
  });
}

/** A delivery and, under it, each time it was tried. */
export function deliveryText(screen: Screen, delivery: Delivery, endpointId: string | null): string[] {
  const next = delivery.nextAttemptAt === null ? '' : `, again at ${showMoment(delivery.nextAttemptAt)}`;
  const where = endpointId === null ? '' : ` to endpoint ${endpointId}`;
  return [
    `${screen.status(delivery.status)} ${delivery.event} ${delivery.eventId}${where}${next}`,
    ...delivery.attempts.flatMap(({ at, statusCode, durationMs, error, answer }) => {
      const result =
        error === null ? String(statusCode) : `failed (${[error, statusCode].filter(Boolean).join(', ')})`;
      const body = oneLine(answer ?? '').trim();
      return [
        `  ${showMoment(at)}  ${result} in ${durationMs} ms`,
        ...(body === '' ? [] : [`    ${cut(body, screen.width - 4)}`]),
      ];
    }),
  ];
}

async function change(context: Context, args: ParsedArgs, body: UpdateBody): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  const endpoint = await caudal.webhookEndpoints.update(await endpointIdOf(caudal, args.word(0)), body, {
    signal,
  });
  screen.answer(endpoint, () => endpointText(screen, endpoint, null));
  return undefined;
}

async function rotate(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  const endpoint = await caudal.webhookEndpoints.rotateSecret(await endpointIdOf(caudal, args.word(0)), {
    signal,
  });
  screen.answer(endpoint, () => endpointText(screen, endpoint, endpoint.secret));
  screen.note(
    'The secret is shown this once. The old one signs too for 24 hours: change your program meanwhile.',
  );
  return undefined;
}

async function remove(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  const deleted = await caudal.webhookEndpoints.delete(await endpointIdOf(caudal, args.word(0)), { signal });
  screen.answer(deleted, () => `Deleted ${deleted.id}.`);
  return undefined;
}

/** People know an endpoint by its address. */
async function endpointIdOf(caudal: Caudal, text: string): Promise<string> {
  if (isId(text)) return text;
  const { data } = await caudal.webhookEndpoints.list();
  const found = data.filter(({ url }) => url === (URL.canParse(text) ? new URL(text).href : text));
  if (found.length > 1)
    throw new Fault(
      `${found.length} endpoints have the address ${text}`,
      found.map(({ id }) => id),
    );
  const [endpoint] = found;
  if (!endpoint)
    throw new Fault(`there is no endpoint with the id or address "${text}"`, ['See: caudal endpoints list']);
  return endpoint.id;
}
