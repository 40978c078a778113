import type { CommandDescription } from '../../cli/src/command.ts';
import { EXIT_CODE_LINES } from '../../cli/src/exit-codes.ts';
import { GLOBAL_OPTIONS } from '../../cli/src/global-options.ts';
import { COMMANDS } from '../../cli/src/tree.ts';
import { OPERATOR_COMMANDS } from '../../server/src/operator/commands.ts';
import { block, code, parts, prose, table } from './markdown.ts';
import type { Page } from './page.ts';

/** What both trees, the developers' and the server's, say of a command. */
type Shown = Pick<CommandDescription, 'name' | 'summary' | 'options' | 'words'> & {
  readonly usage?: string;
  readonly details?: string;
  readonly examples?: readonly string[];
};

const GROUPS: readonly (readonly [title: string, about: string, commands: readonly Shown[]])[] = [
  ['For developers', 'Through the API, with a key.', COMMANDS],
  [
    'Roles of the server',
    'These need the server’s configuration: run them beside it.',
    OPERATOR_COMMANDS.filter(({ group }) => group === 'server'),
  ],
  [
    'For operators',
    'These need the database: run them beside the server. In a clone whose `npm run dev` is up they find its settings by themselves.',
    OPERATOR_COMMANDS.filter(({ group }) => group === 'operator'),
  ],
];

export function commandsPage(): Page {
  return {
    slug: 'reference/commands',
    title: 'Command line',
    description: 'Every command of caudal.',
    settings: { tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 2 } },
    body: parts(
      'In a clone: `npx caudal …`. `caudal help COMMAND` says the same as this page; `caudal completion bash` and `caudal completion zsh` print completion for your shell.',
      '## Every command takes',
      list(GLOBAL_OPTIONS.map(optionText)),
      'Credentials are the first of these that is there: `--api-key` and `--base-url`; `CAUDAL_API_KEY` and `CAUDAL_BASE_URL`; `--profile` or `CAUDAL_PROFILE`; the profile in use (`caudal login`); the stack that `npm run dev` runs.',
      '## Exit codes',
      table(
        ['Code', 'Meaning'],
        EXIT_CODE_LINES.map(([number, meaning]) => [code(number), prose(meaning)]),
      ),
      ...GROUPS.map(([title, about, commands]) => parts(`## ${title}`, about, ...commands.map(command))),
    ),
  };
}

function command({ name, summary, usage, options, words, details, examples }: Shown): string {
  const items = [
    ...words.map(
      (word) =>
        `**${code(word.name)}** *${word.optional === true ? 'optional' : 'required'}${choicesText(word)}*<br>${prose(word.summary)}`,
    ),
    ...options.map(optionText),
  ];
  const typed =
    usage ?? [name, ...words.map((word) => (word.optional ? `[${word.name}]` : word.name))].join(' ');
  return parts(
    `### caudal ${name}`,
    `${prose(summary).replace(/^./, (first) => first.toUpperCase())}.`,
    block(
      'txt',
      typed
        .split('\n')
        .map((line) => `caudal ${line.trim().replace(/^caudal /, '')}`)
        .join('\n'),
    ),
    prose(details),
    items.length > 0 && list(items),
    examples && examples.length > 0 && parts('For example:', block('txt', examples.join('\n'))),
  );
}

function optionText(option: Shown['options'][number]): string {
  const value = option.value === null ? '' : ` ${option.value}`;
  const duty = option.required === true ? 'required' : 'optional';
  return `**${code(`--${option.name}${value}`)}** *${duty}${choicesText(option)}*<br>${prose(option.summary)}`;
}

function choicesText({ choices }: { readonly choices?: readonly string[] }): string {
  return choices ? `, one of ${choices.map((each) => code(each)).join(' ')}` : '';
}

function list(items: readonly string[]): string {
  return `<div class="fields">\n\n${items.map((item) => `- ${item}`).join('\n')}\n\n</div>`;
}
