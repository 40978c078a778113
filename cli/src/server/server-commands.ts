import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInOurPlace } from './child.ts';
import type { Option, Section, ServerCommand } from './command.ts';
import { findDevStack } from './dev-stack.ts';
import { type Environment, environmentForSettings } from './environment.ts';
import { Fault } from './errors.ts';
import type { ExitCode } from './exit-codes.ts';

/** As `server/src/operator/commands.ts` writes them. */
interface CatalogueEntry {
  readonly name: string;
  readonly group: 'server' | 'operator';
  readonly summary: string;
  readonly usage: string;
  readonly options: readonly Option[];
  readonly words: readonly { readonly name: string; readonly summary: string }[];
  readonly details?: string;
  readonly examples?: readonly string[];
}

// In a constant, for the compiler must not look for it: the command line also lives where no server is installed.
const CATALOGUE = '@caudal/server/operator-commands';

export const NO_SERVER =
  'org, keys, ledger, anomalies, rails, migrate, doctor and others need the database, so they run beside the server: there this same command has them.';

/** The server's commands, or null where it is not installed. */
export async function serverCommands(): Promise<readonly ServerCommand[] | null> {
  if (serverMain() === null) return null;
  const { OPERATOR_COMMANDS } = (await import(CATALOGUE)) as { OPERATOR_COMMANDS: readonly CatalogueEntry[] };
  return OPERATOR_COMMANDS.filter(({ name }) => name !== 'help').map((entry) => ({
    name: entry.name,
    section: entry.group satisfies Section,
    summary: entry.summary,
    // One line for each way to use it.
    usage: entry.usage
      .split('\n')
      .map((line) => `caudal ${line.trim()}`)
      .join('\n  '),
    options: entry.options,
    words: entry.words,
    ...(entry.details === undefined ? {} : { details: entry.details }),
    examples: entry.examples ?? [],
    runByServer: true,
  }));
}

function serverMain(): string | null {
  try {
    const main = join(dirname(fileURLToPath(import.meta.resolve(CATALOGUE))), '..', 'main.ts');
    return existsSync(main) ? main : null;
  } catch {
    return null;
  }
}

/** Runs it in the server's own program, with our terminal. */
export async function runByServer(argv: readonly string[], environment: Environment): Promise<ExitCode> {
  const main = serverMain();
  if (main === null) throw new Fault('the server is not installed here', [NO_SERVER]);
  const own = environment.hasDatabase || argv.some((word) => /^--env-file(?:=|$)/.test(word));
  const settings = own ? null : (findDevStack(environment.folder)?.settingsFile ?? null);
  if (settings === null) return runInOurPlace([main, ...argv]);
  return runInOurPlace([`--env-file=${settings}`, main, ...argv], environmentForSettings());
}
