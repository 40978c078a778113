import type { CommandDescription as TreeCommand } from '@caudal/command-tree';
import type { Environment } from '../connection/environment.ts';
import type { Screen } from '../output/screen.ts';
import type { ExitCode } from './exit-codes.ts';
import type { ParsedArgs } from './parsed-args.ts';

export type Section = 'start' | 'payments' | 'events' | 'testing' | 'operator' | 'server';

/** The examples are runnable as written against `caudal dev`; a test runs them. */
export interface CommandDescription extends TreeCommand {
  readonly section: Section;
}

export interface Context {
  readonly screen: Screen;
  readonly environment: Environment;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Command extends CommandDescription {
  /** @returns undefined for exit code 0 */
  readonly run: (context: Context, args: ParsedArgs) => Promise<ExitCode | undefined>;
}

/** An operator command: described here, executed by the server program. */
export interface ServerCommand extends CommandDescription {
  readonly run: null;
}
