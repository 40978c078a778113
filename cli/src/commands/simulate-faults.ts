import type { Command, Context } from '../framework/command.ts';
import { UsageError } from '../framework/errors.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { resolveSimulator, SIMULATOR_OPTION } from '../simulate/simulator.ts';

/** Fault names of the CLI, and their names in the simulator. */
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

const NOTICE_FAULTS: readonly string[] = ['lost-notice', 'repeated-notice', 'notices-out-of-order'];

/** Fault targets, and the operation each means on a rail. */
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
    summary: 'inject a fault into a rail',
    options: [
      {
        name: 'on',
        value: 'WHAT',
        summary: 'affected operations (default: everything)',
        choices: Object.keys(TARGETS),
      },
      { name: 'times', value: 'N', summary: 'number of times the fault applies (default: until cleared)' },
      { name: 'ms', value: 'N', summary: 'delay of slow responses in ms (default: 4000)' },
      SIMULATOR_OPTION,
    ],
    args: [
      { name: 'RAIL', summary: 'affected rail', choices: ['BRE_B', 'PSE'] },
      { name: 'FAULT', summary: 'kind of fault', choices: Object.keys(FAULTS) },
    ],
    details:
      'down refuses requests, slow responds late, hang never responds, reset closes the connection, lost-answer executes the request but sends no response. The other three affect the notifications of the rail.',
    examples: [
      'caudal simulate fault BRE_B lost-answer --on payouts --times 1',
      'caudal simulate fault PSE down',
    ],
    run: add,
  },
  {
    name: 'simulate faults',
    section: 'testing',
    summary: 'list active faults',
    options: [SIMULATOR_OPTION],
    args: [],
    examples: ['caudal simulate faults'],
    run: list,
  },
  {
    name: 'simulate clear',
    section: 'testing',
    summary: 'clear one fault, or all',
    options: [SIMULATOR_OPTION],
    args: [{ name: 'ID', summary: 'id of a fault', optional: true }],
    examples: ['caudal simulate clear'],
    run: clear,
  },
  {
    name: 'simulate key',
    section: 'testing',
    summary: 'add a Bre-B key to the directory, change its holder, suspend or remove it',
    options: [
      { name: 'name', value: 'NAME', summary: 'name of the holder' },
      { name: 'id-number', value: 'NUMBER', summary: 'document number of the holder' },
      { name: 'suspend', value: null, summary: 'suspend the key' },
      { name: 'activate', value: null, summary: 'reactivate the key' },
      { name: 'remove', value: null, summary: 'remove the key' },
      SIMULATOR_OPTION,
    ],
    args: [{ name: 'KEY', summary: 'mobile number, e-mail address, document number or @ALIAS' }],
    details: 'Lookups and payouts use the new entry at once.',
    examples: ["caudal simulate key 3001234567 --name 'ANA MARIA ROJAS' --id-number 1020304050"],
    run: setKey,
  },
];

async function add(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const [rail, faultName] = [args.positional(0), args.positional(1) as keyof typeof FAULTS];
  const target = args.text('on') ?? (NOTICE_FAULTS.includes(faultName) ? 'notices' : 'everything');
  const operation = TARGETS[target]?.[rail];
  if (operation === undefined) throw new UsageError(`${rail} has no ${target}`);
  if (NOTICE_FAULTS.includes(faultName) && target !== 'notices')
    throw new UsageError(`${faultName} applies only to notices`);
  const ms = args.integer('ms', 0, 3_600_000);
  if (ms !== undefined && faultName !== 'slow') throw new UsageError('--ms needs the fault slow');
  const times = args.integer('times', 1, 1_000_000);
  const { id } = await resolveSimulator(context.environment, args, context.signal).post<{ id: string }>(
    '/faults',
    {
      rail,
      operation,
      fault: FAULTS[faultName],
      ...(ms === undefined ? {} : { ms }),
      ...(times === undefined ? {} : { times }),
    },
  );
  const until =
    times === undefined
      ? `until cleared: caudal simulate clear ${id}`
      : times === 1
        ? 'once'
        : `${times} times`;
  screen.result(
    { id, rail, on: target, fault: faultName, times: times ?? null },
    () => `${rail}: ${faultName} on ${target}, ${until}`,
  );
  return undefined;
}

async function list(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const simulator = resolveSimulator(context.environment, args, context.signal);
  const { faults } = (await simulator.find<{ faults: SimulatorFault[] }>('/faults')) ?? { faults: [] };
  const rows = faults.map((fault) => ({ ...fault, ...toCliNames(fault) }));
  screen.result({ data: rows }, () =>
    screen.table(
      [
        { title: 'ID', text: ({ id }) => id },
        { title: 'RAIL', text: ({ rail }) => rail },
        { title: 'FAULT', text: ({ fault }) => fault },
        { title: 'ON', text: ({ on }) => on },
        { title: 'LEFT', text: ({ times }) => (times === null ? 'always' : String(times)), align: 'right' },
        { title: 'APPLIED', text: ({ applied }) => String(applied), align: 'right', dropOrder: 1 },
      ],
      rows,
      'No active faults.',
    ),
  );
  return undefined;
}

function toCliNames({ rail, operation, fault }: SimulatorFault): { on: string; fault: string } {
  const on = Object.entries(TARGETS).find(([, calls]) => calls[rail] === operation)?.[0] ?? operation;
  const faultName = Object.entries(FAULTS).find(([, name]) => name === fault)?.[0] ?? fault;
  return { on, fault: faultName };
}

async function clear(context: Context, args: ParsedArgs): Promise<undefined> {
  const id = args.positionals[0];
  const path = id === undefined ? '/faults' : `/faults/${encodeURIComponent(id)}`;
  const { removed } = await resolveSimulator(context.environment, args, context.signal).remove<{
    removed: number;
  }>(path);
  context.screen.result({ removed }, () => `Cleared ${removed} ${removed === 1 ? 'fault' : 'faults'}.`);
  return undefined;
}

async function setKey(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen } = context;
  const [suspend, activate, remove] = [args.flag('suspend'), args.flag('activate'), args.flag('remove')];
  if ([suspend, activate, remove].filter(Boolean).length > 1)
    throw new UsageError('use only one of --suspend, --activate and --remove');
  const [name, number] = [args.text('name'), args.text('id-number')];
  if ((name === undefined) !== (number === undefined))
    throw new UsageError('a holder needs both --name and --id-number');
  const person =
    name === undefined || number === undefined
      ? undefined
      : { type: 'N', documentType: 'CC', documentNumber: number, names: name.toUpperCase() };
  const listing = await resolveSimulator(context.environment, args, context.signal).post<{
    key: string;
    status: string | null;
    holder: { person: { names: string } } | null;
  }>('/directory', {
    key: args.positional(0),
    ...(remove ? { holder: null } : person ? { holder: { person } } : {}),
    ...(suspend ? { status: 'SUSPENDED_BY_CLIENT' } : activate ? { status: 'ACTIVE' } : {}),
  });
  screen.result(listing, () =>
    listing.holder === null
      ? `${listing.key} was removed.`
      : `${listing.key} is ${listing.status}, held by ${listing.holder.person.names}`,
  );
  return undefined;
}
