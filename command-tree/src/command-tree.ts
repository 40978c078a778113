import { Command, CommanderError } from 'commander';
import { createCommand, createForwardedCommand, createOption } from './build.ts';
import type { CommandDescription, Program } from './description.ts';
import { configureHelp } from './help.ts';
import { suggestCommand } from './suggest-command.ts';
import { commandPath, toUsageProblem, UsageProblem } from './usage-problem.ts';

/** Values by the name of the option: true for a flag, undefined if it was not given. */
export type OptionValues = Readonly<Record<string, string | true | undefined>>;

export type Parsed<D> =
  | {
      readonly kind: 'command';
      readonly command: D;
      readonly values: OptionValues;
      readonly args: readonly string[];
    }
  | {
      readonly kind: 'help';
      /** The command or group; empty for the program itself. */
      readonly name: string;
      readonly text: string;
      /** Help was not requested, but the arguments name no command. */
      readonly incomplete: boolean;
    };

/** Parses a command line with commander; the program executes it. @throws UsageProblem */
export function parseArguments<D extends CommandDescription>(
  program: Program<D>,
  argv: readonly string[],
): Parsed<D> {
  return new CommandTree(program, argv).parse();
}

class CommandTree<D extends CommandDescription> {
  readonly #program: Program<D>;
  readonly #argv: readonly string[];
  readonly #root: Command;
  readonly #descriptions = new Map<Command, D>();
  #parsed: Parsed<D> | null = null;

  constructor(program: Program<D>, argv: readonly string[]) {
    this.#program = program;
    this.#argv = argv;
    this.#root = this.#watch(new Command(program.name))
      .description(program.help.intro)
      .helpCommand(false)
      .helpOption('-h, --help', program.help.helpOption)
      .configureOutput({ writeOut: () => {}, writeErr: () => {} });
    configureHelp(this.#root, program.help, (command) => this.#descriptions.get(command));
    for (const option of program.globalOptions) this.#root.addOption(createOption(this.#root, option));
    // The overview and suggestions come from the descriptions, so commander needs only the commands that may be meant.
    for (const description of program.commands)
      if (argv.includes(description.name.split(' ')[0] ?? '')) this.#add(description);
    this.#watch(this.#root.command('help'))
      .argument('[COMMAND...]')
      .action((words: string[]) => this.#find(words).help());
  }

  parse(): Parsed<D> {
    const [first = '', ...rest] = this.#argv;
    try {
      this.#root.parse(/^(?:-h|--help)$/.test(first) ? ['help', ...rest] : this.#argv, { from: 'user' });
    } catch (error) {
      // #onExit has stored the help.
      if (!(error instanceof CommanderError)) throw error;
    }
    if (this.#parsed === null) throw new Error('commander ran no command');
    return this.#parsed;
  }

  #add(description: D): void {
    const [first = '', second] = description.name.split(' ');
    const parent = second === undefined ? this.#root : (child(this.#root, first) ?? this.#addGroup(first));
    const create = this.#program.isForwarded?.(description) ? createForwardedCommand : createCommand;
    const command = this.#watch(create(parent, second ?? first, description));
    this.#descriptions.set(command, description);
    command.action(() => {
      this.#parsed = {
        kind: 'command',
        command: description,
        values: optionValues(command),
        args: command.processedArgs.filter((arg) => arg !== undefined),
      };
    });
  }

  #addGroup(word: string): Command {
    return this.#watch(this.#root.command(word)).description(this.#program.help.groups[word] ?? '');
  }

  #find(words: readonly string[]): Command {
    let found = this.#root;
    for (const word of words) {
      if (found.commands.length === 0) break;
      found = child(found, word) ?? this.#rejectUnknown(words);
    }
    return found;
  }

  #watch(command: Command): Command {
    return command.exitOverride((error) => this.#onExit(command, error));
  }

  /** Commander calls this instead of exiting. */
  #onExit(command: Command, error: CommanderError): never {
    const isHelp = error.code.startsWith('commander.help');
    // For `payins lst --help` commander shows the help of payins.
    if (error.code === 'commander.unknownCommand' || (isHelp && isMistyped(command)))
      return this.#rejectUnknown([commandPath(command), ...command.args]);
    if (!isHelp) throw toUsageProblem(command, error);
    this.#parsed = {
      kind: 'help',
      name: commandPath(command),
      text: command.helpInformation(),
      incomplete: error.exitCode !== 0,
    };
    throw error;
  }

  #rejectUnknown(typed: readonly string[]): never {
    const [first = '', second = ''] = typed.filter((word) => word !== '' && !word.startsWith('-'));
    const subject = `${first} ${second}`.trim();
    const names = [...this.#program.commands.map(({ name }) => name), 'help'];
    throw new UsageProblem(
      'unknown_command',
      child(this.#root, first) ?? this.#root,
      subject,
      `there is no command "${subject}"`,
      suggestCommand(first, second, names),
    );
  }
}

function child(parent: Command, word: string): Command | undefined {
  return parent.commands.find((command) => command.name() === word);
}

/** Whether the word after a group is not one of its commands. */
function isMistyped(command: Command): boolean {
  const [word = '-'] = command.args;
  return command.commands.length > 0 && !word.startsWith('-') && child(command, word) === undefined;
}

function optionValues(command: Command): OptionValues {
  const own = command.options.map((option) => [
    option.name(),
    command.getOptionValue(option.attributeName()),
  ]);
  return { ...(command.parent ? optionValues(command.parent) : {}), ...Object.fromEntries(own) };
}
