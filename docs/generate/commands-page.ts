import { COMMANDS } from '../../cli/src/command-list.ts';
import { EXIT_CODE_DESCRIPTIONS } from '../../cli/src/framework/exit-codes.ts';
import { GLOBAL_OPTIONS } from '../../cli/src/framework/global-options.ts';
import type { CommandDescription, OptionDescription } from '../../command-tree/src/description.ts';
import { OPERATOR_COMMANDS } from '../../server/src/operator/commands.ts';
import { block, code, parts, prose, table } from './markdown.ts';
import type { Page } from './page.ts';

const GROUPS: readonly (readonly [title: string, about: string, commands: readonly CommandDescription[]])[] =
  [
    ['For developers', 'These use the API, with an API key.', COMMANDS],
    [
      'Server roles',
      'These need the server’s configuration: run them on the server host.',
      OPERATOR_COMMANDS.filter(({ group }) => group === 'server'),
    ],
    [
      'For operators',
      'These need the database: run them on the server host. In a clone with a running `npm run dev` they use its settings.',
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
      '[Install](/docs/guides/install) the command line from your server; in a clone, type `npm run --silent caudal --` instead of `caudal`. `caudal help COMMAND` shows the same text as this page; `caudal completion bash` and `caudal completion zsh` print completion scripts.',
      '## Global options',
      list(GLOBAL_OPTIONS.map(optionText)),
      'Credentials come from the first of these that is set: `--api-key` and `--base-url`; `CAUDAL_API_KEY` and `CAUDAL_BASE_URL`; `--profile` or `CAUDAL_PROFILE`; the current profile (`caudal login`); the stack of `npm run dev`.',
      '## Exit codes',
      table(
        ['Code', 'Meaning'],
        EXIT_CODE_DESCRIPTIONS.map(([number, meaning]) => [code(number), prose(meaning)]),
      ),
      ...GROUPS.map(([title, about, commands]) => parts(`## ${title}`, about, ...commands.map(command))),
    ),
  };
}

function command({ name, summary, usage, options, args, details, examples }: CommandDescription): string {
  const items = [
    ...args.map(
      (arg) =>
        `**${code(arg.name)}** *${arg.optional === true ? 'optional' : 'required'}${choicesText(arg)}*<br>${prose(arg.summary)}`,
    ),
    ...options.map(optionText),
  ];
  const typed = usage ?? [name, ...args.map((arg) => (arg.optional ? `[${arg.name}]` : arg.name))].join(' ');
  return parts(
    `### caudal ${name}`,
    `${prose(summary).replace(/^./, (first) => first.toUpperCase())}.`,
    block(
      'txt',
      typed
        .split('\n')
        .map((line) => `caudal ${line}`)
        .join('\n'),
    ),
    prose(details),
    items.length > 0 && list(items),
    examples.length > 0 && parts('For example:', block('txt', examples.join('\n'))),
  );
}

function optionText(option: OptionDescription): string {
  const value = option.value === null ? '' : ` ${option.value}`;
  const presence = option.required === true ? 'required' : 'optional';
  return `**${code(`--${option.name}${value}`)}** *${presence}${choicesText(option)}*<br>${prose(option.summary)}`;
}

function choicesText({ choices }: { readonly choices?: readonly string[] }): string {
  return choices ? `, one of ${choices.map((each) => code(each)).join(' ')}` : '';
}

function list(items: readonly string[]): string {
  return `<div class="fields">\n\n${items.map((item) => `- ${item}`).join('\n')}\n\n</div>`;
}
