import {
  COMMON_OPTIONS,
  type CommandDescription,
  OPERATOR_COMMANDS,
  type OptionDescription,
} from './commands.ts';

/** Terminals are at least this wide, and longer lines are hard to read on wider ones. */
const WIDTH = 80;

/** The whole tree, a line for each command. */
export function overallHelp(): string {
  return `caudal: payins, payouts and payment links on Bre-B and PSE

Roles of the server, configured by the environment (docs/reference/configuration.md)
${listing(OPERATOR_COMMANDS.filter(({ group }) => group === 'server'))}

Commands for operators
${listing(OPERATOR_COMMANDS.filter(({ group }) => group === 'operator'))}

  caudal help COMMAND     a command's options, with an example
  caudal help GROUP       the commands that begin with a word, such as "org"

Every command for operators takes --json to print one JSON document for programs,
and every command takes --env-file FILE to read its settings from a file.
Exit codes: 0 done, 1 failed, 2 not understood.
`;
}

/** The commands that begin with a word; null when none does. */
export function groupHelp(word: string): string | null {
  const commands = commandsOf(word);
  if (commands.length === 0) return null;
  return `${listing(commands)}\n\n  caudal help ${commands[0]?.name ?? word}     its options, with an example\n`;
}

export function commandsOf(word: string): (typeof OPERATOR_COMMANDS)[number][] {
  return OPERATOR_COMMANDS.filter(({ name }) => name.startsWith(`${word} `));
}

export function commandHelp(command: CommandDescription): string {
  const parts = [
    `caudal ${command.name}: ${command.summary}`,
    command.usage.split('\n').flatMap(usageLines).join('\n'),
    columns([
      ...command.words.map(({ name, summary }) => [name, summary] as const),
      ...[...command.options, ...commonOptions(command)].map(optionLine),
    ]),
    ...(command.details === undefined ? [] : [wrapped(command.details, WIDTH).join('\n')]),
    ...(command.examples === undefined ? [] : [exampleText(command.examples)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** What this command takes beside its own options. */
export function commonOptions({ group }: CommandDescription): OptionDescription[] {
  // A role logs; it has no result to print.
  return COMMON_OPTIONS.filter(({ name }) => group === 'operator' || name !== 'json');
}

/** An option and its value stay together, at the end of a line too. */
function usageLines(usage: string): string[] {
  const together = usage.replaceAll(/(\[[^\]]*\]|--[a-z-]+ [^-[\s]\S*)/g, (part) =>
    part.replaceAll(' ', '\u00a0'),
  );
  return wrapped(`caudal ${together}`, WIDTH - 6).map((line, index) =>
    `${index === 0 ? '  ' : '      '}${line}`.replaceAll('\u00a0', ' '),
  );
}

function optionLine({
  name,
  value,
  summary,
  required,
  choices,
}: OptionDescription): readonly [string, string] {
  const offered = choices ? `; one of ${choices.join(', ')}` : '';
  return [
    `--${name}${value === null ? '' : ` ${value}`}`,
    `${summary}${offered}${required ? ' (required)' : ''}`,
  ];
}

function exampleText(examples: readonly string[]): string {
  return `${examples.length === 1 ? 'Example' : 'Examples'}\n${examples.map((line) => `  ${line}`).join('\n')}`;
}

function listing(commands: readonly CommandDescription[]): string {
  return columns(commands.map(({ name, summary }) => [name, summary] as const));
}

/** Two columns, the second wrapped beside the first. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(18, ...rows.map(([left]) => left.length)) + 2;
  return rows
    .flatMap(([left, right]) =>
      wrapped(right, WIDTH - width - 2).map(
        (line, index) => `  ${(index === 0 ? left : '').padEnd(width)}${line}`,
      ),
    )
    .join('\n');
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
