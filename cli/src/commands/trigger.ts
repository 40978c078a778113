import { setTimeout as sleep } from 'node:timers/promises';
import { type Caudal, type CaudalEvent } from '@caudal/sdk';
import { createClient, resolveConnection } from '../connection/connection.ts';
import { eventLine } from '../events/event-line.ts';
import type { Command, Context } from '../framework/command.ts';
import { UnknownOutcomeError } from '../framework/errors.ts';
import { EXIT, type ExitCode } from '../framework/exit-codes.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { withProgress } from '../output/progress.ts';
import { AMOUNT_OPTIONS, readAmount } from '../requests/request-body.ts';
import { parseDurationOption } from '../requests/time.ts';
import {
  type CreatedResource,
  rejectLiveKey,
  TRIGGERED_EVENTS,
  type TriggeredEvent,
  triggerEvent,
} from '../simulate/trigger-event.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 250;

export const TRIGGER_COMMANDS: readonly Command[] = [
  {
    name: 'trigger',
    section: 'testing',
    summary: 'trigger a real event on a staging server and wait for it',
    options: [
      ...AMOUNT_OPTIONS,
      {
        name: 'rail',
        value: 'RAIL',
        summary: 'rail of payins and links (default: BRE_B)',
        choices: ['BRE_B', 'PSE'],
      },
      { name: 'no-wait', value: null, summary: 'do not wait for the event' },
      { name: 'timeout', value: 'SPAN', summary: 'how long to wait (default: 30s)' },
    ],
    args: [{ name: 'EVENT', summary: 'event to trigger', choices: TRIGGERED_EVENTS }],
    details:
      'The event is not faked: the command creates a payment with staging test values, or pays or closes a link through its page, and the server sends the event as usual. Rejected with a live key.',
    examples: ['caudal trigger payin.confirmed', 'caudal trigger paymentlink.completed --rail PSE'],
    run: trigger,
  },
];

async function trigger(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, environment, signal } = context;
  const connection = resolveConnection(environment, args);
  rejectLiveKey(connection);
  const caudal = createClient(connection);
  const name = args.positional(0) as TriggeredEvent;
  const created = await triggerEvent(caudal, name, {
    signal,
    onProgress: (text) => screen.note(text),
    amountInCents: readAmount(args),
    rail: args.text('rail') as 'BRE_B' | 'PSE' | undefined,
  });
  if (args.flag('no-wait')) {
    screen.result(created, () => created.id);
    return undefined;
  }
  const event = await withProgress(screen, `Waiting for ${name}`, () =>
    waitForEvent(context, args, caudal, created),
  );
  screen.result(
    event,
    () => `${eventLine(screen, event)}\n${screen.style('dim', `caudal events get ${event.id}`)}`,
  );
  if (event.event === name) return undefined;
  screen.note(`Expected ${name}, received ${event.event}.`);
  return EXIT.failed;
}

/** Polls for the event that reports the outcome of the resource. */
async function waitForEvent(
  { signal }: Context,
  args: ParsedArgs,
  caudal: Caudal,
  created: CreatedResource,
): Promise<CaudalEvent> {
  const span = args.text('timeout');
  const deadline =
    performance.now() + (span === undefined ? DEFAULT_TIMEOUT_MS : parseDurationOption('timeout', span));
  for (;;) {
    const { data } = await caudal.events.list({ resourceId: created.id, pageSize: 1 }, { signal });
    const [event] = data;
    if (event) return event;
    if (performance.now() > deadline)
      throw new UnknownOutcomeError(`no event for ${created.reference} yet`, [
        'Check that the server is connected to a simulator and that a worker runs.',
        `Check later: caudal events list --of ${created.id}`,
      ]);
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
}
