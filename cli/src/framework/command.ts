import type { Environment } from './environment.ts';
import type { ExitCode } from './exit-codes.ts';
import type { ParsedArgs } from './parsed-args.ts';
import type { Screen } from './screen.ts';

export interface Option {
  readonly name: string;
  /** What stands for the value in help; null for a flag. */
  readonly value: string | null;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
  readonly short?: string;
}

interface Word {
  readonly name: string;
  readonly summary: string;
  readonly choices?: readonly string[];
  readonly optional?: boolean;
}

export type Section = 'start' | 'payments' | 'events' | 'testing' | 'operator' | 'server';

/** What is known of a command before it runs: help, parsing and completion are made of it. */
export interface CommandDescription {
  /** One word or two. */
  readonly name: string;
  readonly section: Section;
  readonly summary: string;
  readonly usage?: string;
  readonly options: readonly Option[];
  readonly words: readonly Word[];
  readonly details?: string;
  /** Typed as they stand against `caudal dev`, they work. */
  readonly examples: readonly string[];
}

export interface Context {
  readonly screen: Screen;
  readonly environment: Environment;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
}

export interface Command extends CommandDescription {
  /** @returns nothing when it was done */
  readonly run: (context: Context, args: ParsedArgs) => Promise<ExitCode | undefined>;
}

/** One that is the server's own: its words are known here, its work is done there. */
export interface ServerCommand extends CommandDescription {
  readonly runByServer: true;
}
