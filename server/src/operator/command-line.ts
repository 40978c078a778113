import { type Parsed, type Program, parseArguments, UsageProblem } from '@caudal/command-tree';
import { COMMON_OPTIONS, OPERATOR_COMMANDS, type OperatorCommand } from './commands.ts';
import { UsageError } from './options.ts';

/** Terminals are at least this wide, and longer lines are hard to read on wider ones. */
const WIDTH = 80;

const HEADINGS = { server: 'Server roles:', operator: 'Operator commands:' } as const;

const CLOSING = `  caudal help COMMAND     the options of a command, with an example
  caudal help GROUP       the commands of a group, such as "org"

Environment variables configure the server roles: see
docs/reference/configuration.md.
Every operator command accepts --json to print one JSON document for programs,
and every command accepts --env-file FILE to read its settings from a file.
Exit codes: 0 success, 1 failure, 2 usage error.`;

/**
 * @param author the author recorded without `--by`
 * @throws UsageError
 */
export function parseCommandLine(argv: readonly string[], author: string | null): Parsed<OperatorCommand> {
  const program: Program<OperatorCommand> = {
    name: 'caudal',
    commands: OPERATOR_COMMANDS.map((command) => withOptions(command, author ?? '')),
    globalOptions: [],
    help: {
      width: WIDTH,
      intro: 'payins, payouts and payment links on Bre-B and PSE',
      helpOption: COMMON_OPTIONS.find(({ name }) => name === 'help')?.summary ?? '',
      overview: OPERATOR_COMMANDS.map(({ name, summary, group }) => ({
        name,
        summary,
        heading: HEADINGS[group],
      })),
      closing: CLOSING,
      groups: {},
    },
  };
  try {
    return parseArguments(program, argv);
  } catch (error) {
    if (error instanceof UsageProblem) throw new UsageError(problemText(error), error.command);
    throw error;
  }
}

/** Adds the common options, and the default of `--by` to commands that make a change. */
function withOptions(command: OperatorCommand, author: string): OperatorCommand {
  const own = command.options.map((option) =>
    option.name === 'by' && command.audit !== 'none' ? { ...option, defaultValue: author } : option,
  );
  // A server role writes logs and has no result to print.
  const common = COMMON_OPTIONS.filter(
    ({ name }) => name === 'env-file' || (name === 'json' && command.group === 'operator'),
  );
  return { ...command, options: [...own, ...common] };
}

function problemText({ code, command, subject, message, suggestion }: UsageProblem): string {
  const quote = code === 'unknown_command' ? '"' : '';
  const meant = suggestion === null ? '' : ` (did you mean ${quote}${suggestion}${quote}?)`;
  switch (code) {
    case 'unknown_command':
      return `${message}${meant || siblingsText(command)}`;
    case 'missing_argument': {
      const args = OPERATOR_COMMANDS.find(({ name }) => name === command)?.args;
      return `${command} needs ${args?.find(({ name }) => name === subject)?.summary}`;
    }
    case 'surplus_argument':
      return `"${subject}" is one argument too many`;
    default:
      return `${message}${meant}`;
  }
}

function siblingsText(group: string): string {
  const siblings = OPERATOR_COMMANDS.filter(({ name }) => name.startsWith(`${group} `));
  return siblings.length === 0 ? '' : ` (${siblings.map(({ name }) => name).join(', ')})`;
}
