import { type Caudal, EVENT_NAMES } from '@caudal/sdk';
import { createApiClient } from '../connection/client.ts';
import { summarizeEvent } from '../events/event-line.ts';
import type { Command, Context } from '../framework/command.ts';
import { CliError, UsageError } from '../framework/errors.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../output/listing.ts';
import { formatShortTimestamp, parseTimestamp } from '../requests/time.ts';
import { deliveryText } from './endpoints.ts';

type ReplayEvents = Parameters<Caudal['events']['replayMany']>[0];
type Replayed = Awaited<ReturnType<Caudal['events']['replay']>>;
type ListQuery = NonNullable<Parameters<Caudal['events']['list']>[0]>;

export const EVENT_COMMANDS: readonly Command[] = [
  {
    name: 'events list',
    section: 'events',
    summary: 'list events, newest first',
    options: [
      {
        name: 'event',
        value: 'EVENT',
        summary: 'only events with this name',
        choices: [...EVENT_NAMES, 'webhook.test'],
      },
      { name: 'of', value: 'ID', summary: 'only events of this payin, payout or link' },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    args: [],
    examples: ['caudal events list', 'caudal events list --event payin.confirmed --since 1h'],
    run: list,
  },
  {
    name: 'events get',
    section: 'events',
    summary: 'show an event with its body and deliveries',
    options: [],
    args: [{ name: 'ID', summary: 'event id, or latest' }],
    examples: ['caudal events get latest'],
    run: get,
  },
  {
    name: 'events replay',
    section: 'events',
    summary: 'resend events to your endpoints: one event, failed ones, or all in a time range',
    options: [
      {
        name: 'failed-since',
        value: 'WHEN',
        summary: 'events created since then whose delivery failed: 2h, 1d, a timestamp',
      },
      ...CREATED_OPTIONS,
    ],
    args: [{ name: 'ID', summary: 'event id, or latest', optional: true }],
    details:
      'Sends to every enabled endpoint that subscribes to the event, also to endpoints created later, with the same event id.',
    examples: ['caudal events replay latest', 'caudal events replay --failed-since 2h'],
    run: replay,
  },
];

function list(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  return showListing(context, args, {
    filters: {
      event: args.text('event'),
      resourceId: args.text('of'),
      ...createdRange(args),
    },
    read: (caudal, query: ListQuery) => caudal.events.list(query),
    text: (rows) =>
      screen.table(
        [
          { title: 'ID', text: ({ id }) => id },
          { title: 'CREATED', text: ({ createdAt }) => formatShortTimestamp(createdAt) },
          { title: 'EVENT', text: ({ event }) => event },
          { title: 'REFERENCE', text: (event) => summarizeEvent(event).reference, minWidth: 6 },
          { title: 'AMOUNT', text: (event) => summarizeEvent(event).amount, align: 'right', dropOrder: 2 },
        ],
        rows,
        'No events yet. Trigger one: caudal trigger payin.confirmed',
      ),
  });
}

async function get(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  const event = await caudal.events.get(await resolveEventId(caudal, args.positional(0)), { signal });
  screen.result(event, () => {
    const { deliveries, ...body } = event;
    const lines = deliveries.flatMap((delivery) =>
      deliveryText(screen, delivery, delivery.webhookEndpointId),
    );
    return [
      JSON.stringify(body, null, 2),
      '',
      ...(lines.length > 0 ? lines : ['Not delivered: no endpoint subscribed to it.']),
    ].join('\n');
  });
  return undefined;
}

async function replay(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = createApiClient(context, args);
  const failed = args.text('failed-since');
  const created = createdRange(args);
  // The API requires both ends of the range.
  const range =
    created.createdFrom === undefined ? created : { createdTo: new Date().toISOString(), ...created };
  const id = args.positionals[0];
  const isBulk = failed !== undefined || Object.keys(range).length > 0;
  if ((id === undefined) === !isBulk)
    throw new UsageError('events replay needs an ID, --failed-since or --since', [
      'See: caudal help events replay',
    ]);
  const replayed =
    id === undefined
      ? await replayAll(caudal, signal, {
          ...range,
          ...(failed === undefined
            ? {}
            : { failedSince: parseTimestamp('failed-since', failed, Date.now()).toISOString() }),
        })
      : await caudal.events.replay(await resolveEventId(caudal, id), { signal });
  screen.result(replayed, () => replayedText(replayed));
  if (replayed.deliveries === 0)
    screen.note(
      failed === undefined
        ? 'No enabled endpoint subscribes to them. See: caudal endpoints list'
        : 'No event created since then has failed at an enabled endpoint.',
    );
  return undefined;
}

/** The API replays events in batches and returns the event to continue after. */
async function replayAll(caudal: Caudal, signal: AbortSignal, body: ReplayEvents): Promise<Replayed> {
  const done = { events: 0, deliveries: 0 };
  let after: string | undefined;
  do {
    const batch = await caudal.events.replayMany(after === undefined ? body : { ...body, after }, { signal });
    done.events += batch.events;
    done.deliveries += batch.deliveries;
    after = batch.nextAfter ?? undefined;
  } while (after !== undefined);
  return done;
}

function replayedText({ deliveries, events }: Replayed): string {
  const of = `of ${events} ${events === 1 ? 'event' : 'events'}`;
  return deliveries === 1 ? `1 delivery ${of} queued.` : `${deliveries} deliveries ${of} queued.`;
}

/** Resolves `latest` to the id of the newest event. */
async function resolveEventId(caudal: Caudal, text: string): Promise<string> {
  if (text !== 'latest') return text;
  const { data } = await caudal.events.list({ pageSize: 1 });
  const [event] = data;
  if (!event) throw new CliError('there are no events yet', ['Trigger one: caudal trigger payin.confirmed']);
  return event.id;
}
