import type { OverviewRow } from '@caudal/command-tree';
import type { CommandDescription, Section } from './command.ts';
import { EXIT_CODE_DESCRIPTIONS } from './exit-codes.ts';
import { OPERATOR_TOPICS, TOPICS } from './topics.ts';

const SECTIONS: readonly (readonly [Section, string])[] = [
  ['start', 'Start:'],
  ['payments', 'Payments:'],
  ['events', 'Events and webhooks:'],
  ['testing', 'Simulate payers, banks and networks (staging):'],
  ['operator', 'For operators, on the server host:'],
  ['server', 'Server roles:'],
];

export const INTRO = `payins, payouts and payment links on Bre-B and PSE

First steps:
  caudal dev                                a complete local Caudal
  caudal listen --trigger payin.confirmed   make a payment and watch its event
  caudal payins create --amount 49800 --qr  create a payin and draw its QR`;

export const CLOSING = `Credentials are the first of these that is set: --api-key and --base-url; CAUDAL_API_KEY and CAUDAL_BASE_URL; --profile or CAUDAL_PROFILE; the current profile (caudal login); the caudal dev stack.

Help for one command, with examples: caudal help payins create`;

/** One row per first word, with its subcommands; then the exit codes. */
export function overviewRows(commands: readonly CommandDescription[]): OverviewRow[] {
  const rows = SECTIONS.flatMap(([section, heading]) => {
    const those = commands.filter((command) => command.section === section);
    const names = new Set(those.map(firstWord));
    return [...names].map((name) => ({
      heading,
      name,
      summary: rowSummary(
        name,
        those.filter((command) => firstWord(command) === name),
      ),
    }));
  });
  const exitCodes = EXIT_CODE_DESCRIPTIONS.map(([name, summary]) => ({
    heading: 'Exit codes:',
    name,
    summary,
  }));
  return [...rows, ...exitCodes];
}

function firstWord({ name }: CommandDescription): string {
  return name.split(' ')[0] ?? name;
}

function rowSummary(first: string, commands: readonly CommandDescription[]): string {
  const [command] = commands;
  if (command?.name === first) return command.summary;
  const topic = (command?.section === 'operator' ? OPERATOR_TOPICS[first] : undefined) ?? TOPICS[first] ?? '';
  return `${topic} (${commands.map(({ name }) => name.split(' ')[1]).join(', ')})`;
}
