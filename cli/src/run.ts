import { ALL_COMMANDS } from './all-commands.ts';
import type { CommandDescription, Context } from './command.ts';
import { readEnvironment } from './environment.ts';
import { UnknownOutcome, UsageError } from './errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { explain } from './explain.ts';
import { commandHelp, overview, topicHelp } from './help.ts';
import { nearest } from './nearest.ts';
import { findCommand, parseArgs, wordsOf } from './parse.ts';
import { Screen } from './screen.ts';
import { NO_SERVER, runByServer, serverCommands } from './server-commands.ts';

/** From what was typed to an exit code; everything that goes wrong is told here. */
export async function run(argv: readonly string[], signal: AbortSignal): Promise<ExitCode> {
  const environment = readEnvironment();
  const screen = new Screen({ json: argv.includes('--json'), columns: environment.columns });
  try {
    return (await carryOut(argv, { screen, environment, signal })) ?? EXIT.done;
  } catch (error) {
    // Interrupted in the middle of a write, the user must still hear that it may have taken effect.
    if (signal.aborted && !(error instanceof UnknownOutcome)) return EXIT.interrupted;
    const { title, lines, exitCode, document } = explain(error);
    screen.note(`${screen.styleNote('red', 'caudal:')} ${title}`);
    for (const line of lines) screen.note(`  ${line}`);
    // A program that asked for a document gets one, whatever came of it.
    if (screen.json && exitCode !== EXIT.notUnderstood) screen.print(JSON.stringify(document));
    return signal.aborted ? EXIT.interrupted : exitCode;
  }
}

async function carryOut(argv: readonly string[], context: Context): Promise<ExitCode | undefined> {
  const [first, ...others] = wordsOf(argv).map(({ text }) => text);
  if (first === undefined || first === 'help') return help(context, others, argv);
  const named = findCommand(ALL_COMMANDS, argv);
  if (named) {
    const args = parseArgs(named.command, named.rest);
    if (args.flag('help')) return showHelp(context, named.command);
    return named.command.run(context, args);
  }
  const servers = (await serverCommands()) ?? [];
  const operators = findCommand(servers, argv);
  if (operators) {
    if (/^(?:--help|-h)$/.test(operators.rest.find((word) => /^(?:--help|-h)$/.test(word)) ?? ''))
      return showHelp(context, operators.command);
    return runByServer(argv, context.environment);
  }
  const topic = [...ALL_COMMANDS, ...servers].filter(({ name }) => name.startsWith(`${first} `));
  if (topic.length > 0 && others.length === 0) {
    showTopic(context, first, topic);
    // Without --help it is half a command: a script must not take the list for its answer.
    return argv.some((word) => word === '--help' || word === '-h') ? EXIT.done : EXIT.notUnderstood;
  }
  throw unknownCommand([...ALL_COMMANDS, ...servers], first, others, topic.length > 0);
}

/** What other programs call it: to the edit distance they are strangers. */
const CALLED_ELSEWHERE: Readonly<Record<string, string>> = {
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
  const other = `${first} ${CALLED_ELSEWHERE[others[0] ?? '']}`;
  const meant =
    within.find((name) => name === other) ??
    nearest(typed, within) ??
    (knownTopic ? null : nearest(first, firsts));
  return new UsageError(`there is no command "${knownTopic ? typed : first}"`, [
    ...(meant === null ? [] : [`Did you mean: caudal ${meant}`]),
    knownTopic ? `See: caudal ${first} --help` : 'See: caudal help',
  ]);
}

async function help(context: Context, words: readonly string[], argv: readonly string[]): Promise<ExitCode> {
  const { screen } = context;
  const servers = await serverCommands();
  const all: readonly CommandDescription[] = [...ALL_COMMANDS, ...(servers ?? [])];
  if (words.length === 0) {
    const unknown = argv.find((word) => word.startsWith('-') && !/^(?:--help|-h|--json)$/.test(word));
    if (unknown !== undefined && argv[0] !== 'help')
      throw new UsageError(`caudal alone has no option ${unknown}`, ['See: caudal help']);
    const bold = (text: string) => screen.style('bold', text);
    screen.answer({ commands: all.map(withoutRun) }, () =>
      overview(all, servers ? null : NO_SERVER, screen.width, bold),
    );
    return EXIT.done;
  }
  const command = findCommand(all, words)?.command;
  if (command) return showHelp(context, command);
  const topic = all.filter(({ name }) => name.startsWith(`${words[0]} `));
  if (topic.length > 0 && words.length === 1) showTopic(context, words[0] ?? '', topic);
  else throw unknownCommand(all, words[0] ?? '', words.slice(1), topic.length > 0);
  return EXIT.done;
}

function showHelp({ screen }: Context, command: CommandDescription): ExitCode {
  screen.answer(withoutRun(command), () =>
    commandHelp(command, screen.width, (text) => screen.style('bold', text)),
  );
  return EXIT.done;
}

function showTopic({ screen }: Context, topic: string, commands: readonly CommandDescription[]): void {
  const bold = (text: string) => screen.style('bold', text);
  screen.answer({ commands: commands.map(withoutRun) }, () => topicHelp(topic, commands, screen.width, bold));
}

function withoutRun({ name, section, summary, options, words, examples }: CommandDescription) {
  return { name, section, summary, options, words, examples };
}
