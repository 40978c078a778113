import type { ActionCode } from '../audit/operator-action.ts';
import { compose } from '../compose.ts';
import { givenAuthor, readConfig } from '../config.ts';
import { ConnectionLost } from '../db/failures.ts';
import { databaseFaults } from '../db/startup-checks.ts';
import { readOnly } from '../db/system.ts';
import type { SystemDeps } from '../deps.ts';
import { makeLog } from '../kit/log.ts';
import { anomaliesList, anomaliesResolve } from './anomalies.ts';
import { auditList } from './audit.ts';
import {
  type AuditedCommandName,
  type CommandName,
  OPERATOR_COMMANDS,
  type ServerRoleName,
} from './commands.ts';
import { configCheck } from './config-check.ts';
import { doctor } from './doctor.ts';
import { failpointsList } from './failpoints.ts';
import { commandHelp, commandsOf, groupHelp, overallHelp } from './help.ts';
import { keysCreate, keysList, keysRevoke } from './keys.ts';
import { ledgerDeposit, ledgerVerify } from './ledger.ts';
import { ledgerReverse } from './ledger-reverse.ts';
import { monthsDetach } from './months.ts';
import { nearestName } from './nearest-name.ts';
import { noticesUnreadable } from './notices.ts';
import { Options, type Output, UsageError } from './options.ts';
import { orgCreate, orgLimits, orgList, orgUpdate, secretsRewrap } from './organizations.ts';
import { payinsEnd, payinsFind, payinsShow } from './payins.ts';
import { payoutsResolve, payoutsShow, payoutsUnknown } from './payouts.ts';
import { railsList, railsPause, railsResume } from './rails.ts';
import { schedulesList, schedulesRun } from './schedules.ts';
import { orgResume, orgShow, orgSuspend } from './suspension.ts';

/** Each command that changes something, and the code of its audit rows: a command that is left out does not compile. */
export const ACTIONS: Readonly<Record<AuditedCommandName, ActionCode>> = {
  migrate: 'migrate',
  'org create': 'org.create',
  'org limits': 'org.limits',
  'org update': 'org.update',
  'org suspend': 'org.suspend',
  'org resume': 'org.resume',
  'keys create': 'keys.create',
  'keys revoke': 'keys.revoke',
  'ledger deposit': 'ledger.deposit',
  'ledger reverse': 'ledger.reverse',
  'anomalies resolve': 'anomalies.resolve',
  'payins end': 'payins.end',
  'payouts resolve': 'payouts.resolve',
  'rails pause': 'rails.pause',
  'rails resume': 'rails.resume',
  'schedules run': 'schedules.run',
  'months detach': 'months.detach',
  'secrets rewrap': 'secrets.rewrap',
};

type Run = (deps: SystemDeps, options: Options) => Promise<Output>;
/** Prints more than once, or must work where nothing else does. */
type RunAlone = (options: Options, print: (output: Output) => void) => Promise<Output>;

/** They work without a database: what is wrong with it may be the very question. */
const ALONE = { doctor, 'config check': configCheck } as const satisfies Partial<
  Record<CommandName, RunAlone>
>;

const RUNS: Readonly<Record<Exclude<CommandName, ServerRoleName | keyof typeof ALONE>, Run>> = {
  'org create': orgCreate,
  'org list': orgList,
  'org limits': orgLimits,
  'org update': orgUpdate,
  'org show': orgShow,
  'org suspend': orgSuspend,
  'org resume': orgResume,
  'keys create': keysCreate,
  'keys list': keysList,
  'keys revoke': keysRevoke,
  'ledger deposit': ledgerDeposit,
  'ledger reverse': ledgerReverse,
  'ledger verify': ledgerVerify,
  'anomalies list': anomaliesList,
  'anomalies resolve': anomaliesResolve,
  'payins find': payinsFind,
  'payins show': payinsShow,
  'payins end': payinsEnd,
  'payouts unknown': payoutsUnknown,
  'payouts show': payoutsShow,
  'payouts resolve': payoutsResolve,
  'audit list': auditList,
  'notices unreadable': noticesUnreadable,
  'rails pause': railsPause,
  'rails resume': railsResume,
  'rails list': railsList,
  'schedules list': schedulesList,
  'schedules run': schedulesRun,
  'months detach': monthsDetach,
  'secrets rewrap': secretsRewrap,
  'failpoints list': failpointsList,
};

/** @returns the exit code: 0 done, 1 failed, 2 not understood */
export async function operatorCommand(argv: readonly string[]): Promise<number> {
  const helped = helpFor(argv);
  if (helped !== null) {
    console.log(helped.trimEnd());
    return 0;
  }
  let command: (typeof OPERATOR_COMMANDS)[number] | undefined;
  try {
    command = commandOf(argv);
    const options = new Options(argv.slice(command.name.split(' ').length), command, givenAuthor());
    if (options.help) {
      console.log(commandHelp(command).trimEnd());
      return 0;
    }
    const print = (output: Output) => console.log(options.json ? JSON.stringify(output.json) : output.text);
    const output = await run(command.name, options, print);
    print(output);
    return output.bad ? 1 : 0;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    console.error(`caudal: ${text}${advice(error, command?.name)}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function advice(error: unknown, command: string | undefined): string {
  if (error instanceof UsageError) return `. Try: caudal help${command === undefined ? '' : ` ${command}`}`;
  return error instanceof ConnectionLost ? '. Try: caudal doctor, which looks for the cause' : '';
}

/** `help …`, `--help`, nothing at all, or the first word of a group alone; null when something is to be done. */
function helpFor(argv: readonly string[]): string | null {
  const [first, second] = argv;
  if (first === undefined) return overallHelp();
  const asked = first === 'help' || first === '--help' || first === '-h';
  const words = asked ? argv.slice(1) : argv;
  if (asked && words.length === 0) return overallHelp();
  const group = words[0] ?? '';
  if (words.length === 1 || (!asked && /^(?:-h|--help)$/.test(second ?? ''))) {
    const text = groupHelp(group);
    if (text !== null) return text;
  }
  const command = asked ? OPERATOR_COMMANDS.find(({ name }) => name === words.join(' ')) : undefined;
  return command ? commandHelp(command) : null;
}

/** @throws UsageError when there is none */
function commandOf(argv: readonly string[]): (typeof OPERATOR_COMMANDS)[number] {
  const words = argv[0] === 'help' ? argv.slice(1) : argv;
  const [one = '', two = ''] = words;
  const pair = `${one} ${two}`;
  const command = OPERATOR_COMMANDS.find(({ name }) => name === pair || name === one);
  if (command && command.group === 'operator' && argv[0] !== 'help') return command;
  const siblings = commandsOf(one).map(({ name }) => name);
  const typed = /^-|^$/.test(two) ? one : pair;
  const near = nearestName(
    typed,
    OPERATOR_COMMANDS.map(({ name }) => name),
  );
  const offer = near === null ? siblings.join(', ') : `did you mean "${near}"?`;
  throw new UsageError(`there is no command "${typed}"${offer === '' ? '' : ` (${offer})`}`);
}

function run(name: CommandName, options: Options, print: (output: Output) => void): Promise<Output> {
  if (name in ALONE) return ALONE[name as keyof typeof ALONE](options, print);
  return withDatabase(RUNS[name as keyof typeof RUNS], options);
}

async function withDatabase(work: Run, options: Options): Promise<Output> {
  const config = readConfig('operator');
  const log = makeLog({ level: 'error', base: { role: 'operator' } });
  const { deps, heartbeat, close } = compose(config, log);
  try {
    const faults = await databaseFaults(deps.system, config, [config.database.systemUrl]);
    if (faults.length > 0) throw new Error(faults.join('; '));
    await heartbeat.start();
    // What the catalogue does not list as a change cannot make one: it would leave no audit row.
    return await work(options.changes ? deps : { ...deps, system: readOnly(deps.system) }, options);
  } finally {
    await heartbeat.stop();
    await close();
  }
}
