import type { OptionValues } from '@caudal/command-tree';
import { AUTHOR_RULE, isAuthor } from '../kit/author.ts';
import type { OperatorCommand } from './commands.ts';

/** The command line is invalid: exit code 2. */
export class UsageError extends Error {
  /** The command or group whose help explains it; empty if the command that runs does. */
  readonly command: string;

  constructor(message: string, command = '') {
    super(message);
    this.command = command;
  }
}

/** What a command prints: text, or JSON with --json. */
export interface Output {
  readonly json: unknown;
  readonly text: string;
  /** The command ran and found a problem: exit code 1. */
  readonly bad?: boolean;
}

/** The parsed arguments of one command. */
export class Options {
  readonly #command: OperatorCommand;
  readonly #values: OptionValues;
  /** Positional arguments. */
  readonly args: readonly string[];

  /** @throws UsageError when a change has no author, before anything runs */
  constructor(command: OperatorCommand, values: OptionValues, args: readonly string[]) {
    this.#command = command;
    this.#values = values;
    this.args = args;
    if (this.changes) void this.by;
  }

  /** Whether this command makes a change and is audited. */
  get changes(): boolean {
    const { audit, changesWith } = this.#command;
    if (audit === 'none') return false;
    return changesWith === undefined || changesWith.some((name) => this.#values[name] !== undefined);
  }

  /** The author for the audit log. @throws UsageError when it is missing or invalid */
  get by(): string {
    const author = this.#value('by');
    if (typeof author !== 'string' || author.trim() === '')
      throw new UsageError('--by is missing: give your name or set CAUDAL_BY, for the audit log');
    if (!isAuthor(author)) throw new UsageError(`--by must be ${AUTHOR_RULE}`);
    return author;
  }

  get json(): boolean {
    return this.#values['json'] === true;
  }

  /** Whether a flag was given. */
  hasFlag(name: string): boolean {
    return this.#value(name) === true;
  }

  /** Whether an option with a value was given. */
  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  required(name: string): string {
    const value = this.#value(name);
    if (typeof value !== 'string' || value.trim() === '') throw new UsageError(`--${name} is missing`);
    return value;
  }

  matching(name: string, pattern: RegExp, description: string, fallback: string): string {
    const value = this.#value(name);
    if (value === undefined) return fallback;
    if (typeof value !== 'string' || !pattern.test(value))
      throw new UsageError(`--${name} must be ${description}`);
    return value;
  }

  /** Comma-separated values out of a known set; all of them without the option. */
  listed<T extends string>(name: string, all: readonly T[]): T[] {
    const value = this.#value(name);
    if (typeof value !== 'string') return [...all];
    return value.split(',').map((item) => {
      const known = all.find((each) => each === item.trim());
      if (!known) throw new UsageError(`--${name}: "${item}" is not one of ${all.join(', ')}`);
      return known;
    });
  }

  #value(name: string): string | true | undefined {
    // A programming error: a command reads an option that its description does not declare.
    if (!this.#command.options.some((option) => option.name === name))
      throw new Error(`"${this.#command.name}" has no option --${name} in its description`);
    return this.#values[name];
  }
}
