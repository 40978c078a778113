import {
  COMMON_OPTIONS,
  type CommandDescription,
  OPERATOR_COMMANDS,
  type OptionDescription,
} from './commands.ts';

/** Terminals are at least this wide, and longer lines are hard to read on wider ones. */
const WIDTH = 80;

/** All commands, one line each. */
export function overallHelp(): string {
  return `caudal: payins, payouts and payment links on Bre-B and PSE

Server roles, configured by environment variables (docs/reference/configuration.md)
${listing(OPERATOR_COMMANDS.filter(({ group }) => group === 'server'))}

Operator commands
${listing(OPERATOR_COMMANDS.filter(({ group }) => group === 'operator'))}

  caudal help COMMAND     the options of a command, with an example
  caudal help GROUP       the commands of a group, such as "org"

Every operator command accepts --json to print one JSON document for programs,
and every command accepts --env-file FILE to read its settings from a file.
Exit codes: 0 success, 1 failure, 2 usage error.
`;
}

/** The commands of a group, such as `org`; null when there is no such group. */
export function groupHelp(group: string): string | null {
  const commands = commandsInGroup(group);
  if (commands.length === 0) return null;
  return `${listing(commands)}\n\n  caudal help ${commands[0]?.name ?? group}     its options, with an example\n`;
}

export function commandsInGroup(group: string): (typeof OPERATOR_COMMANDS)[number][] {
  return OPERATOR_COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
}

export function commandHelp(command: CommandDescription): string {
  const parts = [
    `caudal ${command.name}: ${command.summary}`,
    command.usage.split('\n').flatMap(usageLines).join('\n'),
    columns([
      ...command.args.map(({ name, summary }) => [name, summary] as const),
      ...[...command.options, ...commonOptions(command)].map(optionLine),
    ]),
    ...(command.details === undefined ? [] : [wrapped(command.details, WIDTH).join('\n')]),
    ...(command.examples === undefined ? [] : [exampleText(command.examples)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The common options that a command accepts. */
export function commonOptions({ group }: CommandDescription): OptionDescription[] {
  // A server role writes logs and has no result to print.
  return COMMON_OPTIONS.filter(({ name }) => group === 'operator' || name !== 'json');
}

/** Wraps the usage without breaking between an option and its value. */
function usageLines(usage: string): string[] {
  const unbreakable = usage.replaceAll(/(\[[^\]]*\]|--[a-z-]+ [^-[\s]\S*)/g, (part) =>
    part.replaceAll(' ', '\u00a0'),
  );
  return wrapped(`caudal ${unbreakable}`, WIDTH - 6).map((line, index) =>
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
  const choiceText = choices ? `; one of ${choices.join(', ')}` : '';
  return [
    `--${name}${value === null ? '' : ` ${value}`}`,
    `${summary}${choiceText}${required ? ' (required)' : ''}`,
  ];
}

function exampleText(examples: readonly string[]): string {
  return `${examples.length === 1 ? 'Example' : 'Examples'}\n${examples.map((line) => `  ${line}`).join('\n')}`;
}

function listing(commands: readonly CommandDescription[]): string {
  return columns(commands.map(({ name, summary }) => [name, summary] as const));
}

/** Two columns; the second is wrapped. */
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
