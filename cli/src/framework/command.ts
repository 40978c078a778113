import type { Environment } from '../connection/environment.ts';
import type { Screen } from '../output/screen.ts';
import type { ExitCode } from './exit-codes.ts';
import type { ParsedArgs } from './parsed-args.ts';

export interface Option {
  readonly name: string;
  /** Placeholder of the value in the help; null for a flag. */
  readonly value: string | null;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  readonly short?: string;
}

interface Positional {
  readonly name: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly optional?: boolean;
}

export type Section = 'start' | 'payments' | 'events' | 'testing' | 'operator' | 'server';

/** Static description of a command: help, parsing and completion are generated from it. */
export interface CommandDescription {
  /** One or two words: `listen`, `payins create`. */
  readonly name: string;
  readonly section: Section;
  readonly summary: string;
  readonly usage?: string;
  readonly options: readonly Option[];
  readonly args: readonly Positional[];
  readonly details?: string;
  /** Runnable as written against `caudal dev`; a test runs them. */
  readonly examples: readonly string[];
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
  readonly runByServer: true;
}
