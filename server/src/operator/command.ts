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
import { backupCheck } from './backup.ts';
import { parseCommandLine } from './command-line.ts';
import { commandSecrets } from './command-secrets.ts';
import type { AuditedCommandName, CommandName, ServerRoleName } from './commands.ts';
import { configCheck } from './config-check.ts';
import { doctor } from './doctor.ts';
import { failpointsList } from './failpoints.ts';
import { keysActivity } from './key-activity.ts';
import { keysUpdate } from './key-restrictions.ts';
import { keysCreate, keysList, keysRevoke } from './keys.ts';
import { ledgerDeposit, ledgerVerify } from './ledger.ts';
import { ledgerReverse } from './ledger-reverse.ts';
import { monthsDetach } from './months.ts';
import { noticesUnreadable } from './notices.ts';
import { Options, type Output, UsageError } from './options.ts';
import { orgCreate, orgLimits, orgList } from './organizations.ts';
import { payinsEnd, payinsFind, payinsShow } from './payins.ts';
import { orgPayoutLimits } from './payout-limits.ts';
import { payoutsResolve, payoutsShow, payoutsUnknown } from './payouts.ts';
import { peopleErase, peopleExport, peopleFind } from './people.ts';
import { peopleHold, peopleHolds, peopleRelease } from './people-holds.ts';
import { railsList, railsPause, railsResume } from './rails.ts';
import { receiptsKeys } from './receipts.ts';
import { railsPauseAfterRestore, railsReconcileAfterRestore } from './restore.ts';
import { restoredOrdersList, restoredOrdersResolve } from './restored.ts';
import { retentionList } from './retention.ts';
import { schedulesList, schedulesRun } from './schedules.ts';
import { secretsRewrap, secretsRotateDataKeys, secretsStatus } from './secrets.ts';
import { orgResume, orgShow, orgSuspend } from './suspension.ts';
import { orgUpdate } from './update-organization.ts';

/** The audit action of each command that makes a change. A Record, so that a missing command is a compile error. */
export const ACTIONS: Readonly<Record<AuditedCommandName, ActionCode>> = {
  migrate: 'migrate',
  'org create': 'org.create',
  'org limits': 'org.limits',
  'org payout-limits': 'org.payout-limits',
  'org update': 'org.update',
  'org suspend': 'org.suspend',
  'org resume': 'org.resume',
  'keys create': 'keys.create',
  'keys update': 'keys.update',
  'keys revoke': 'keys.revoke',
  'ledger deposit': 'ledger.deposit',
  'ledger reverse': 'ledger.reverse',
  'anomalies resolve': 'anomalies.resolve',
  'payins end': 'payins.end',
  'payouts resolve': 'payouts.resolve',
  'rails pause': 'rails.pause',
  'rails resume': 'rails.resume',
  'rails pause-after-restore': 'rails.pause-after-restore',
  'rails reconcile-after-restore': 'rails.reconcile-after-restore',
  'restored resolve': 'restored.resolve',
  'backup check': 'backup.check',
  'schedules run': 'schedules.run',
  'months detach': 'months.detach',
  'secrets rewrap': 'secrets.rewrap',
  'secrets rotate-data-keys': 'secrets.rotate',
  'people find': 'people.find',
  'people export': 'people.export',
  'people hold': 'people.hold',
  'people release': 'people.release',
  'people erase': 'people.erase',
};

type Run = (deps: SystemDeps, options: Options) => Promise<Output>;
/** A command that prints more than once, or must work without a database. */
type RunStandalone = (options: Options, print: (output: Output) => void) => Promise<Output>;

/** Commands that work without a database, because they may diagnose it. */
const STANDALONE = {
  doctor,
  'config check': configCheck,
  'receipts keys': receiptsKeys,
} as const satisfies Partial<Record<CommandName, RunStandalone>>;

const RUNS: Readonly<Record<Exclude<CommandName, ServerRoleName | keyof typeof STANDALONE>, Run>> = {
  'org create': orgCreate,
  'org list': orgList,
  'org limits': orgLimits,
  'org payout-limits': orgPayoutLimits,
  'org update': orgUpdate,
  'org show': orgShow,
  'org suspend': orgSuspend,
  'org resume': orgResume,
  'keys create': keysCreate,
  'keys list': keysList,
  'keys update': keysUpdate,
  'keys activity': keysActivity,
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
  'rails pause-after-restore': railsPauseAfterRestore,
  'rails reconcile-after-restore': railsReconcileAfterRestore,
  'restored list': restoredOrdersList,
  'restored resolve': restoredOrdersResolve,
  'backup check': backupCheck,
  'schedules list': schedulesList,
  'schedules run': schedulesRun,
  'months detach': monthsDetach,
  'secrets rewrap': secretsRewrap,
  'secrets rotate-data-keys': secretsRotateDataKeys,
  'secrets status': secretsStatus,
  'people find': peopleFind,
  'people export': peopleExport,
  'people hold': peopleHold,
  'people release': peopleRelease,
  'people holds': peopleHolds,
  'people erase': peopleErase,
  'retention list': retentionList,
  'failpoints list': failpointsList,
};

/** @returns the exit code: 0 success, 1 failure, 2 usage error */
export async function operatorCommand(argv: readonly string[]): Promise<number> {
  let running = '';
  try {
    const parsed = parseCommandLine(argv, authorFromSettings());
    if (parsed.kind === 'help') {
      console.log(parsed.text);
      return 0;
    }
    running = parsed.command.name;
    const options = new Options(parsed.command, parsed.values, parsed.args);
    const print = (output: Output) => console.log(options.json ? JSON.stringify(output.json) : output.text);
    const output = await run(parsed.command.name, options, print);
    print(output);
    return output.bad ? 1 : 0;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    console.error(`caudal: ${text}${hint(error, running)}`);
    return error instanceof UsageError ? 2 : 1;
  }
}

function hint(error: unknown, running: string): string {
  if (error instanceof UsageError) return `. Try: caudal help ${error.command || running}`.trimEnd();
  return error instanceof ConnectionLost ? '. Try: caudal doctor, to diagnose the cause' : '';
}

function run(name: CommandName, options: Options, print: (output: Output) => void): Promise<Output> {
  if (name in STANDALONE) return STANDALONE[name as keyof typeof STANDALONE](options, print);
  return withDatabase(name, RUNS[name as keyof typeof RUNS], options);
}

async function withDatabase(name: CommandName, work: Run, options: Options): Promise<Output> {
  const config = readConfig('operator', undefined, commandSecrets(name, options.changes));
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
