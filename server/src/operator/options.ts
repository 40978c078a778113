import { parseArgs } from 'node:util';
import { AUTHOR_RULE, isAuthor } from '../kit/author.ts';
import type { CommandDescription, OptionDescription } from './commands.ts';
import { commonOptions } from './help.ts';
import { nearestName } from './nearest-name.ts';

/** The command was not understood: exit code 2. */
export class UsageError extends Error {}

/** What a command prints: for people, and with --json for programs. */
export interface Output {
  readonly json: unknown;
  readonly text: string;
  /** It was done, and what it found is bad: exit code 1. */
  readonly bad?: boolean;
}

/** The words of one call, already known to be words this command takes. */
export class Options {
  readonly #command: CommandDescription;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #defaultBy: string | null;
  readonly words: readonly string[];

  /**
   * @param defaultBy who is recorded where `--by` is not given
   * @throws UsageError for what the catalogue does not have, and for what it requires and was not given
   */
  constructor(args: readonly string[], command: CommandDescription, defaultBy: string | null = null) {
    this.#command = command;
    this.#defaultBy = defaultBy;
    const { values, words } = parsed(args, [...command.options, ...commonOptions(command)]);
    this.#values = values;
    this.words = words;
    if (this.help) return;
    const surplus = words[command.words.length];
    if (surplus !== undefined) throw new UsageError(`"${surplus}" is one word too many`);
    const missing = command.words[words.length];
    if (missing) throw new UsageError(`${command.name} needs ${missing.summary}`);
    for (const option of command.options) if (option.name !== 'by') this.#check(option);
    // Rejected before anything is done: a command that changes something has an author.
    if (this.changes) void this.by;
  }

  /** Whether this call changes something, and so is audited. */
  get changes(): boolean {
    const { audit, changesWith } = this.#command;
    if (audit === 'none') return false;
    return changesWith === undefined || changesWith.some((name) => this.#values[name] !== undefined);
  }

  /** Who runs the command, for the audit. @throws UsageError when that is missing or not a name */
  get by(): string {
    const given = this.#value('by') ?? this.#defaultBy;
    if (typeof given !== 'string' || given.trim() === '')
      throw new UsageError('--by is missing: give your name, or set CAUDAL_BY; the audit keeps it');
    if (!isAuthor(given)) throw new UsageError(`--by must be ${AUTHOR_RULE}`);
    return given;
  }

  get json(): boolean {
    return this.#values['json'] === true;
  }

  /** Asked how the command is used, whatever else was said. */
  get help(): boolean {
    return this.#values['help'] === true;
  }

  /** Whether a flag was set. */
  given(name: string): boolean {
    return this.#value(name) === true;
  }

  /** Whether an option that takes a value was given. */
  has(name: string): boolean {
    return this.#value(name) !== undefined;
  }

  required(name: string): string {
    const value = this.#value(name);
    if (typeof value !== 'string' || value.trim() === '') throw new UsageError(`--${name} is missing`);
    return value;
  }

  matching(name: string, pattern: RegExp, wanted: string, fallback: string): string {
    const value = this.#value(name);
    if (value === undefined) return fallback;
    if (typeof value !== 'string' || !pattern.test(value))
      throw new UsageError(`--${name} must be ${wanted}`);
    return value;
  }

  /** Comma-separated words out of a known set; all of them when the option is left out. */
  listed<T extends string>(name: string, all: readonly T[]): T[] {
    const value = this.#value(name);
    if (typeof value !== 'string') return [...all];
    return value.split(',').map((item) => {
      const known = all.find((each) => each === item.trim());
      if (!known) throw new UsageError(`--${name}: "${item}" is none of ${all.join(', ')}`);
      return known;
    });
  }

  #check({ name, required, choices }: OptionDescription): void {
    if (required) this.required(name);
    const value = this.#value(name);
    if (choices && typeof value === 'string' && !choices.includes(value))
      throw new UsageError(`--${name}: "${value}" is none of ${choices.join(', ')}`);
  }

  #value(name: string): unknown {
    // A command that asks for what the catalogue does not offer could never be given it.
    if (!this.#command.options.some((option) => option.name === name))
      throw new Error(`"${this.#command.name}" has no option --${name} in the catalogue`);
    return this.#values[name];
  }
}

function parsed(
  args: readonly string[],
  offered: readonly OptionDescription[],
): { values: Readonly<Record<string, unknown>>; words: readonly string[] } {
  const options = Object.fromEntries(
    offered.map(({ name, value }) => [
      name,
      {
        type: value === null ? ('boolean' as const) : ('string' as const),
        ...(name === 'help' ? { short: 'h' } : {}),
      },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { values, words: positionals };
  } catch (error) {
    throw new UsageError(refusal(error, offered), { cause: error });
  }
}

/** Node's message speaks of positional arguments to whoever mistyped a letter. */
function refusal(error: unknown, offered: readonly OptionDescription[]): string {
  const text = error instanceof Error ? error.message : String(error);
  const unknown = /^Unknown option '(-[^']*)'/.exec(text)?.[1];
  if (unknown === undefined) return text.replaceAll('\n', ' ').replace(/\.$/, '');
  const near = nearestName(
    unknown,
    offered.map(({ name }) => `--${name}`),
  );
  return `there is no option ${unknown}${near === null ? '' : ` (did you mean ${near}?)`}`;
}
