import type { Caudal } from '@caudal/sdk';
import { apiOf } from '../client.ts';
import type { Command, Context } from '../command.ts';
import { Fault, UsageError } from '../errors.ts';
import { eventFacts } from '../event-line.ts';
import { LISTED_EVENT_NAMES } from '../event-names.ts';
import { CREATED_OPTIONS, createdRange, LIST_OPTIONS, showListing } from '../listing.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { readMoment, showMinute } from '../time.ts';
import { deliveryText } from './endpoints.ts';

type ReplayEvents = Parameters<Caudal['events']['replayMany']>[0];
type Replayed = Awaited<ReturnType<Caudal['events']['replay']>>;
type ListQuery = NonNullable<Parameters<Caudal['events']['list']>[0]>;

export const EVENT_COMMANDS: readonly Command[] = [
  {
    name: 'events list',
    section: 'events',
    summary: 'what happened, newest first',
    options: [
      { name: 'event', value: 'EVENT', summary: 'only those of this name', choices: LISTED_EVENT_NAMES },
      { name: 'of', value: 'ID', summary: 'only those of this payin, payout or link' },
      ...CREATED_OPTIONS,
      ...LIST_OPTIONS,
    ],
    words: [],
    examples: ['caudal events list', 'caudal events list --event payin.confirmed --since 1h'],
    run: list,
  },
  {
    name: 'events get',
    section: 'events',
    summary: 'an event with its body and every delivery of it',
    options: [],
    words: [{ name: 'ID', summary: 'id of the event, or latest' }],
    examples: ['caudal events get latest'],
    run: get,
  },
  {
    name: 'events replay',
    section: 'events',
    summary: 'deliver again to your endpoints: one event, those that failed, or all of a span of time',
    options: [
      {
        name: 'failed-since',
        value: 'WHEN',
        summary: 'what failed, of all that was created since: 2h, 1d, a time',
      },
      ...CREATED_OPTIONS,
    ],
    words: [{ name: 'ID', summary: 'id of the event, or latest', optional: true }],
    details: 'Goes to all enabled endpoints that want the event, also those made later, under the same id.',
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
          { title: 'CREATED', text: ({ createdAt }) => showMinute(createdAt) },
          { title: 'EVENT', text: ({ event }) => event },
          { title: 'REFERENCE', text: (event) => eventFacts(event).reference, least: 6 },
          { title: 'AMOUNT', text: (event) => eventFacts(event).amount, align: 'right', spare: 2 },
        ],
        rows,
        'No events yet. Make one: caudal trigger payin.confirmed',
      ),
  });
}

async function get(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  const event = await caudal.events.get(await eventIdOf(caudal, args.word(0)), { signal });
  screen.answer(event, () => {
    const { deliveries, ...body } = event;
    const told = deliveries.flatMap((delivery) => deliveryText(screen, delivery, delivery.webhookEndpointId));
    return [
      JSON.stringify(body, null, 2),
      '',
      ...(told.length > 0 ? told : ['Not delivered to anybody: there was no endpoint that wanted it.']),
    ].join('\n');
  });
  return undefined;
}

async function replay(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, signal } = context;
  const caudal = apiOf(context, args);
  const failed = args.text('failed-since');
  const told = createdRange(args);
  // The API wants both ends of a span.
  const range = told.createdFrom === undefined ? told : { createdTo: new Date().toISOString(), ...told };
  const id = args.words[0];
  const many = failed !== undefined || Object.keys(range).length > 0;
  if ((id === undefined) === !many)
    throw new UsageError('events replay takes an ID, or --failed-since, or --since', [
      'See: caudal help events replay',
    ]);
  const replayed =
    id === undefined
      ? await replayAll(caudal, signal, {
          ...range,
          ...(failed === undefined
            ? {}
            : { failedSince: readMoment('failed-since', failed, Date.now()).toISOString() }),
        })
      : await caudal.events.replay(await eventIdOf(caudal, id), { signal });
  screen.answer(replayed, () => replayedText(replayed));
  if (replayed.deliveries === 0)
    screen.note(
      failed === undefined
        ? 'No enabled endpoint wants them. See: caudal endpoints list'
        : 'Of what was created since then nothing has failed at an enabled endpoint.',
    );
  return undefined;
}

/** The API does some in a request, and says after which event to go on. */
async function replayAll(caudal: Caudal, signal: AbortSignal, body: ReplayEvents): Promise<Replayed> {
  const done = { events: 0, deliveries: 0 };
  let after: string | undefined;
  do {
    const some = await caudal.events.replayMany(after === undefined ? body : { ...body, after }, { signal });
    done.events += some.events;
    done.deliveries += some.deliveries;
    after = some.nextAfter ?? undefined;
  } while (after !== undefined);
  return done;
}

function replayedText({ deliveries, events }: Replayed): string {
  const of = `of ${events} ${events === 1 ? 'event' : 'events'}`;
  return deliveries === 1
    ? `1 delivery ${of} is on its way.`
    : `${deliveries} deliveries ${of} are on their way.`;
}

/** People seldom know an id; what happened last is what they look for. */
async function eventIdOf(caudal: Caudal, text: string): Promise<string> {
  if (text !== 'latest') return text;
  const { data } = await caudal.events.list({ pageSize: 1 });
  const [event] = data;
  if (!event) throw new Fault('there are no events yet', ['Make one: caudal trigger payin.confirmed']);
  return event.id;
}
