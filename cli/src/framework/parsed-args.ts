import { UsageError } from './errors.ts';

/** What was typed behind a command, each asked for by its name. */
export class ParsedArgs {
  readonly #values: ReadonlyMap<string, string | true>;
  readonly words: readonly string[];

  constructor(values: ReadonlyMap<string, string | true>, words: readonly string[]) {
    this.#values = values;
    this.words = words;
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name);
    return typeof value === 'string' ? value : undefined;
  }

  flag(name: string): boolean {
    return this.#values.get(name) === true;
  }

  word(index: number): string {
    return this.words[index] ?? '';
  }

  whole(name: string, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= least && number <= most))
      throw new UsageError(`--${name}: "${text}" is no number from ${least} to ${most}`);
    return number;
  }

  /** Several, parted by commas. */
  list(name: string): string[] | undefined {
    const text = this.text(name);
    return text
      ?.split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }
}
