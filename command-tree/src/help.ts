import { styleText } from 'node:util';
import { Command, Help } from 'commander';
import type { CommandDescription, HelpTexts } from './description.ts';
import { commandPath } from './usage-problem.ts';

const USAGE_INDENT = ' '.repeat('Usage: '.length);

/** Commander's help, with the usage, details and examples of our descriptions. */
export function configureHelp(
  root: Command,
  { width, overview, closing }: HelpTexts,
  describe: (command: Command) => CommandDescription | undefined,
): void {
  const rows = overview.map(({ name, summary, heading }) =>
    new Command(name).description(summary).helpGroup(heading),
  );
  root.configureOutput({ getOutHelpWidth: () => width, getErrHelpWidth: () => width }).configureHelp({
    minWidthToWrap: 20,
    styleTitle: bold,
    optionTerm: ({ flags }) => flags.replaceAll(/[<>]/g, ''),
    optionDescription: ({ description }) => description,
    subcommandTerm: (command) => commandPath(command) || command.name(),
    visibleCommands: (command) => (command === root ? rows : [...command.commands]),
    commandUsage: (command) => usageText(describe(command)?.usage ?? usageForm(command), root.name(), width),
    formatHelp: (command, helper) =>
      [
        Help.prototype.formatHelp.call(helper, command, helper).trimEnd(),
        command === root ? wrap(closing, width) : '',
        wrap(describe(command)?.details ?? '', width),
        exampleText(describe(command)?.examples ?? []),
        groupHint(command),
      ]
        .filter((part) => part !== '')
        .join('\n\n'),
  });
}

/** Commander removes the style where the terminal has no colors. */
function bold(text: string): string {
  return styleText('bold', text, { validateStream: false });
}

function wrap(text: string, width: number): string {
  return new Help().boxWrap(text, width);
}

function usageText(forms: string, program: string, width: number): string {
  // No line break within brackets, between an option and its value.
  const unbroken = forms.replaceAll(/\[[^\]]*\]/g, (part) => part.replaceAll(' ', '\0'));
  return unbroken
    .split('\n')
    .map((form) => wrap(`${program} ${form}`, width - USAGE_INDENT.length - 2).replaceAll('\0', ' '))
    .map((form) => form.replaceAll('\n', `\n${USAGE_INDENT}  `))
    .join(`\n${USAGE_INDENT}`);
}

function usageForm(command: Command): string {
  if (command.commands.length > 0) return `${commandPath(command)} COMMAND [OPTIONS]`.trim();
  const required = command.options.filter(({ mandatory }) => mandatory);
  return [
    commandPath(command),
    ...command.registeredArguments.map((arg) => (arg.required ? arg.name() : `[${arg.name()}]`)),
    ...required.map(({ flags }) => flags.replaceAll(/[<>]/g, '')),
    ...(command.options.length > required.length ? ['[OPTIONS]'] : []),
  ].join(' ');
}

/** Commands have examples in their own help. */
function groupHint({ parent, commands: [first] }: Command): string {
  if (!parent || !first) return '';
  return `Help for one command, with examples: ${parent.name()} help ${commandPath(first)}`;
}

function exampleText(examples: readonly string[]): string {
  if (examples.length === 0) return '';
  const title = bold(examples.length === 1 ? 'Example:' : 'Examples:');
  return [title, ...examples.map((line) => `  ${line}`)].join('\n');
}
