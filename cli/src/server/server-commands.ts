import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findDevStack } from '../connection/dev-stack.ts';
import { type Environment, environmentWithoutBaseUrl } from '../connection/environment.ts';
import type { Option, Section, ServerCommand } from '../framework/command.ts';
import { CliError } from '../framework/errors.ts';
import type { ExitCode } from '../framework/exit-codes.ts';
import { runChildProcess } from './child-process.ts';

/** Shape of the entries in `server/src/operator/commands.ts`. */
interface OperatorCommandDescription {
  readonly name: string;
  readonly group: 'server' | 'operator';
  readonly summary: string;
  readonly usage: string;
  readonly options: readonly Option[];
  readonly args: readonly { readonly name: string; readonly summary: string }[];
  readonly details?: string;
  readonly examples?: readonly string[];
}

// In a constant, so that the compiler does not resolve it: the CLI also runs without the server package.
const OPERATOR_COMMANDS_MODULE = '@caudal/server/operator-commands';

export const NO_SERVER =
  'org, keys, ledger, anomalies, rails, migrate, doctor and others need the database: run caudal on the server host.';

/** The operator commands; null when the server package is not installed. */
export async function serverCommands(): Promise<readonly ServerCommand[] | null> {
  if (serverMain() === null) return null;
  const { OPERATOR_COMMANDS } = (await import(OPERATOR_COMMANDS_MODULE)) as {
    OPERATOR_COMMANDS: readonly OperatorCommandDescription[];
  };
  return OPERATOR_COMMANDS.filter(({ name }) => name !== 'help').map((entry) => ({
    name: entry.name,
    section: entry.group satisfies Section,
    summary: entry.summary,
    // One line per form.
    usage: entry.usage
      .split('\n')
      .map((line) => `caudal ${line.trim()}`)
      .join('\n  '),
    options: entry.options,
    args: entry.args,
    ...(entry.details === undefined ? {} : { details: entry.details }),
    examples: entry.examples ?? [],
    runByServer: true,
  }));
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
