import type { CommandDescription, OptionDescription } from '@caudal/command-tree';
import type { CatalogEntry } from './commands/description.ts';
import { DIAGNOSTIC_COMMANDS } from './commands/diagnostics.ts';
import { KEY_COMMANDS } from './commands/keys.ts';
import { LEDGER_COMMANDS } from './commands/ledger.ts';
import { OPERATION_COMMANDS } from './commands/operations.ts';
import { ORGANIZATION_COMMANDS } from './commands/organizations.ts';
import { PAYMENT_COMMANDS } from './commands/payments.ts';
import { PEOPLE_COMMANDS } from './commands/people.ts';
import { SECRET_COMMANDS } from './commands/secrets.ts';
import { SERVER_ROLES } from './commands/server-roles.ts';

// The catalog imports only types and itself, so that the merchants' command line shows it without loading the server.
const COMMANDS = [
  ...DIAGNOSTIC_COMMANDS,
  ...ORGANIZATION_COMMANDS,
  ...KEY_COMMANDS,
  ...LEDGER_COMMANDS,
  ...PAYMENT_COMMANDS,
  ...OPERATION_COMMANDS,
  ...SECRET_COMMANDS,
  ...PEOPLE_COMMANDS,
];

type Entry = (typeof SERVER_ROLES | typeof COMMANDS)[number];
/** All command names, so that a Record of commands without one of them is a compile error. */
export type CommandName = Entry['name'];
/** Commands that write audit rows. */
export type AuditedCommandName = Exclude<Entry, { audit: 'none' }>['name'];
export type ServerRoleName = (typeof SERVER_ROLES)[number]['name'];

export interface OperatorCommand extends CommandDescription, Pick<CatalogEntry, 'audit' | 'changesWith'> {
  readonly name: CommandName;
  readonly usage: string;
  readonly group: 'server' | 'operator';
}

export const OPERATOR_COMMANDS: readonly OperatorCommand[] = [
  ...SERVER_ROLES.map((role) => ({ options: [], args: [], ...role, group: 'server' as const })),
  ...COMMANDS.map((command) => ({ options: [], args: [], ...command, group: 'operator' as const })),
];

/** Options that every command accepts. */
export const COMMON_OPTIONS: readonly OptionDescription[] = [
  { name: 'json', value: null, summary: 'print one JSON document, for programs' },
  {
    name: 'env-file',
    value: 'FILE',
    summary: 'read settings from a file; environment variables override it',
  },
  { name: 'help', value: null, summary: 'show the help of this command' },
];
