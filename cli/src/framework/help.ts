import type { CommandDescription, Option, Section } from './command.ts';
import { EXIT_CODE_LINES } from './exit-codes.ts';
import { GLOBAL_OPTIONS } from './global-options.ts';
import { OPERATOR_TOPICS, TOPICS } from './topics.ts';

type Bold = (text: string) => string;

const SECTIONS: readonly (readonly [Section, string])[] = [
  ['start', 'Start'],
  ['payments', 'Payments'],
  ['events', 'Events and webhooks'],
  ['testing', 'Play the payer and the bank, on staging'],
  ['operator', 'For operators, beside the server and its database'],
  ['server', 'Roles of the server'],
];

const FIRST_STEPS = `  caudal dev                                a whole Caudal on this machine
  caudal listen --trigger payin.confirmed   pay, and watch the event come
  caudal payins create --amount 49800 --qr  ask somebody for money`;

const CREDENTIALS = `The first of these that is there: --api-key and --base-url; CAUDAL_API_KEY and CAUDAL_BASE_URL;
--profile or CAUDAL_PROFILE; the profile in use (caudal login); the stack that caudal dev runs.`;

/** `caudal` alone: what there is. */
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
    ...(operatorsNote === null ? [] : [`${bold('For operators')}\n${wrapped(operatorsNote, 2, width)}`]),
    `${bold('Every command')} takes\n${optionLines(GLOBAL_OPTIONS, width).join('\n')}`,
    `${bold('Credentials')}\n${wrapped(CREDENTIALS.replaceAll('\n', ' '), 2, width)}`,
    `${bold('Exit codes')}\n${columns(EXIT_CODE_LINES, width).join('\n')}`,
    'caudal help COMMAND explains one, with examples: caudal help payins create',
  ].join('\n\n');
}

/** A line for each first word, with what can follow it. */
function sectionLines(all: readonly CommandDescription[], section: Section, width: number): string[] {
  const commands = all.filter((command) => command.section === section);
  const topics = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? name))];
  return columns(
    topics.map((topic) => {
      const alone = commands.find(({ name }) => name === topic);
      const followed = commands
        .map(({ name }) => name.split(' '))
        .filter(([first, second]) => first === topic && second !== undefined)
        .map(([, second]) => second);
      const about =
        alone?.summary ??
        (section === 'operator' ? OPERATOR_TOPICS[topic] : undefined) ??
        TOPICS[topic] ??
        '';
      return [topic, followed.length > 0 ? `${about} (${followed.join(', ')})`.trim() : about] as const;
    }),
    width,
  );
}

/** `caudal payins`: the commands that begin with a word. */
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
    `caudal help ${commands[0]?.name ?? topic} explains one, with examples`,
  ].join('\n\n');
}

/** `caudal help payins create`. */
export function commandHelp(command: CommandDescription, width: number, bold: Bold): string {
  const words = command.words.map((word) => [word.name, withChoices(word.summary, word.choices)] as const);
  const own = [...command.options].sort((a, b) => Number(b.required ?? false) - Number(a.required ?? false));
  return [
    `${bold(`caudal ${command.name}`)}: ${command.summary}`,
    `${bold('Usage')}\n  ${command.usage ?? usageOf(command)}`,
    ...(words.length === 0 ? [] : [`${bold('Words')}\n${columns(words, width).join('\n')}`]),
    ...(own.length === 0 ? [] : [`${bold('Options')}\n${optionLines(own, width).join('\n')}`]),
    ...(command.details === undefined
      ? []
      : [
          command.details
            .split('\n')
            .map((line) => wrapped(line, 0, width))
            .join('\n'),
        ]),
    ...(command.examples.length === 0
      ? []
      : [
          `${bold(command.examples.length === 1 ? 'Example' : 'Examples')}\n${command.examples.map((line) => `  ${line}`).join('\n')}`,
        ]),
  ].join('\n\n');
}

function usageOf({ name, words, options }: CommandDescription): string {
  const parts = [
    `caudal ${name}`,
    ...words.map((word) => (word.optional ? `[${word.name}]` : word.name)),
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

const LEFT_MOST = 26;

function columns(rows: readonly (readonly [string, string])[], width: number): string[] {
  const left = Math.min(LEFT_MOST, Math.max(...rows.map(([name]) => name.length)));
  return rows.flatMap(([name, text]) => {
    const lines = broken(text, Math.max(20, Math.min(width, 100) - left - 4));
    const first = name.length > left ? [`  ${name}`] : [];
    const rest = lines.map((line, index) => {
      const begin = index === 0 && first.length === 0 ? name.padEnd(left) : ' '.repeat(left);
      return `  ${begin}  ${line}`.trimEnd();
    });
    return [...first, ...rest];
  });
}

function wrapped(text: string, indent: number, width: number): string {
  return broken(text, Math.min(width, 100) - indent)
    .map((line) => ' '.repeat(indent) + line)
    .join('\n');
}

function broken(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
