import { Argument, type Command, Option } from 'commander';
import type { ArgumentDescription, CommandDescription, OptionDescription } from './description.ts';
import { nearest } from './nearest.ts';
import { missingOption, missingValue, optionNames, UsageProblem } from './usage-problem.ts';

export function createCommand(
  parent: Command,
  word: string,
  { summary, options, args }: CommandDescription,
): Command {
  const command = parent.command(word).description(summary);
  for (const option of options) command.addOption(createOption(command, option));
  for (const arg of args) command.addArgument(createArgument(command, arg));
  return command;
}

/** A command whose arguments another program parses: its options and arguments are only shown in the help. */
export function createForwardedCommand(
  parent: Command,
  word: string,
  description: CommandDescription,
): Command {
  const command = createCommand(parent, word, description).allowUnknownOption().allowExcessArguments();
  for (const option of command.options) option.makeOptionMandatory(false);
  for (const arg of command.registeredArguments) arg.argOptional();
  return command;
}

export function createOption(command: Command, description: OptionDescription): Option {
  const { name, value, required = false, choices, defaultValue } = description;
  const flag = `--${name}`;
  const option = new Option(value === null ? flag : `${flag} <${value}>`, describe(description));
  // Commander would store --no-wait as `wait: false`.
  option.negate = false;
  if (value === null) return option;
  return option
    .default(defaultValue)
    .makeOptionMandatory(required)
    .argParser((text) => {
      // Commander takes the next argument as the value even if it is an option.
      if (optionNames(command).includes(text)) throw missingValue(command, flag);
      if (required && text.trim() === '') throw missingOption(command, flag);
      return matchChoice(command, flag, text, choices);
    });
}

function createArgument(command: Command, description: ArgumentDescription): Argument {
  const { name, optional, choices } = description;
  return new Argument(optional ? `[${name}]` : `<${name}>`, describe(description)).argParser((text) =>
    matchChoice(command, name, text, choices),
  );
}

function describe({ summary, choices, required }: ArgumentDescription & { required?: boolean }): string {
  return `${summary}${choices ? ` (${choices.join(', ')})` : ''}${required ? ' (required)' : ''}`;
}

/** Matches a choice case-insensitively. */
function matchChoice(
  command: Command,
  name: string,
  text: string,
  choices: readonly string[] | undefined,
): string {
  const choice = choices?.find((each) => each.toLowerCase() === text.toLowerCase());
  if (!choices || choice !== undefined) return choice ?? text;
  const message = `${name}: "${text}" is not one of ${choices.join(', ')}`;
  throw new UsageProblem('invalid_choice', command, text, message, nearest(text, choices));
}
