import { compose } from '../compose.ts';
import { readConfig } from '../config.ts';
import { databaseFaults } from '../db/startup-checks.ts';
import type { SystemDeps } from '../deps.ts';
import { makeLog } from '../kit/log.ts';
import { anomaliesList, anomaliesResolve } from './anomalies.ts';
import { auditList } from './audit.ts';
import { failpointsList } from './failpoints.ts';
import { keysCreate, keysList, keysRevoke } from './keys.ts';
import { ledgerDeposit, ledgerVerify } from './ledger.ts';
import { noticesUnreadable } from './notices.ts';
import { Options, type Output, UsageError } from './options.ts';
import { orgCreate, orgList, secretsRewrap } from './organizations.ts';
import { payoutsResolve, payoutsShow, payoutsUnknown } from './payouts.ts';
import { railsList, railsPause, railsResume } from './rails.ts';
import { schedulesList, schedulesRun } from './schedules.ts';

export const HELP = `caudal: payins, payouts and payment links on Bre-B and PSE

Roles of the server (configured by the environment, see docs/reference/configuration.md)
  api                 answer merchants
  worker              do the work that is due
  all                 both in one process
  migrate             bring the database to this version

Commands for operators
  org create --name NAME --support CONTACT [--accent '#0f766e'] [--rails BRE_B,PSE]
             [--city BOGOTA] [--postal-code 110111] [--category 5999]
                      create an organization and print its first API key, once
  org list            the organizations
  keys create --org ID --name NAME [--scopes payins:read,payins:write] [--days N]
                      create a further key and print it, once
  keys list --org ID  the keys of an organization: never their secrets
  keys revoke KEY_ID  end a key and every token made from it, within a second
  ledger deposit --org ID --amount PESOS --reference TEXT
                      book money that an organization paid in; the same reference is booked once
  ledger verify       recompute every balance and name each row that does not add up
  anomalies list [--all]
                      what rails said that fits no payin or payout, and the money it holds in suspense; oldest first
  anomalies resolve ID --credit [--org ID] --by NAME [--note TEXT]
                      give that money to the merchant (--org where it belongs to no payin)
  anomalies resolve ID --return --key BREB_KEY [--name HOLDER | --yes] --by NAME [--note TEXT]
                      send that money back, by a payout out of suspense; whose key it is is shown first and
                      compared with --name; declined, the anomaly is open again
  anomalies resolve ID --charge [--org ID] | --write-off --by NAME [--note TEXT]
                      for money that left (below zero): take it from the merchant, or bear it
  anomalies resolve ID --dismiss --by NAME [--note TEXT]
                      put away one that came without money
  payouts unknown     payouts sent more than a minute ago whose outcome the rail has not told; oldest first
  payouts show ID     a payout and every time it was sent
  payouts resolve ID --confirm | --decline [--error-code CODE] [--anyway] --by NAME --note TEXT
                      end one by what you know from elsewhere; the rail is asked once more first, and one that it
                      says to be at is declined only with --anyway
  audit list          what operators decided about money, newest first
  notices unreadable  messages of rails that nobody understood, as they came
  rails pause --rail BRE_B|PSE [--org ID] --reason TEXT --by NAME
                      take no payins on a rail and send it no new orders, for one organization or for all;
                      payouts are taken and wait; what was accepted within the last second may still be sent
  rails resume --rail BRE_B|PSE [--org ID]
                      go on, with what waited first
  rails list          what is paused, since when, by whom and why
  schedules list      what runs by the clock, and when it was last done
  schedules run NAME  run it now, in this process
  secrets rewrap      after CAUDAL_MASTER_KEY has changed: wrap every data key by the new one
  failpoints list     for tests: where CAUDAL_FAILPOINT can have a process die
  help                this text

Every command takes --json to print one JSON document for programs.
Exit codes: 0 done, 1 failed, 2 not understood.
`;

interface Command {
  /** Options that take a value. */
  readonly options: readonly string[];
  /** Options that take none. */
  readonly flags?: readonly string[];
  readonly words: number;
  readonly run: (deps: SystemDeps, options: Options) => Promise<Output>;
}

const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries<Command>({
    'org create': {
      options: ['name', 'support', 'accent', 'rails', 'city', 'postal-code', 'category'],
      words: 0,
      run: orgCreate,
    },
    'org list': { options: [], words: 0, run: orgList },
    'keys create': { options: ['org', 'name', 'scopes', 'days'], words: 0, run: keysCreate },
    'keys list': { options: ['org'], words: 0, run: keysList },
    'keys revoke': { options: [], words: 1, run: keysRevoke },
    'ledger deposit': { options: ['org', 'amount', 'reference'], words: 0, run: ledgerDeposit },
    'ledger verify': { options: [], words: 0, run: ledgerVerify },
    'anomalies list': { options: [], flags: ['all'], words: 0, run: anomaliesList },
    'anomalies resolve': {
      options: ['org', 'key', 'name', 'by', 'note'],
      flags: ['credit', 'return', 'yes', 'charge', 'write-off', 'dismiss'],
      words: 1,
      run: anomaliesResolve,
    },
    'payouts unknown': { options: [], words: 0, run: payoutsUnknown },
    'payouts show': { options: [], words: 1, run: payoutsShow },
    'payouts resolve': {
      options: ['error-code', 'by', 'note'],
      flags: ['confirm', 'decline', 'anyway'],
      words: 1,
      run: payoutsResolve,
    },
    'audit list': { options: [], words: 0, run: auditList },
    'notices unreadable': { options: [], words: 0, run: noticesUnreadable },
    'rails pause': { options: ['rail', 'org', 'reason', 'by'], words: 0, run: railsPause },
    'rails resume': { options: ['rail', 'org'], words: 0, run: railsResume },
    'rails list': { options: [], words: 0, run: railsList },
    'schedules list': { options: [], words: 0, run: schedulesList },
    'schedules run': { options: [], words: 1, run: schedulesRun },
    'failpoints list': { options: [], words: 0, run: failpointsList },
    'secrets rewrap': { options: [], words: 0, run: secretsRewrap },
  }),
);

/** @returns the exit code: 0 done, 1 failed, 2 not understood */
export async function operatorCommand(argv: readonly string[]): Promise<number> {
  const name = argv.slice(0, 2).join(' ');
  try {
    const command = COMMANDS.get(name);
    if (!command) throw new UsageError(`there is no command "${name}"`);
    const options = new Options(argv.slice(2), command.options, command.words, command.flags);
    const output = await run(command, options);
    console.log(options.json ? JSON.stringify(output.json) : output.text);
    return output.bad ? 1 : 0;
  } catch (error) {
    const usage = error instanceof UsageError;
    const text = error instanceof Error ? error.message : String(error);
    console.error(`caudal: ${text}${usage ? '. Try: caudal help' : ''}`);
    return usage ? 2 : 1;
  }
}

async function run(command: Command, options: Options): Promise<Output> {
  const config = readConfig('operator');
  const log = makeLog({ level: 'error', base: { role: 'operator' } });
  const { deps, heartbeat, close } = compose(config, log);
  try {
    const faults = await databaseFaults(deps.system, config);
    if (faults.length > 0) throw new Error(faults.join('; '));
    await heartbeat.start();
    return await command.run(deps, options);
  } finally {
    await heartbeat.stop();
    await close();
  }
}
