import { parseArgs as tokenize } from 'node:util';
import type { CommandDescription, Option } from './command.ts';
import { UsageError } from './errors.ts';
import { GLOBAL_OPTIONS } from './global-options.ts';
import { nearest } from './nearest.ts';
import { ParsedArgs } from './parsed-args.ts';

/** The command that was named, and all that was typed besides its name. */
export interface Named<C> {
  readonly command: C;
  readonly rest: readonly string[];
}

type Token = NonNullable<ReturnType<typeof tokensOf>>[number];

function tokensOf(argv: readonly string[], options: readonly Option[]) {
  const config = Object.fromEntries(
    options.map(({ name, value, short }) => [
      name,
      { type: value === null ? ('boolean' as const) : ('string' as const), ...(short ? { short } : {}) },
    ]),
  );
  // Not strict: the faults it finds are told in our words, with what was probably meant.
  return tokenize({ args: [...argv], options: config, strict: false, allowPositionals: true, tokens: true })
    .tokens;
}

/** The words of argv that are no option's, with where they stand; options that any command takes may come before them. */
export function wordsOf(
  argv: readonly string[],
): readonly { readonly text: string; readonly index: number }[] {
  return tokensOf(argv, GLOBAL_OPTIONS).flatMap((token) =>
    token.kind === 'positional' ? [{ text: token.value, index: token.index }] : [],
  );
}

/** The longest name that fits: two words before one. */
export function findCommand<C extends CommandDescription>(
  commands: readonly C[],
  argv: readonly string[],
): Named<C> | null {
  const words = wordsOf(argv);
  for (const count of [2, 1]) {
    const taken = words.slice(0, count);
    if (taken.length < count) continue;
    const name = taken.map(({ text }) => text).join(' ');
    const command = commands.find((candidate) => candidate.name === name);
    if (command) {
      const skipped = new Set(taken.map(({ index }) => index));
      return { command, rest: argv.filter((_, index) => !skipped.has(index)) };
    }
  }
  return null;
}

/** @throws UsageError naming what is wrong and what was probably meant */
export function parseArgs(command: CommandDescription, argv: readonly string[]): ParsedArgs {
  const options = [
    ...command.options,
    ...GLOBAL_OPTIONS.filter(({ name }) => !command.options.some((own) => own.name === name)),
  ];
  const values = new Map<string, string | true>();
  const words: string[] = [];
  for (const token of tokensOf(argv, options)) {
    if (token.kind === 'positional') words.push(token.value);
    if (token.kind === 'option') values.set(token.name, optionValue(command, options, token));
  }
  if (!values.has('help')) demand(command, values, words);
  return new ParsedArgs(values, words);
}

function optionValue(
  command: CommandDescription,
  options: readonly Option[],
  token: Token & { kind: 'option' },
): string | true {
  const option = options.find(({ name }) => name === token.name);
  if (!option) {
    const meant =
      token.name.length > 1
        ? nearest(
            token.name,
            options.map(({ name }) => name),
          )
        : null;
    throw new UsageError(`${command.name} has no option ${token.rawName}`, [
      ...(meant ? [`Did you mean --${meant}?`] : []),
      seeHelp(command),
    ]);
  }
  if (option.value === null) {
    if (token.value !== undefined)
      throw new UsageError(`--${option.name} takes no value`, [seeHelp(command)]);
    return true;
  }
  const { value } = token;
  const forgotten =
    value === undefined || (!token.inlineValue && options.some(({ name }) => value === `--${name}`));
  if (forgotten)
    throw new UsageError(`--${option.name} needs a value: --${option.name} ${option.value}`, [
      seeHelp(command),
    ]);
  return chosen(`--${option.name}`, value, option.choices);
}

/** Choices are taken in small letters too. */
function chosen(what: string, value: string, choices: readonly string[] | undefined): string {
  if (!choices) return value;
  const choice = choices.find((candidate) => candidate.toLowerCase() === value.toLowerCase());
  if (choice !== undefined) return choice;
  const meant = nearest(value, choices);
  throw new UsageError(
    `${what}: "${value}" is none of ${choices.join(', ')}`,
    meant ? [`Did you mean ${meant}?`] : [],
  );
}

function demand(
  command: CommandDescription,
  values: ReadonlyMap<string, string | true>,
  words: string[],
): void {
  const missing = command.words.filter((word, index) => !word.optional && words[index] === undefined);
  const unset = command.options.filter(({ name, required }) => required && !values.has(name));
  if (missing.length + unset.length > 0) {
    const names = [...missing.map(({ name }) => name), ...unset.map(({ name }) => `--${name}`)];
    throw new UsageError(`${command.name} needs ${names.join(' and ')}`, [seeHelp(command)]);
  }
  if (words.length > command.words.length) {
    const [extra = ''] = words.slice(command.words.length);
    throw new UsageError(`${command.name}: "${extra}" is one word too many`, [
      'A value with spaces is put between quotes.',
      seeHelp(command),
    ]);
  }
  for (const [index, word] of command.words.entries()) {
    const text = words[index];
    if (text !== undefined) words[index] = chosen(word.name, text, word.choices);
  }
}

function seeHelp({ name }: Pick<CommandDescription, 'name'>): string {
  return `See: caudal help ${name}`;
}
