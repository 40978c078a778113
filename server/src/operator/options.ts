import { parseArgs } from 'node:util';
import { AUTHOR_RULE, isAuthor } from '../kit/author.ts';
import type { CommandDescription, OptionDescription } from './commands.ts';
import { commonOptions } from './help.ts';
import { nearestName } from './nearest-name.ts';

/** The command line is invalid: exit code 2. */
export class UsageError extends Error {}

/** What a command prints: text, or JSON with --json. */
export interface Output {
  readonly json: unknown;
  readonly text: string;
  /** The command ran and found a problem: exit code 1. */
  readonly bad?: boolean;
}

/** The parsed and validated arguments of one command. */
export class Options {
  readonly #command: CommandDescription;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #defaultBy: string | null;
  /** Positional arguments. */
  readonly args: readonly string[];

  /**
   * @param defaultBy the author recorded without `--by`
   * @throws UsageError for unknown options and for missing required ones
   */
  constructor(argv: readonly string[], command: CommandDescription, defaultBy: string | null = null) {
    this.#command = command;
    this.#defaultBy = defaultBy;
    const { values, positionals } = parse(argv, [...command.options, ...commonOptions(command)]);
    this.#values = values;
    this.args = positionals;
    if (this.help) return;
    const surplus = positionals[command.args.length];
    if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many`);
    const missing = command.args[positionals.length];
    if (missing) throw new UsageError(`${command.name} needs ${missing.summary}`);
    for (const option of command.options) if (option.name !== 'by') this.#check(option);
    // Validated before the command runs: every change needs an author.
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
    const author = this.#value('by') ?? this.#defaultBy;
    if (typeof author !== 'string' || author.trim() === '')
      throw new UsageError('--by is missing: give your name or set CAUDAL_BY, for the audit log');
    if (!isAuthor(author)) throw new UsageError(`--by must be ${AUTHOR_RULE}`);
    return author;
  }

  get json(): boolean {
    return this.#values['json'] === true;
  }

  /** Whether `--help` was given; it overrides every other argument. */
  get help(): boolean {
    return this.#values['help'] === true;
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

  #check({ name, required, choices }: OptionDescription): void {
    if (required) this.required(name);
    const value = this.#value(name);
    if (choices && typeof value === 'string' && !choices.includes(value))
      throw new UsageError(`--${name}: "${value}" is not one of ${choices.join(', ')}`);
  }

  #value(name: string): unknown {
    // A programming error: a command reads an option that its description does not declare.
    if (!this.#command.options.some((option) => option.name === name))
      throw new Error(`"${this.#command.name}" has no option --${name} in its description`);
    return this.#values[name];
  }
}

function parse(
  argv: readonly string[],
  known: readonly OptionDescription[],
): { values: Readonly<Record<string, unknown>>; positionals: readonly string[] } {
  const options = Object.fromEntries(
    known.map(({ name, value }) => [
      name,
      {
        type: value === null ? ('boolean' as const) : ('string' as const),
        ...(name === 'help' ? { short: 'h' } : {}),
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { values, positionals };
  } catch (error) {
    throw new UsageError(parseErrorText(error, known), { cause: error });
  }
}

/** Replaces Node's message about an unknown option, which suggests positional arguments, with the nearest option. */
function parseErrorText(error: unknown, known: readonly OptionDescription[]): string {
  const text = error instanceof Error ? error.message : String(error);
  const unknown = /^Unknown option '(-[^']*)'/.exec(text)?.[1];
  if (unknown === undefined) return text.replaceAll('\n', ' ').replace(/\.$/, '');
  const near = nearestName(
    unknown,
    known.map(({ name }) => `--${name}`),
  );
  return `there is no option ${unknown}${near === null ? '' : ` (did you mean ${near}?)`}`;
}
