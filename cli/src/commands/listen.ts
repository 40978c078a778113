import { listenSecret, maskedKey } from '../api-key.ts';
import type { Command, Context } from '../command.ts';
import { clientOf, connectionOf, readAddress } from '../connection.ts';
import { Fault, UsageError } from '../errors.ts';
import { eventLine } from '../event-line.ts';
import { EVENT_NAMES, type EventName } from '../event-names.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Forwarder } from '../forward.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { fromNow, fromThen, type StreamStart } from '../stream-start.ts';
import { durationOption } from '../time.ts';
import { refuseLive, triggerEvent } from '../trigger-event.ts';
import { readEventNames } from './endpoints.ts';

export const LISTEN_COMMANDS: readonly Command[] = [
  {
    name: 'listen',
    section: 'events',
    summary: 'watch events as they happen, and pass them to a program on this machine',
    options: [
      { name: 'forward-to', value: 'URL', summary: 'POST each event there, signed like a webhook, in order' },
      { name: 'events', value: 'EVENTS', summary: 'only these, parted by commas' },
      {
        name: 'secret',
        value: 'SECRET',
        summary: 'sign with this whsec_…; one of its own when left out, always the same',
      },
      {
        name: 'trigger',
        value: 'EVENT',
        summary: 'once connected, make this event happen (staging)',
        choices: EVENT_NAMES,
      },
      { name: 'since', value: 'WHEN', summary: 'begin earlier: 10m, 2h, a time, or the id of an event' },
      { name: 'exit-after', value: 'N', summary: 'end after so many events' },
      {
        name: 'timeout',
        value: 'SPAN',
        summary: 'with --exit-after: exit 1 when they have not come by then',
      },
    ],
    words: [],
    details:
      'Needs no endpoint and no address that the internet can reach. When the connection breaks it is made again and goes on where it was: nothing is missed, nothing comes twice. Ctrl-C ends it.\n\nThe forwarded request has the headers of Standard Webhooks; your program verifies it with the secret printed here.',
    examples: [
      'caudal listen',
      'caudal listen --trigger payin.confirmed --exit-after 1',
      'caudal listen --forward-to http://127.0.0.1:3000/webhooks --events payin.confirmed,payout.confirmed',
    ],
    run: listen,
  },
];

async function listen(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, environment } = context;
  const connection = connectionOf(environment, args);
  const caudal = clientOf(connection);
  const wanted = readEventNames(args);
  const trigger = args.text('trigger') as EventName | undefined;
  if (trigger !== undefined) refuseLive(connection);
  const most = args.whole('exit-after', 1, 1_000_000) ?? Number.POSITIVE_INFINITY;
  const ending = endingOf(context, args);
  const forwarder = forwarderOf(context, args, connection.apiKey, ending.signal);
  const since = args.text('since');
  const beginning = await (since === undefined
    ? fromNow(caudal, ending.signal)
    : fromThen(caudal, since, ending.signal));
  let failed: unknown = null;
  const start = () => {
    if (trigger === undefined) return;
    triggerEvent(caudal, trigger, { signal: ending.signal, say: (text) => screen.note(text) }).catch(
      (error: unknown) => {
        failed = error;
        ending.end();
      },
    );
  };
  const stream = caudal.events.stream({
    lastEventId: beginning.lastEventId,
    signal: ending.signal,
    ...tellingOf(context, `${connection.baseUrl} as ${maskedKey(connection.apiKey)}`, start),
  });
  let count = 0;
  for await (const event of stream) {
    if (!isWanted(beginning, wanted, event)) continue;
    screen.stream(event, () => eventLine(screen, event));
    await forwarder?.take(event);
    count += 1;
    if (count >= most) break;
  }
  if (failed !== null) throw failed;
  await forwarder?.idle();
  ending.end();
  if (context.signal.aborted) return EXIT.interrupted;
  if (count < most) throw new Fault(`only ${count} of ${most} events came in time`);
  return undefined;
}

type Event = Parameters<StreamStart['isWanted']>[0];

function isWanted(beginning: StreamStart, names: readonly string[] | undefined, event: Event): boolean {
  return beginning.isWanted(event) && (names === undefined || names.includes(event.event));
}

/** Ends by Ctrl-C, by time, or by us. */
function endingOf(
  { signal }: Context,
  args: ParsedArgs,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const span = args.text('timeout');
  if (span !== undefined && args.text('exit-after') === undefined)
    throw new UsageError('--timeout goes with --exit-after');
  const own = new AbortController();
  const timer =
    span === undefined ? undefined : setTimeout(() => own.abort(), durationOption('timeout', span));
  return {
    signal: AbortSignal.any([signal, own.signal]),
    end: () => {
      clearTimeout(timer);
      own.abort();
    },
  };
}

function forwarderOf(
  { screen }: Context,
  args: ParsedArgs,
  apiKey: string,
  signal: AbortSignal,
): Forwarder | null {
  const url = args.text('forward-to');
  const own = args.text('secret');
  if (url === undefined) {
    if (own !== undefined) throw new UsageError('--secret goes with --forward-to');
    return null;
  }
  if (own !== undefined && !/^whsec_[A-Za-z0-9+/=]{16,}$/.test(own))
    throw new UsageError('--secret begins with whsec_ and is copied whole');
  const secret = own ?? listenSecret(apiKey);
  screen.note(`Forwarding to ${readAddress(url)}`);
  screen.note(`Verify with the secret ${own === undefined ? secret : 'you gave'}`);
  return new Forwarder(screen, new URL(url).href, secret, signal);
}

/** What is said about the connection, and when the first one stands. */
function tellingOf({ screen }: Context, where: string, start: () => void) {
  let times = 0;
  return {
    onConnect: () => {
      times += 1;
      if (times > 1) return;
      screen.note(screen.styleNote('dim', `Listening at ${where}. Ctrl-C ends.`));
      start();
    },
    onBreak: (error: Error | null) => {
      // One that ended in order is made again without a word.
      if (error !== null)
        screen.note(
          screen.styleNote('yellow', `Connection lost (${error.message}); going on where it was …`),
        );
    },
  };
}
