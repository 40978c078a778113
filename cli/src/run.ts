import { ALL_COMMANDS } from './all-commands.ts';
import { readEnvironment } from './connection/environment.ts';
import type { CommandDescription, Context } from './framework/command.ts';
import { UnknownOutcomeError, UsageError } from './framework/errors.ts';
import { EXIT, type ExitCode } from './framework/exit-codes.ts';
import { explain } from './framework/explain.ts';
import { commandHelp, overview, topicHelp } from './framework/help.ts';
import { nearest } from './framework/nearest.ts';
import { findCommand, findPositionals, parseArgs } from './framework/parse.ts';
import { Screen } from './output/screen.ts';
import { NO_SERVER, runByServer, serverCommands } from './server/server-commands.ts';

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
  const [first, ...others] = findPositionals(argv).map(({ text }) => text);
  if (first === undefined || first === 'help') return help(context, others, argv);
  const named = findCommand(ALL_COMMANDS, argv);
  if (named) {
    const args = parseArgs(named.command, named.rest);
    if (args.flag('help')) return showHelp(context, named.command);
    return named.command.run(context, args);
  }
  const operatorCommands = (await serverCommands()) ?? [];
  const operatorMatch = findCommand(operatorCommands, argv);
  if (operatorMatch) {
    if (/^(?:--help|-h)$/.test(operatorMatch.rest.find((arg) => /^(?:--help|-h)$/.test(arg)) ?? ''))
      return showHelp(context, operatorMatch.command);
    return runByServer(argv, context.environment);
  }
  const topic = [...ALL_COMMANDS, ...operatorCommands].filter(({ name }) => name.startsWith(`${first} `));
  if (topic.length > 0 && others.length === 0) {
    showTopic(context, first, topic);
    // Without --help the command is incomplete: exit 2, so that a script does not take the list for a result.
    return argv.some((arg) => arg === '--help' || arg === '-h') ? EXIT.success : EXIT.usageError;
  }
  throw unknownCommand([...ALL_COMMANDS, ...operatorCommands], first, others, topic.length > 0);
}

/** Names that other CLIs use for our subcommands; edit distance would not find them. */
const SYNONYMS: Readonly<Record<string, string>> = {
  show: 'get',
  view: 'get',
  ls: 'list',
  add: 'create',
  new: 'create',
  edit: 'update',
  set: 'update',
  change: 'update',
  rm: 'delete',
  remove: 'delete',
  resend: 'replay',
};

function unknownCommand(
  commands: readonly CommandDescription[],
  first: string,
  others: readonly string[],
  knownTopic: boolean,
): UsageError {
  const names = [...commands.map(({ name }) => name), 'help'];
  const typed = [first, ...others.slice(0, 1)].join(' ');
  const within = knownTopic ? names.filter((name) => name.startsWith(`${first} `)) : names;
  const firsts = [...new Set(names.map((name) => name.split(' ')[0] ?? name))];
  const other = `${first} ${SYNONYMS[others[0] ?? '']}`;
  const meant =
    within.find((name) => name === other) ??
    nearest(typed, within) ??
    (knownTopic ? null : nearest(first, firsts));
  return new UsageError(`unknown command "${knownTopic ? typed : first}"`, [
    ...(meant === null ? [] : [`Did you mean: caudal ${meant}`]),
    knownTopic ? `See: caudal ${first} --help` : 'See: caudal help',
  ]);
}

async function help(
  context: Context,
  positionals: readonly string[],
  argv: readonly string[],
): Promise<ExitCode> {
  const { screen } = context;
  const operatorCommands = await serverCommands();
  const all: readonly CommandDescription[] = [...ALL_COMMANDS, ...(operatorCommands ?? [])];
  if (positionals.length === 0) {
    const unknown = argv.find((arg) => arg.startsWith('-') && !/^(?:--help|-h|--json)$/.test(arg));
    if (unknown !== undefined && argv[0] !== 'help')
      throw new UsageError(`unknown option ${unknown}`, ['See: caudal help']);
    const bold = (text: string) => screen.style('bold', text);
    screen.result({ commands: all.map(withoutRun) }, () =>
      overview(all, operatorCommands ? null : NO_SERVER, screen.width, bold),
    );
    return EXIT.success;
  }
  const command = findCommand(all, positionals)?.command;
  if (command) return showHelp(context, command);
  const topic = all.filter(({ name }) => name.startsWith(`${positionals[0]} `));
  if (topic.length > 0 && positionals.length === 1) showTopic(context, positionals[0] ?? '', topic);
  else throw unknownCommand(all, positionals[0] ?? '', positionals.slice(1), topic.length > 0);
  return EXIT.success;
}

function showHelp({ screen }: Context, command: CommandDescription): ExitCode {
  screen.result(withoutRun(command), () =>
    commandHelp(command, screen.width, (text) => screen.style('bold', text)),
  );
  return EXIT.success;
}

function showTopic({ screen }: Context, topic: string, commands: readonly CommandDescription[]): void {
  const bold = (text: string) => screen.style('bold', text);
  screen.result({ commands: commands.map(withoutRun) }, () => topicHelp(topic, commands, screen.width, bold));
}

function withoutRun({ name, section, summary, options, args, examples }: CommandDescription) {
  return { name, section, summary, options, args, examples };
}
