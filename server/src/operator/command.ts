import type { ActionCode } from '../audit/operator-action.ts';
import { compose } from '../compose.ts';
import { authorFromSettings, readConfig } from '../config.ts';
import { ConnectionLost } from '../db/failures.ts';
import { findDatabaseProblems } from '../db/startup-checks.ts';
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
import { commandHelp, commandsInGroup, groupHelp, overallHelp } from './help.ts';
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

/** The audit action of each command that makes a change. A Record, so that a missing command is a compile error. */
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
/** A command that prints more than once, or must work without a database. */
type RunStandalone = (options: Options, print: (output: Output) => void) => Promise<Output>;

/** Commands that work without a database, because they may diagnose it. */
const STANDALONE = { doctor, 'config check': configCheck } as const satisfies Partial<
  Record<CommandName, RunStandalone>
>;

const RUNS: Readonly<Record<Exclude<CommandName, ServerRoleName | keyof typeof STANDALONE>, Run>> = {
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

/** @returns the exit code: 0 success, 1 failure, 2 usage error */
export async function operatorCommand(argv: readonly string[]): Promise<number> {
  const help = findHelp(argv);
  if (help !== null) {
    console.log(help.trimEnd());
    return 0;
  }
  let command: (typeof OPERATOR_COMMANDS)[number] | undefined;
  try {
    command = findCommand(argv);
    const options = new Options(argv.slice(command.name.split(' ').length), command, authorFromSettings());
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
    console.error(`caudal: ${text}${hint(error, command?.name)}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function hint(error: unknown, command: string | undefined): string {
  if (error instanceof UsageError) return `. Try: caudal help${command === undefined ? '' : ` ${command}`}`;
  return error instanceof ConnectionLost ? '. Try: caudal doctor, to diagnose the cause' : '';
}

/** The help for `help …`, `--help`, no arguments, or a group name alone; null when a command should run. */
function findHelp(argv: readonly string[]): string | null {
  const [first, second] = argv;
  if (first === undefined) return overallHelp();
  const isHelp = first === 'help' || first === '--help' || first === '-h';
  const args = isHelp ? argv.slice(1) : argv;
  if (isHelp && args.length === 0) return overallHelp();
  const group = args[0] ?? '';
  if (args.length === 1 || (!isHelp && /^(?:-h|--help)$/.test(second ?? ''))) {
    const text = groupHelp(group);
    if (text !== null) return text;
  }
  const command = isHelp ? OPERATOR_COMMANDS.find(({ name }) => name === args.join(' ')) : undefined;
  return command ? commandHelp(command) : null;
}

/** @throws UsageError when there is no such command */
function findCommand(argv: readonly string[]): (typeof OPERATOR_COMMANDS)[number] {
  const [first = '', second = ''] = argv[0] === 'help' ? argv.slice(1) : argv;
  const pair = `${first} ${second}`;
  const command = OPERATOR_COMMANDS.find(({ name }) => name === pair || name === first);
  if (command && command.group === 'operator' && argv[0] !== 'help') return command;
  const siblings = commandsInGroup(first).map(({ name }) => name);
  const typed = /^-|^$/.test(second) ? first : pair;
  const nearest = nearestName(
    typed,
    OPERATOR_COMMANDS.map(({ name }) => name),
  );
  const suggestion = nearest === null ? siblings.join(', ') : `did you mean "${nearest}"?`;
  throw new UsageError(`there is no command "${typed}"${suggestion === '' ? '' : ` (${suggestion})`}`);
}

function run(name: CommandName, options: Options, print: (output: Output) => void): Promise<Output> {
  if (name in STANDALONE) return STANDALONE[name as keyof typeof STANDALONE](options, print);
  return withDatabase(RUNS[name as keyof typeof RUNS], options);
}

async function withDatabase(work: Run, options: Options): Promise<Output> {
  const config = readConfig('operator');
  const log = makeLog({ level: 'error', base: { role: 'operator' } });
  const { deps, heartbeat, close } = compose(config, log);
  try {
    const problems = await findDatabaseProblems(deps.system, config, [config.database.systemUrl]);
    if (problems.length > 0) throw new Error(problems.join('; '));
    await heartbeat.start();
    // A command that is not described as a change gets a read-only database: its change would leave no audit row.
    return await work(options.changes ? deps : { ...deps, system: readOnly(deps.system) }, options);
  } finally {
    await heartbeat.stop();
    await close();
  }
}
