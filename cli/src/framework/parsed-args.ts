import type { OptionValues } from '@caudal/command-tree';
import { UsageError } from './errors.ts';

/** Parsed options and positional arguments of a command. */
export class ParsedArgs {
  readonly #values: OptionValues;
  readonly positionals: readonly string[];

  constructor(values: OptionValues, positionals: readonly string[]) {
    this.#values = values;
    this.positionals = positionals;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  positional(index: number): string {
    return this.positionals[index] ?? '';
  }

  integer(name: string, min: number, max: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= min && number <= max))
      throw new UsageError(`--${name}: "${text}" is not a number from ${min} to ${max}`);
    return number;
  }

  /** A comma-separated list. */
  list(name: string): string[] | undefined {
    const text = this.text(name);
    return text
      ?.split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  }
}
