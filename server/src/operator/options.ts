import { parseArgs } from 'node:util';

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
  readonly #values: Readonly<Record<string, unknown>>;
  readonly words: readonly string[];

  /** @throws UsageError for an option the command does not have, or more words than it takes */
  constructor(
    args: readonly string[],
    names: readonly string[],
    mostWords: number,
    flags: readonly string[] = [],
  ) {
    const options = Object.fromEntries([
      ...names.map((name) => [name, { type: 'string' as const }] as const),
      ...flags.map((name) => [name, { type: 'boolean' as const }] as const),
    ]);
    try {
      const { values, positionals } = parseArgs({
        args: [...args],
        options: { ...options, json: { type: 'boolean' as const } },
        allowPositionals: true,
        strict: true,
      });
      this.#values = values;
      this.words = positionals;
    } catch (error) {
      throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
    }
    const surplus = this.words[mostWords];
    if (surplus !== undefined) throw new UsageError(`"${surplus}" is one word too many`);
  }

  get json(): boolean {
    return this.#values['json'] === true;
  }

  /** Whether a flag was set. */
  given(name: string): boolean {
    return this.#values[name] === true;
  }

  required(name: string): string {
    const value = this.#values[name];
    if (typeof value !== 'string' || value.trim() === '') throw new UsageError(`--${name} is missing`);
    return value;
  }

  matching(name: string, pattern: RegExp, wanted: string, fallback: string): string {
    const value = this.#values[name];
    if (value === undefined) return fallback;
    if (typeof value !== 'string' || !pattern.test(value))
      throw new UsageError(`--${name} must be ${wanted}`);
    return value;
  }

  /** Comma-separated words out of a known set; all of them when the option is left out. */
  listed<T extends string>(name: string, all: readonly T[]): T[] {
    const value = this.#values[name];
    if (typeof value !== 'string') return [...all];
    return value.split(',').map((item) => {
      const known = all.find((each) => each === item.trim());
      if (!known) throw new UsageError(`--${name}: "${item}" is none of ${all.join(', ')}`);
      return known;
    });
  }
}
