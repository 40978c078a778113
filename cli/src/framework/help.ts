import type { CommandDescription, Option, Section } from './command.ts';
import { EXIT_CODE_DESCRIPTIONS } from './exit-codes.ts';
import { GLOBAL_OPTIONS } from './global-options.ts';
import { OPERATOR_TOPICS, TOPICS } from './topics.ts';

type Bold = (text: string) => string;

const SECTIONS: readonly (readonly [Section, string])[] = [
  ['start', 'Start'],
  ['payments', 'Payments'],
  ['events', 'Events and webhooks'],
  ['testing', 'Simulate payers, banks and networks (staging)'],
  ['operator', 'For operators, on the server host'],
  ['server', 'Server roles'],
];

const FIRST_STEPS = `  caudal dev                                a complete local Caudal
  caudal listen --trigger payin.confirmed   make a payment and watch its event
  caudal payins create --amount 49800 --qr  create a payin and draw its QR`;

const CREDENTIALS = `The first of these that is set: --api-key and --base-url; CAUDAL_API_KEY and CAUDAL_BASE_URL;
--profile or CAUDAL_PROFILE; the current profile (caudal login); the caudal dev stack.`;

/** Help for `caudal` without arguments. */
export function overview(
  commands: readonly CommandDescription[],
  operatorsNote: string | null,
  width: number,
  bold: Bold,
): string {
  const parts = SECTIONS.flatMap(([section, title]) => {
    const lines = sectionLines(commands, section, width);
    return lines.length === 0 ? [] : [`${bold(title)}\n${lines.join('\n')}`];
  });
  return [
    `${bold('caudal')}: payins, payouts and payment links on Bre-B and PSE`,
    `${bold('First steps')}\n${FIRST_STEPS}`,
    ...parts,
    ...(operatorsNote === null ? [] : [`${bold('For operators')}\n${wrapText(operatorsNote, 2, width)}`]),
    `${bold('Global options')}\n${optionLines(GLOBAL_OPTIONS, width).join('\n')}`,
    `${bold('Credentials')}\n${wrapText(CREDENTIALS.replaceAll('\n', ' '), 2, width)}`,
    `${bold('Exit codes')}\n${columns(EXIT_CODE_DESCRIPTIONS, width).join('\n')}`,
    'Help for one command, with examples: caudal help payins create',
  ].join('\n\n');
}

/** One line per first word, with its subcommands. */
function sectionLines(all: readonly CommandDescription[], section: Section, width: number): string[] {
  const commands = all.filter((command) => command.section === section);
  const topics = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))];
  return columns(
    topics.map((topic) => {
      const single = commands.find(({ name }) => name === topic);
      const subcommands = commands
        .map(({ name }) => name.split(' '))
        .filter(([first, second]) => first === topic && second !== undefined)
        .map(([, second]) => second);
      const summary =
        single?.summary ??
        (section === 'operator' ? OPERATOR_TOPICS[topic] : undefined) ??
        TOPICS[topic] ??
        '';
      return [
        topic,
        subcommands.length > 0 ? `${summary} (${subcommands.join(', ')})`.trim() : summary,
      ] as const;
    }),
    width,
  );
}

/** Help for `caudal payins`: the commands with this first word. */
export function topicHelp(
  topic: string,
  commands: readonly CommandDescription[],
  width: number,
  bold: Bold,
): string {
  const title = TOPICS[topic] ?? commands[0]?.summary ?? '';
  const lines = columns(
    commands.map((command) => [command.name, command.summary] as const),
    width,
  );
  const example = commands.find(({ examples }) => examples.length > 0)?.examples[0];
  return [
    `${bold(`caudal ${topic}`)}: ${title}`,
    lines.join('\n'),
    ...(example === undefined ? [] : [`${bold('Example')}\n  ${example}`]),
    `Help for one command, with examples: caudal help ${commands[0]?.name ?? topic}`,
  ].join('\n\n');
}

/** Help for one command: `caudal help payins create`. */
export function commandHelp(command: CommandDescription, width: number, bold: Bold): string {
  const args = command.args.map((arg) => [arg.name, withChoices(arg.summary, arg.choices)] as const);
  const own = [...command.options].sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false));
  return [
    `${bold(`caudal ${command.name}`)}: ${command.summary}`,
    `${bold('Usage')}\n  ${command.usage ?? usageLine(command)}`,
    ...(args.length === 0 ? [] : [`${bold('Arguments')}\n${columns(args, width).join('\n')}`]),
    ...(own.length === 0 ? [] : [`${bold('Options')}\n${optionLines(own, width).join('\n')}`]),
    ...(command.details === undefined
      ? []
      : [
          command.details
            .split('\n')
            .map((line) => wrapText(line, 0, width))
            .join('\n'),
        ]),
    ...(command.examples.length === 0
      ? []
      : [
          `${bold(command.examples.length === 1 ? 'Example' : 'Examples')}\n${command.examples.map((line) => `  ${line}`).join('\n')}`,
        ]),
  ].join('\n\n');
}

function usageLine({ name, args, options }: CommandDescription): string {
  const parts = [
    `caudal ${name}`,
    ...args.map((arg) => (arg.optional ? `[${arg.name}]` : arg.name)),
    ...options
      .filter(({ required }) => required)
      .map((option) => `--${option.name} ${option.value ?? ''}`.trim()),
    ...(options.some(({ required }) => !required) ? ['[OPTIONS]'] : []),
  ];
  return parts.join(' ');
}

function optionLines(options: readonly Option[], width: number): string[] {
  return columns(
    options.map((option) => {
      const short = option.short ? `-${option.short}, ` : '';
      const value = option.value === null ? '' : ` ${option.value}`;
      return [`${short}--${option.name}${value}`, withChoices(option.summary, option.choices)] as const;
    }),
    width,
  );
}

function withChoices(summary: string, choices: readonly string[] | undefined): string {
  return choices === undefined || choices.length === 0 ? summary : `${summary} (${choices.join(', ')})`;
}

const MAX_LEFT_WIDTH = 26;

function columns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const left = Math.min(MAX_LEFT_WIDTH, Math.max(...rows.map(([name]) => name.length)));
  return rows.flatMap(([name, text]) => {
    const lines = wrapLines(text, Math.max(20, Math.min(width, 100) - left - 4));
    const first = name.length > left ? [`  ${name}`] : [];
    const rest = lines.map((line, index) => {
      const prefix = index === 0 && first.length === 0 ? name.padEnd(left) : ' '.repeat(left);
      return `  ${prefix}  ${line}`.trimEnd();
    });
    return [...first, ...rest];
  });
}

function wrapText(text: string, indent: number, width: number): string {
  return wrapLines(text, Math.min(width, 100) - indent)
    .map((line) => ' '.repeat(indent) + line)
    .join('\n');
}

function wrapLines(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
