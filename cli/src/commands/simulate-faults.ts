import type { Command, Context } from '../command.ts';
import { UsageError } from '../errors.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { SIMULATOR_OPTION, simulatorOf } from '../simulator.ts';

/** What can go wrong, in words of ours, and what the simulator calls it. */
const FAULTS = {
  down: 'down',
  slow: 'slow',
  hang: 'hang',
  reset: 'reset',
  'lost-answer': 'lost-answer',
  'lost-notice': 'lost-notice',
  'repeated-notice': 'duplicate',
  'notices-out-of-order': 'reorder',
} as const;

const OF_NOTICES: readonly string[] = ['lost-notice', 'repeated-notice', 'notices-out-of-order'];

/** What is struck, and the calls it means on each rail. */
const TARGETS: Readonly<Record<string, Partial<Record<string, string>>>> = {
  everything: { BRE_B: '*', PSE: '*' },
  payins: { BRE_B: 'register', PSE: 'create' },
  payouts: { BRE_B: 'order' },
  lookups: { BRE_B: 'resolve' },
  questions: { BRE_B: 'query', PSE: 'query' },
  notices: { BRE_B: 'notice', PSE: 'notice' },
};

interface SimulatorFault {
  readonly id: string;
  readonly rail: string;
  readonly operation: string;
  readonly fault: string;
  readonly ms: number;
  readonly times: number | null;
  readonly applied: number;
}

export const FAULT_COMMANDS: readonly Command[] = [
  {
    name: 'simulate fault',
    section: 'testing',
    summary: 'have a rail misbehave',
    options: [
      {
        name: 'on',
        value: 'WHAT',
        summary: 'only that; everything when left out',
        choices: Object.keys(TARGETS),
      },
      { name: 'times', value: 'N', summary: 'so many times, then no more; until cleared when left out' },
      { name: 'ms', value: 'N', summary: 'how late slow answers are; 4000 when left out' },
      SIMULATOR_OPTION,
    ],
    words: [
      { name: 'RAIL', summary: 'which', choices: ['BRE_B', 'PSE'] },
      { name: 'FAULT', summary: 'what goes wrong', choices: Object.keys(FAULTS) },
    ],
    details:
      'down refuses, slow answers late, hang never answers, reset breaks off, lost-answer does the work and says nothing. The other three strike the messages by which a rail tells of payments.',
    examples: [
      'caudal simulate fault BRE_B lost-answer --on payouts --times 1',
      'caudal simulate fault PSE down',
    ],
    run: add,
  },
  {
    name: 'simulate faults',
    section: 'testing',
    summary: 'how the rails misbehave now',
    options: [SIMULATOR_OPTION],
    words: [],
    examples: ['caudal simulate faults'],
    run: list,
  },
  {
    name: 'simulate clear',
    section: 'testing',
    summary: 'end one fault, or all',
    options: [SIMULATOR_OPTION],
    words: [{ name: 'ID', summary: 'of one fault', optional: true }],
    examples: ['caudal simulate clear'],
    run: clear,
  },
  {
    name: 'simulate key',
    section: 'testing',
    summary: 'put a Bre-B key into the directory, change its holder, suspend or remove it',
    options: [
      { name: 'name', value: 'NAME', summary: "the holder's name" },
      { name: 'id-number', value: 'NUMBER', summary: "the holder's document" },
      { name: 'suspend', value: null, summary: 'its holder suspends it' },
      { name: 'activate', value: null, summary: 'it works again' },
      { name: 'remove', value: null, summary: 'it exists no more' },
      SIMULATOR_OPTION,
    ],
    words: [{ name: 'KEY', summary: 'a mobile number, e-mail address, document or @ with letters' }],
    details: 'Lookups and payouts find it from then on.',
    examples: ["caudal simulate key 3001234567 --name 'ANA MARIA ROJAS' --id-number 1020304050"],
    run: setKey,
  },
];

async function add(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const [rail, word] = [args.word(0), args.word(1) as keyof typeof FAULTS];
  const wish = args.text('on') ?? (OF_NOTICES.includes(word) ? 'notices' : 'everything');
  const operation = TARGETS[wish]?.[rail];
  if (operation === undefined) throw new UsageError(`there are no ${wish} on ${rail}`);
  if (OF_NOTICES.includes(word) && wish !== 'notices') throw new UsageError(`${word} strikes notices alone`);
  const ms = args.whole('ms', 0, 3_600_000);
  if (ms !== undefined && word !== 'slow') throw new UsageError('--ms goes with slow');
  const times = args.whole('times', 1, 1_000_000);
  const { id } = await simulatorOf(context.environment, args, context.signal).post<{ id: string }>(
    '/faults',
    {
      rail,
      operation,
      fault: FAULTS[word],
      ...(ms === undefined ? {} : { ms }),
      ...(times === undefined ? {} : { times }),
    },
  );
  const until =
    times === undefined ? `until: caudal simulate clear ${id}` : times === 1 ? 'once' : `${times} times`;
  screen.answer(
    { id, rail, on: wish, fault: word, times: times ?? null },
    () => `${rail}: ${word} on ${wish}, ${until}`,
  );
  return undefined;
}

async function list(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const simulator = simulatorOf(context.environment, args, context.signal);
  const { faults } = (await simulator.find<{ faults: SimulatorFault[] }>('/faults')) ?? { faults: [] };
  const rows = faults.map((fault) => ({ ...fault, ...inOurWords(fault) }));
  screen.answer({ data: rows }, () =>
    screen.table(
      [
        { title: 'ID', text: ({ id }) => id },
        { title: 'RAIL', text: ({ rail }) => rail },
        { title: 'FAULT', text: ({ fault }) => fault },
        { title: 'ON', text: ({ on }) => on },
        { title: 'LEFT', text: ({ times }) => (times === null ? 'always' : String(times)), align: 'right' },
        { title: 'STRUCK', text: ({ applied }) => String(applied), align: 'right', spare: 1 },
      ],
      rows,
      'The rails behave.',
    ),
  );
  return undefined;
}

function inOurWords({ rail, operation, fault }: SimulatorFault): { on: string; fault: string } {
  const on = Object.entries(TARGETS).find(([, calls]) => calls[rail] === operation)?.[0] ?? operation;
  const word = Object.entries(FAULTS).find(([, name]) => name === fault)?.[0] ?? fault;
  return { on, fault: word };
}

async function clear(context: Context, args: ParsedArgs): Promise<undefined> {
  const id = args.words[0];
  const path = id === undefined ? '/faults' : `/faults/${encodeURIComponent(id)}`;
  const { removed } = await simulatorOf(context.environment, args, context.signal).remove<{
    removed: number;
  }>(path);
  context.screen.answer({ removed }, () => `Ended ${removed} ${removed === 1 ? 'fault' : 'faults'}.`);
  return undefined;
}

async function setKey(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const [suspend, activate, remove] = [args.flag('suspend'), args.flag('activate'), args.flag('remove')];
  if ([suspend, activate, remove].filter(Boolean).length > 1)
    throw new UsageError('--suspend, --activate and --remove exclude each other');
  const [name, number] = [args.text('name'), args.text('id-number')];
  if ((name === undefined) !== (number === undefined))
    throw new UsageError('a holder has --name and --id-number');
  const person =
    name === undefined || number === undefined
      ? undefined
      : { type: 'N', documentType: 'CC', documentNumber: number, names: name.toUpperCase() };
  const listing = await simulatorOf(context.environment, args, context.signal).post<{
    key: string;
    status: string | null;
    holder: { person: { names: string } } | null;
  }>('/directory', {
    key: args.word(0),
    ...(remove ? { holder: null } : person ? { holder: { person } } : {}),
    ...(suspend ? { status: 'SUSPENDED_BY_CLIENT' } : activate ? { status: 'ACTIVE' } : {}),
  });
  screen.answer(listing, () =>
    listing.holder === null
      ? `${listing.key} exists no more.`
      : `${listing.key} is ${listing.status}, held by ${listing.holder.person.names}`,
  );
  return undefined;
}
