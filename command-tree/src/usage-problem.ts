import type { Command, CommanderError } from 'commander';
import { nearest } from './nearest.ts';

type ProblemCode =
  | 'unknown_command'
  | 'invalid_option'
  | 'missing_argument'
  | 'invalid_choice'
  | 'surplus_argument';

/** The command line is invalid; nothing was executed. */
export class UsageProblem extends Error {
  readonly code: ProblemCode;
  /** The command or group whose arguments are invalid; empty for the program itself. */
  readonly command: string;
  /** The invalid or missing command, `--option`, argument or value. */
  readonly subject: string;
  /** The name that was probably meant. */
  readonly suggestion: string | null;

  constructor(
    code: ProblemCode,
    command: Command,
    subject: string,
    message: string,
    suggestion: string | null = null,
  ) {
    super(message);
    this.code = code;
    this.command = commandPath(command);
    this.subject = subject;
    this.suggestion = suggestion;
  }
}

/** The name as typed after the program's name, such as `payins create`; empty for the program itself. */
export function commandPath(command: Command): string {
  return command.parent ? `${commandPath(command.parent)} ${command.name()}`.trim() : '';
}

/** Commander quotes the subject of a message; of `'--limit <N>'` and `'--all=yes'` the name is the subject. */
const SUBJECT = /'([^' =]*)/;

/** Translates commander's errors, except unknown commands. */
export function toUsageProblem(command: Command, error: CommanderError): UsageProblem {
  const subject = SUBJECT.exec(error.message)?.[1] ?? '';
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownOption(command, subject);
    case 'commander.optionMissingArgument':
      return missingValue(command, subject);
    case 'commander.missingMandatoryOptionValue':
      return missingOption(command, subject);
    case 'commander.missingArgument':
      return missingArgument(command, subject);
    case 'commander.excessArguments':
      return surplusArgument(command);
    default:
      throw error;
  }
}

function unknownOption(command: Command, option: string): UsageProblem {
  const known = optionNames(command);
  // Commander reports the value of a flag (--all=yes) as an unknown option.
  if (known.includes(option))
    return new UsageProblem('invalid_option', command, option, `${option} takes no value`);
  const owner = command.parent ? `${commandPath(command)} has` : 'there is';
  const message = `${owner} no option ${option}`;
  return new UsageProblem('invalid_option', command, option, message, nearest(option, known));
}

function missingArgument(command: Command, subject: string): UsageProblem {
  const missing = command.registeredArguments.slice(command.args.length).filter(({ required }) => required);
  const names = missing.map((arg) => arg.name()).join(' and ');
  return new UsageProblem('missing_argument', command, subject, `${commandPath(command)} needs ${names}`);
}

function surplusArgument(command: Command): UsageProblem {
  const subject = command.args[command.registeredArguments.length] ?? '';
  const message = `${commandPath(command)}: unexpected argument "${subject}"`;
  return new UsageProblem('surplus_argument', command, subject, message);
}

export function missingValue(command: Command, option: string): UsageProblem {
  const form = command.options.find(({ long }) => long === option)?.flags.replaceAll(/[<>]/g, '');
  return new UsageProblem('invalid_option', command, option, `${option} needs a value: ${form}`);
}

export function missingOption(command: Command, option: string): UsageProblem {
  return new UsageProblem('invalid_option', command, option, `${option} is missing`);
}

/** The long names of the options that a command accepts, including those of its parents. */
export function optionNames(command: Command): string[] {
  const own = command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long ?? []);
  return command.parent ? [...own, ...optionNames(command.parent)] : own;
}
