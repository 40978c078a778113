import { parseArgs as tokenize } from 'node:util';
import type { CommandDescription, Option } from './command.ts';
import { UsageError } from './errors.ts';
import { GLOBAL_OPTIONS } from './global-options.ts';
import { nearest } from './nearest.ts';
import { ParsedArgs } from './parsed-args.ts';

/** A matched command and the remaining arguments. */
export interface MatchedCommand<C> {
  readonly command: C;
  readonly rest: readonly string[];
}

type Token = NonNullable<ReturnType<typeof tokenizeArgs>>[number];

function tokenizeArgs(argv: readonly string[], options: readonly Option[]) {
  const config = Object.fromEntries(
    options.map(({ name, value, short }) => [
      name,
      { type: value === null ? ('boolean' as const) : ('string' as const), ...(short ? { short } : {}) },
    ]),
  );
  // Not strict: parseArgs below reports errors itself, with suggestions.
  return tokenize({ args: [...argv], options: config, strict: false, allowPositionals: true, tokens: true })
    .tokens;
}

/** Positional arguments and their index in argv. Only global options are known here: they may precede the command. */
export function findPositionals(
  argv: readonly string[],
): readonly { readonly text: string; readonly index: number }[] {
  return tokenizeArgs(argv, GLOBAL_OPTIONS).flatMap((token) =>
    token.kind === 'positional' ? [{ text: token.value, index: token.index }] : [],
  );
}

/** Finds the command with the longest matching name: two words before one. */
export function findCommand<C extends CommandDescription>(
  commands: readonly C[],
  argv: readonly string[],
): MatchedCommand<C> | null {
  const positionals = findPositionals(argv);
  for (const count of [2, 1]) {
    const taken = positionals.slice(0, count);
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

/** @throws UsageError with what is wrong and a suggestion */
export function parseArgs(command: CommandDescription, argv: readonly string[]): ParsedArgs {
  const options = [
    ...command.options,
    ...GLOBAL_OPTIONS.filter(({ name }) => !command.options.some((own) => own.name === name)),
  ];
  const values = new Map<string, string | true>();
  const positionals: string[] = [];
  for (const token of tokenizeArgs(argv, options)) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind === 'option') values.set(token.name, optionValue(command, options, token));
  }
  if (!values.has('help')) validateArgs(command, values, positionals);
  return new ParsedArgs(values, positionals);
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
    throw new UsageError(`unknown option ${token.rawName} for ${command.name}`, [
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
  const isMissing =
    value === undefined || (!token.inlineValue && options.some(({ name }) => value === `--${name}`));
  if (isMissing)
    throw new UsageError(`--${option.name} needs a value: --${option.name} ${option.value}`, [
      seeHelp(command),
    ]);
  return matchChoice(`--${option.name}`, value, option.choices);
}

/** Matches a choice case-insensitively. */
function matchChoice(what: string, value: string, choices: readonly string[] | undefined): string {
  if (!choices) return value;
  const choice = choices.find((candidate) => candidate.toLowerCase() === value.toLowerCase());
  if (choice !== undefined) return choice;
  const meant = nearest(value, choices);
  throw new UsageError(
    `${what}: "${value}" is not one of ${choices.join(', ')}`,
    meant ? [`Did you mean ${meant}?`] : [],
  );
}

function validateArgs(
  command: CommandDescription,
  values: ReadonlyMap<string, string | true>,
  positionals: string[],
): void {
  const missing = command.args.filter((arg, index) => !arg.optional && positionals[index] === undefined);
  const unset = command.options.filter(({ name, required }) => required && !values.has(name));
  if (missing.length + unset.length > 0) {
    const names = [...missing.map(({ name }) => name), ...unset.map(({ name }) => `--${name}`)];
    throw new UsageError(`${command.name} needs ${names.join(' and ')}`, [seeHelp(command)]);
  }
  if (positionals.length > command.args.length) {
    const [extra = ''] = positionals.slice(command.args.length);
    throw new UsageError(`${command.name}: unexpected argument "${extra}"`, [
      'Quote values that contain spaces.',
      seeHelp(command),
    ]);
  }
  for (const [index, arg] of command.args.entries()) {
    const text = positionals[index];
    if (text !== undefined) positionals[index] = matchChoice(arg.name, text, arg.choices);
  }
}

function seeHelp({ name }: Pick<CommandDescription, 'name'>): string {
  return `See: caudal help ${name}`;
}
