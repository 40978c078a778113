import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CommandDescription } from '@caudal/command-tree';
import { findDevStack } from '../connection/dev-stack.ts';
import { type Environment, environmentWithoutBaseUrl } from '../connection/environment.ts';
import type { ServerCommand } from '../framework/command.ts';
import { CliError } from '../framework/errors.ts';
import type { ExitCode } from '../framework/exit-codes.ts';
import { runChildProcess } from './child-process.ts';

/** Shape of the entries in `server/src/operator/commands.ts`. */
type OperatorCommand = CommandDescription & { readonly group: 'server' | 'operator' };

// In a constant, so that the compiler does not resolve it: the CLI also runs without the server package.
const OPERATOR_COMMANDS_MODULE = '@caudal/server/operator-commands';

export const NO_SERVER =
  'org, keys, ledger, anomalies, rails, migrate, doctor and others need the database: run caudal on the server host.';

/** The operator commands; null when the server package is not installed. */
export async function serverCommands(): Promise<readonly ServerCommand[] | null> {
  if (serverMain() === null) return null;
  const { OPERATOR_COMMANDS } = (await import(OPERATOR_COMMANDS_MODULE)) as {
    OPERATOR_COMMANDS: readonly OperatorCommand[];
  };
  return OPERATOR_COMMANDS.map((command) => ({ ...command, section: command.group, run: null }));
}

function serverMain(): string | null {
  try {
    const main = join(dirname(fileURLToPath(import.meta.resolve(OPERATOR_COMMANDS_MODULE))), '..', 'main.ts');
    return existsSync(main) ? main : null;
  } catch {
    return null;
  }
}

/** Runs an operator command in the server program, on this terminal. */
export async function runByServer(argv: readonly string[], environment: Environment): Promise<ExitCode> {
  const main = serverMain();
  if (main === null) throw new CliError('the server package is not installed here', [NO_SERVER]);
  const hasSettings = environment.hasDatabase || argv.some((arg) => /^--env-file(?:=|$)/.test(arg));
  const settings = hasSettings ? null : (findDevStack(environment.folder)?.settingsFile ?? null);
  if (settings === null) return runChildProcess([main, ...argv]);
  return runChildProcess([`--env-file=${settings}`, main, ...argv], environmentWithoutBaseUrl());
}
