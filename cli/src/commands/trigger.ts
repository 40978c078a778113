import { setTimeout as sleep } from 'node:timers/promises';
import type { Caudal, CaudalEvent } from '@caudal/sdk';
import type { Command, Context } from '../command.ts';
import { clientOf, connectionOf } from '../connection.ts';
import { UnknownOutcome } from '../errors.ts';
import { eventLine } from '../event-line.ts';
import { EVENT_NAMES, type EventName } from '../event-names.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { withProgress } from '../progress.ts';
import { AMOUNT_OPTIONS, readAmount } from '../request-body.ts';
import { durationOption } from '../time.ts';
import { type Made, refuseLive, triggerEvent } from '../trigger-event.ts';

const USUAL_MS = 30_000;
const LOOK_EVERY_MS = 250;

export const TRIGGER_COMMANDS: readonly Command[] = [
  {
    name: 'trigger',
    section: 'testing',
    summary: 'make an event really happen on a staging server, and wait for it',
    options: [
      ...AMOUNT_OPTIONS,
      {
        name: 'rail',
        value: 'RAIL',
        summary: 'for payins and links; BRE_B when left out',
        choices: ['BRE_B', 'PSE'],
      },
      { name: 'no-wait', value: null, summary: 'do not wait for the event' },
      { name: 'timeout', value: 'SPAN', summary: 'how long to wait; 30s when left out' },
    ],
    words: [{ name: 'EVENT', summary: 'which', choices: EVENT_NAMES }],
    details:
      'Nothing is made up: a payment is created whose payer or receiver decides so (by the test values of staging), a link is paid through its own page, or closed early; and the server tells of it as of any other. Refused with a live key.',
    examples: ['caudal trigger payin.confirmed', 'caudal trigger paymentlink.completed --rail PSE'],
    run: trigger,
  },
];

async function trigger(context: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const { screen, environment, signal } = context;
  const connection = connectionOf(environment, args);
  refuseLive(connection);
  const caudal = clientOf(connection);
  const name = args.word(0) as EventName;
  const made = await triggerEvent(caudal, name, {
    signal,
    say: (text) => screen.note(text),
    amountInCents: readAmount(args),
    rail: args.text('rail') as 'BRE_B' | 'PSE' | undefined,
  });
  if (args.flag('no-wait')) {
    screen.answer(made, () => made.id);
    return undefined;
  }
  const event = await withProgress(screen, `Waiting for ${name}`, () =>
    comingOf(context, args, caudal, made),
  );
  screen.answer(
    event,
    () => `${eventLine(screen, event)}\n${screen.style('dim', `caudal events get ${event.id}`)}`,
  );
  if (event.event === name) return undefined;
  screen.note(`That is another event than ${name}.`);
  return EXIT.failed;
}

/** The one event that tells how it ended. */
async function comingOf(
  { signal }: Context,
  args: ParsedArgs,
  caudal: Caudal,
  made: Made,
): Promise<CaudalEvent> {
  const span = args.text('timeout');
  const deadline = performance.now() + (span === undefined ? USUAL_MS : durationOption('timeout', span));
  for (;;) {
    const { data } = await caudal.events.list({ resourceId: made.id, pageSize: 1 }, { signal });
    const [event] = data;
    if (event) return event;
    if (performance.now() > deadline)
      throw new UnknownOutcome(`nothing was heard of ${made.reference} yet`, [
        'Does a simulator play the rails of this server, and does a worker run?',
        `Look again: caudal events list --of ${made.id}`,
      ]);
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}
