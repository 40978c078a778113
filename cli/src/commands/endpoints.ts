import { setTimeout as sleep } from 'node:timers/promises';
import { nearest } from '@caudal/command-tree';
import { type Caudal, EVENT_NAMES } from '@caudal/sdk';
import { createApiClient } from '../connection/client.ts';
import type { Command, Context } from '../framework/command.ts';
import { CliError, UsageError } from '../framework/errors.ts';
import { EXIT, type ExitCode } from '../framework/exit-codes.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { LIST_OPTIONS, showListing } from '../output/listing.ts';
import { withProgress } from '../output/progress.ts';
import type { Screen } from '../output/screen.ts';
import { stripControlCharacters, truncate } from '../output/table.ts';
import { newIdempotencyKey } from '../requests/creation.ts';
import { omitUndefined } from '../requests/request-body.ts';
import { isId } from '../requests/resource-id.ts';
import { formatTimestamp } from '../requests/time.ts';

type CreateBody = Parameters<Caudal['webhookEndpoints']['create']>[0];
type UpdateBody = Parameters<Caudal['webhookEndpoints']['update']>[1];
type Endpoint = Awaited<ReturnType<Caudal['webhookEndpoints']['get']>>;
type Event = Awaited<ReturnType<Caudal['events']['get']>>;
type Delivery = Omit<Event['deliveries'][number], 'webhookEndpointId'>;

const ENDPOINT_ARG = [{ name: 'ENDPOINT', summary: 'id or URL of the endpoint' }];
const TEST_TIMEOUT_MS = 15_000;
const POLL_INTERVAL_MS = 200;

export const ENDPOINT_COMMANDS: readonly Command[] = [
  {
    name: 'endpoints create',
    section: 'events',
    summary: 'create a webhook endpoint; prints its secret once',
    options: [
      { name: 'events', value: 'EVENTS', summary: 'comma-separated event names (default: all)' },
      { name: 'description', value: 'TEXT', summary: 'description of the endpoint' },
      { name: 'header', value: 'NAME:VALUE', summary: 'custom header on every delivery' },
    ],
    args: [{ name: 'URL', summary: 'https URL; a development server also accepts http on localhost' }],
    examples: [
      'caudal endpoints create http://127.0.0.1:3000/webhooks',
      'caudal endpoints create https://shop.example.com/webhooks --events payin.confirmed,payout.confirmed',
    ],
    run: create,
  },
  {
    name: 'endpoints list',
    section: 'events',
    summary: 'list endpoints and their status',
    options: [],
    args: [],
    examples: ['caudal endpoints list'],
    run: list,
  },
  {
    name: 'endpoints get',
    section: 'events',
    summary: 'show an endpoint',
    options: [],
    args: ENDPOINT_ARG,
    examples: ['caudal endpoints get http://127.0.0.1:3000/webhooks'],
    run: get,
  },
  {
    name: 'endpoints update',
    section: 'events',
    summary: 'change the URL, events, description or header of an endpoint',
    options: [
      { name: 'url', value: 'URL', summary: 'new URL; the secret does not change' },
      { name: 'events', value: 'EVENTS', summary: 'comma-separated event names, or all' },
      { name: 'description', value: 'TEXT', summary: "description; '' removes it" },
      { name: 'header', value: 'NAME:VALUE', summary: "custom header on every delivery; '' removes it" },
    ],
    args: ENDPOINT_ARG,
    details: 'To pause or resume deliveries: caudal endpoints disable, caudal endpoints enable.',
    examples: [
      'caudal endpoints update http://127.0.0.1:3000/webhooks --events payin.confirmed,payin.declined',
      'caudal endpoints update http://127.0.0.1:3000/webhooks --events all --description Orders',
    ],
    run: update,
  },
  {
    name: 'endpoints test',
    section: 'events',
    summary: 'send webhook.test to an endpoint and show its response',
    options: [],
    args: ENDPOINT_ARG,
    examples: ['caudal endpoints test http://127.0.0.1:3000/webhooks'],
    run: test,
  },
  {
    name: 'endpoints deliveries',
    section: 'events',
    summary: 'list the deliveries to an endpoint with their attempts',
    options: LIST_OPTIONS,
    args: ENDPOINT_ARG,
    examples: ['caudal endpoints deliveries http://127.0.0.1:3000/webhooks --limit 5'],
    run: deliveries,
  },
  {
    name: 'endpoints enable',
    section: 'events',
    summary: 'enable a disabled endpoint and send its held deliveries',
    options: [],
    args: ENDPOINT_ARG,
    examples: ['caudal endpoints enable http://127.0.0.1:3000/webhooks'],
    run: (context, args) => change(context, args, { status: 'ENABLED' }),
  },
  {
    name: 'endpoints disable',
    section: 'events',
    summary: 'disable an endpoint and hold its deliveries',
    options: [],
    args: ENDPOINT_ARG,
    examples: ['caudal endpoints disable http://127.0.0.1:3000/webhooks'],
    run: (context, args) => change(context, args, { status: 'DISABLED' }),
  },
  {
    name: 'endpoints rotate',
    section: 'events',
    summary: 'rotate the secret; both secrets sign for 24 hours',
    options: [],
    args: ENDPOINT_ARG,
    examples: ['caudal endpoints rotate http://127.0.0.1:3000/webhooks'],
    run: rotate,
  },
  {
    name: 'endpoints delete',
    section: 'events',
    summary: 'delete an endpoint',
    options: [],
    args: ENDPOINT_ARG,
    examples: ['caudal endpoints delete http://127.0.0.1:3000/webhooks'],
    run: remove,
  },
];

/** @throws UsageError for an unknown event name */
export function readEventNames(args: ParsedArgs): string[] | undefined {
  const names = args.list('events');
  for (const name of names ?? []) {
    if (EVENT_NAMES.some((known) => known === name)) continue;
    const meant = nearest(name, EVENT_NAMES);
    throw new UsageError(`--events: unknown event "${name}"`, [
      meant ? `Did you mean ${meant}?` : `Events: ${EVENT_NAMES.join(', ')}`,
    ]);
  }
  return names;
}

/** Endpoint settings from options. Null removes a setting; null events means all. */
function readEndpointSettings(args: ParsedArgs) {
  const header = args.text('header');
  const [, name, value] = /^([^:]+):\s*(.*)$/.exec(header ?? '') ?? [];
  if (header !== undefined && header !== '' && name === undefined)
    throw new UsageError('--header must be NAME:VALUE');
  return {
    events: args.text('events') === 'all' ? null : readEventNames(args),
    description: args.text('description') === '' ? null : args.text('description'),
    staticHeader: header === undefined ? undefined : name === undefined ? null : { name, value },
  };
}

async function create(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const body = omitUndefined({
    url: args.positional(0),
    ...readEndpointSettings(args),
  }) as unknown as CreateBody;
  const endpoint = await createApiClient(context, args).webhookEndpoints.create(body, {
    idempotencyKey: newIdempotencyKey(),
    signal,
  });
  screen.result(endpoint, () => endpointText(screen, endpoint, endpoint.secret));
  screen.note('The secret is shown only once.');
  return undefined;
}

function endpointText(screen: Screen, endpoint: Endpoint, secret: string | null): string {
  return screen.fields([
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
    ['created', formatTimestamp(endpoint.createdAt)],
  ]);
}

async function list(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const { data } = await createApiClient(context, args).webhookEndpoints.list({ signal });
  screen.result({ data }, () =>
    data.length === 0
      ? 'No endpoints. Create one: caudal endpoints create URL. To watch events without one: caudal listen'
      : data.flatMap((endpoint) => endpointLines(screen, endpoint)).join('\n'),
  );
  return undefined;
}

/** Several lines, not a table: id, URL and events do not fit in one line. */
function endpointLines(screen: Screen, { id, url, status, disabledReason, events }: Endpoint): string[] {
  return [
    `${screen.status(status)} ${id} ${stripControlCharacters(url)}`,
    `  events: ${events?.join(', ') ?? 'all'}`,
    ...(disabledReason === null ? [] : [`  disabled: ${stripControlCharacters(disabledReason)}`]),
  ];
}

async function get(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  const endpoint = await caudal.webhookEndpoints.get(await resolveEndpointId(caudal, args.positional(0)), {
    signal,
  });
  screen.result(endpoint, () => endpointText(screen, endpoint, null));
  return undefined;
}

async function update(context: Context, args: ParsedArgs): Promise<undefined> {
  const body = omitUndefined({ url: args.text('url'), ...readEndpointSettings(args) });
  if (Object.keys(body).length === 0)
    throw new UsageError('endpoints update needs at least one option', ['See: caudal help endpoints update']);
  return change(context, args, body);
}

async function test(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  const { eventId } = await caudal.webhookEndpoints.test(
    await resolveEndpointId(caudal, args.positional(0)),
    {
      signal,
    },
  );
  const deadline = performance.now() + TEST_TIMEOUT_MS;
  const event = await withProgress(screen, 'Sending webhook.test', async () => {
    for (;;) {
      const current = await caudal.events.get(eventId, { signal });
      if (current.deliveries.some(({ attempts }) => attempts.length > 0) || performance.now() > deadline)
        return current;
      await sleep(POLL_INTERVAL_MS, undefined, { signal });
    }
  });
  screen.result(event, () => event.deliveries.flatMap((each) => deliveryText(screen, each, null)).join('\n'));
  return event.deliveries.some(({ status }) => status === 'DELIVERED') ? undefined : EXIT.failed;
}

async function deliveries(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const id = await resolveEndpointId(createApiClient(context, args), args.positional(0));
  return showListing(context, args, {
    filters: {},
    read: (caudal, query: { pageSize: number }) => caudal.webhookEndpoints.listDeliveries(id, query),
    text: (rows) =>
      rows.length === 0
        ? 'No deliveries yet.'
        : rows.flatMap((row) => deliveryText(screen, row, null)).join('\n'),
  });
}

/** A delivery with its attempts. */
export function deliveryText(screen: Screen, delivery: Delivery, endpointId: string | null): string[] {
  const next =
    delivery.nextAttemptAt === null ? '' : `, next attempt at ${formatTimestamp(delivery.nextAttemptAt)}`;
  const where = endpointId === null ? '' : ` to endpoint ${endpointId}`;
  return [
    `${screen.status(delivery.status)} ${delivery.event} ${delivery.eventId}${where}${next}`,
    ...delivery.attempts.flatMap(({ at, statusCode, durationMs, error, answer }) => {
      const result =
        error === null ? String(statusCode) : `failed (${[error, statusCode].filter(Boolean).join(', ')})`;
      const body = stripControlCharacters(answer ?? '').trim();
      return [
        `  ${formatTimestamp(at)}  ${result} in ${durationMs} ms`,
        ...(body === '' ? [] : [`    ${truncate(body, screen.width - 4)}`]),
      ];
    }),
  ];
}

async function change(context: Context, args: ParsedArgs, body: UpdateBody): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  const endpoint = await caudal.webhookEndpoints.update(
    await resolveEndpointId(caudal, args.positional(0)),
    body,
    {
      signal,
    },
  );
  screen.result(endpoint, () => endpointText(screen, endpoint, null));
  return undefined;
}

async function rotate(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  const endpoint = await caudal.webhookEndpoints.rotateSecret(
    await resolveEndpointId(caudal, args.positional(0)),
    {
      signal,
    },
  );
  screen.result(endpoint, () => endpointText(screen, endpoint, endpoint.secret));
  screen.note(
    'The secret is shown only once. The old secret also signs for 24 hours: update your receiver in that time.',
  );
  return undefined;
}

async function remove(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  const deleted = await caudal.webhookEndpoints.delete(await resolveEndpointId(caudal, args.positional(0)), {
    signal,
  });
  screen.result(deleted, () => `Deleted ${deleted.id}.`);
  return undefined;
}

/** Resolves an endpoint id or URL to an id. */
async function resolveEndpointId(caudal: Caudal, text: string): Promise<string> {
  if (isId(text)) return text;
  const { data } = await caudal.webhookEndpoints.list();
  const found = data.filter(({ url }) => url === (URL.canParse(text) ? new URL(text).href : text));
  if (found.length > 1)
    throw new CliError(
      `${found.length} endpoints have the URL ${text}: use an id`,
      found.map(({ id }) => id),
    );
  const [endpoint] = found;
  if (!endpoint)
    throw new CliError(`no endpoint has the id or URL "${text}"`, ['See: caudal endpoints list']);
  return endpoint.id;
}
