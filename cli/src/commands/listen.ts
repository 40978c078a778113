import { listenSecret, maskApiKey } from '../connection/api-key.ts';
import { createClient, parseUrl, resolveConnection } from '../connection/connection.ts';
import { eventLine } from '../events/event-line.ts';
import { Forwarder } from '../events/forward.ts';
import { type StreamStart, startFrom, startFromNow } from '../events/stream-start.ts';
import type { Command, Context } from '../framework/command.ts';
import { CliError, UsageError } from '../framework/errors.ts';
import { EXIT, type ExitCode } from '../framework/exit-codes.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { parseDurationOption } from '../requests/time.ts';
import {
  rejectLiveKey,
  TRIGGERED_EVENTS,
  type TriggeredEvent,
  triggerEvent,
} from '../simulate/trigger-event.ts';
import { readEventNames } from './endpoints.ts';

export const LISTEN_COMMANDS: readonly Command[] = [
  {
    name: 'listen',
    section: 'events',
    summary: 'watch events live and forward them to a local URL',
    options: [
      {
        name: 'forward-to',
        value: 'URL',
        summary: 'POST each event to this URL, signed like a webhook, in order',
      },
      { name: 'events', value: 'EVENTS', summary: 'only these comma-separated event names' },
      {
        name: 'secret',
        value: 'SECRET',
        summary: 'signing secret, whsec_… (default: derived from the API key, always the same)',
      },
      {
        name: 'trigger',
        value: 'EVENT',
        summary: 'trigger this event once connected (staging)',
        choices: TRIGGERED_EVENTS,
      },
      { name: 'since', value: 'WHEN', summary: 'start earlier: 10m, 2h, a timestamp, or an event id' },
      { name: 'exit-after', value: 'N', summary: 'exit after N events' },
      {
        name: 'timeout',
        value: 'SPAN',
        summary: 'with --exit-after: exit 1 if they have not arrived in this time',
      },
    ],
    args: [],
    details:
      'Needs no webhook endpoint and no public URL. A lost connection is resumed without missing or repeating events. Ctrl-C ends it.\n\nForwarded requests have the Standard Webhooks headers; verify them with the secret printed here.',
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
  const connection = resolveConnection(environment, args);
  const caudal = createClient(connection);
  const wanted = readEventNames(args);
  const trigger = args.text('trigger') as TriggeredEvent | undefined;
  if (trigger !== undefined) rejectLiveKey(connection);
  const limit = args.integer('exit-after', 1, 1_000_000) ?? Number.POSITIVE_INFINITY;
  const stop = createStop(context, args);
  const forwarder = createForwarder(context, args, connection.apiKey, stop.signal);
  const since = args.text('since');
  const streamStart = await (since === undefined
    ? startFromNow(caudal, stop.signal)
    : startFrom(caudal, since, stop.signal)
  ).catch((error: unknown) => {
    // Ctrl-C or --timeout during this request ends the command as during the stream.
    if (stop.signal.aborted) return null;
    throw error;
  });
  if (streamStart === null) return exitCode(context, 0, limit);
  let failed: unknown = null;
  const triggerOnce = () => {
    if (trigger === undefined) return;
    triggerEvent(caudal, trigger, { signal: stop.signal, onProgress: (text) => screen.note(text) }).catch(
      (error: unknown) => {
        failed = error;
        stop.end();
      },
    );
  };
  const stream = caudal.events.stream({
    lastEventId: streamStart.lastEventId,
    signal: stop.signal,
    ...connectionCallbacks(context, `${connection.baseUrl} as ${maskApiKey(connection.apiKey)}`, triggerOnce),
  });
  let count = 0;
  for await (const event of stream) {
    if (!isWanted(streamStart, wanted, event)) continue;
    screen.stream(event, () => eventLine(screen, event));
    await forwarder?.enqueue(event);
    count += 1;
    if (count >= limit) break;
  }
  if (failed !== null) throw failed;
  await forwarder?.idle();
  stop.end();
  return exitCode(context, count, limit);
}

function exitCode({ signal }: Context, count: number, limit: number): ExitCode | undefined {
  if (signal.aborted) return EXIT.interrupted;
  if (count < limit) throw new CliError(`only ${count} of ${limit} events arrived in time`);
  return undefined;
}

type Event = Parameters<StreamStart['isWanted']>[0];

function isWanted(streamStart: StreamStart, names: readonly string[] | undefined, event: Event): boolean {
  return streamStart.isWanted(event) && (names === undefined || names.includes(event.event));
}

/** A signal that aborts on Ctrl-C, on --timeout, or by `end`. */
function createStop(
  { signal }: Context,
  args: ParsedArgs,
): { readonly signal: AbortSignal; readonly end: () => void } {
  const span = args.text('timeout');
  if (span !== undefined && args.text('exit-after') === undefined)
    throw new UsageError('--timeout needs --exit-after');
  const controller = new AbortController();
  const timer =
    span === undefined
      ? undefined
      : setTimeout(() => controller.abort(), parseDurationOption('timeout', span));
  return {
    signal: AbortSignal.any([signal, controller.signal]),
    end: () => {
      clearTimeout(timer);
      controller.abort();
    },
  };
}

function createForwarder(
  { screen }: Context,
  args: ParsedArgs,
  apiKey: string,
  signal: AbortSignal,
): Forwarder | null {
  const url = args.text('forward-to');
  const given = args.text('secret');
  if (url === undefined) {
    if (given !== undefined) throw new UsageError('--secret needs --forward-to');
    return null;
  }
  if (given !== undefined && !/^whsec_[A-Za-z0-9+/=]{16,}$/.test(given))
    throw new UsageError('--secret must be a complete whsec_… secret');
  const secret = given ?? listenSecret(apiKey);
  screen.note(`Forwarding to ${parseUrl(url)}`);
  screen.note(`Signing secret: ${given === undefined ? secret : 'as given'}`);
  return new Forwarder(screen, new URL(url).href, secret, signal);
}

/** Reports connects and disconnects, and calls `onFirstConnect` once. */
function connectionCallbacks({ screen }: Context, where: string, onFirstConnect: () => void) {
  let times = 0;
  return {
    onConnect: () => {
      times += 1;
      if (times > 1) return;
      screen.note(screen.styleNote('dim', `Listening at ${where}. Ctrl-C ends.`));
      onFirstConnect();
    },
    onBreak: (error: Error | null) => {
      // The server ends each stream regularly; such a reconnect is not reported.
      if (error !== null)
        screen.note(screen.styleNote('yellow', `Connection lost (${error.message}); resuming …`));
    },
  };
}
