import { type Parsed, type Program, parseArguments } from '@caudal/command-tree';
import manifest from '../package.json' with { type: 'json' };
import { ALL_COMMANDS } from './all-commands.ts';
import { readEnvironment } from './connection/environment.ts';
import type { Command, CommandDescription, Context, ServerCommand } from './framework/command.ts';
import { UnknownOutcomeError } from './framework/errors.ts';
import { EXIT, type ExitCode } from './framework/exit-codes.ts';
import { explain } from './framework/explain.ts';
import { GLOBAL_OPTIONS, HELP_OPTION, VERSION_OPTION } from './framework/global-options.ts';
import { CLOSING, INTRO, overviewRows } from './framework/help.ts';
import { ParsedArgs } from './framework/parsed-args.ts';
import { TOPICS } from './framework/topics.ts';
import { Screen } from './output/screen.ts';
import { NO_SERVER, runByServer, serverCommands } from './server/server-commands.ts';

type AnyCommand = Command | ServerCommand;

/** Longer lines are hard to read. */
const MAX_HELP_WIDTH = 100;

/** Runs the command line and returns its exit code. Reports every error. */
export async function run(argv: readonly string[], signal: AbortSignal): Promise<ExitCode> {
  const environment = readEnvironment();
  const screen = new Screen({ json: argv.includes('--json'), columns: environment.columns });
  try {
    return (await dispatch(argv, { screen, environment, signal })) ?? EXIT.success;
  } catch (error) {
    // An interrupted write may have taken effect, so an unknown outcome is reported even after Ctrl-C.
    if (signal.aborted && !(error instanceof UnknownOutcomeError)) return EXIT.interrupted;
    const { title, lines, exitCode, document } = explain(error);
    screen.note(`${screen.styleNote('red', 'caudal:')} ${title}`);
    for (const line of lines) screen.note(`  ${line}`);
    // With --json a program gets a document on failure too.
    if (screen.json && exitCode !== EXIT.usageError) screen.print(JSON.stringify(document));
    return signal.aborted ? EXIT.interrupted : exitCode;
  }
}

async function dispatch(argv: readonly string[], context: Context): Promise<ExitCode | undefined> {
  if (argv.includes(`--${VERSION_OPTION.name}`)) return showVersion(context);
  const operatorCommands = await serverCommands();
  const commands: readonly AnyCommand[] = [...ALL_COMMANDS, ...(operatorCommands ?? [])];
  const program: Program<AnyCommand> = {
    name: 'caudal',
    commands,
    globalOptions: GLOBAL_OPTIONS.filter((option) => option !== HELP_OPTION),
    isForwarded: ({ run: own }) => own === null,
    help: {
      width: Math.min(context.screen.width, MAX_HELP_WIDTH),
      intro: INTRO,
      helpOption: HELP_OPTION.summary,
      overview: overviewRows(commands),
      closing: operatorCommands ? CLOSING : `For operators: ${NO_SERVER}\n\n${CLOSING}`,
      groups: TOPICS,
    },
  };
  const parsed = parseArguments(program, argv);
  if (parsed.kind === 'help') return showHelp(context, commands, parsed);
  if (parsed.command.run === null) return runByServer(argv, context.environment);
  return parsed.command.run(context, new ParsedArgs(parsed.values, parsed.args));
}

function showVersion({ screen }: Context): ExitCode {
  const { version } = manifest;
  screen.result({ version }, () => `caudal ${version}`);
  return EXIT.success;
}

function showHelp(
  { screen }: Context,
  commands: readonly CommandDescription[],
  { name, text, incomplete }: Parsed<AnyCommand> & { kind: 'help' },
): ExitCode {
  const command = commands.find((each) => each.name === name);
  const shown = commands.filter((each) => name === '' || each.name.startsWith(`${name} `));
  screen.result(command ? withoutRun(command) : { commands: shown.map(withoutRun) }, () => text);
  // A group without a command exits with 2, so that a script does not take the list for a result.
  return incomplete && name !== '' ? EXIT.usageError : EXIT.success;
}

function withoutRun({ name, section, summary, options, args, examples }: CommandDescription) {
  return { name, section, summary, options, args, examples };
}
