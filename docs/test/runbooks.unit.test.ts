import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ALERT_GROUPS } from '../../deploy/monitoring/alerts/alert-groups.ts';
import { OPERATOR_COMMANDS } from '../../server/src/operator/commands.ts';

const read = (page: string) => readFileSync(new URL(`../operating/${page}.md`, import.meta.url), 'utf8');
const PAGES = ALERT_GROUPS.map((group) => ({ group, text: read(`runbooks/${group.name}`) }));
/** Options of every command. */
const COMMON = ['json', 'env-file'];

function commandProblem(line: string): string | null {
  const words = line.replace(/^caudal /, '').split(' ');
  const command = OPERATOR_COMMANDS.toSorted((a, b) => b.name.length - a.name.length).find(({ name }) =>
    `${words.join(' ')} `.startsWith(`${name} `),
  );
  if (!command) return `${line}: no such command`;
  const known = [...COMMON, ...command.options.map(({ name }) => name)];
  const unknown = words.filter((word) => word.startsWith('--') && !known.includes(word.slice(2)));
  return unknown.length === 0 ? null : `${line}: no option ${unknown.join(', ')}`;
}

describe('runbooks', () => {
  it.each(PAGES)('$group.name has a section for each alert and no other', ({ group, text }) => {
    const sections = [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1]);
    expect(sections).toEqual(group.alerts.map(({ name }) => name));
  });

  it.each(PAGES)('$group.name says what each alert means, what to do and when it ends', ({ text }) => {
    for (const section of text.split(/^## /m).slice(1)) {
      const parts = [...section.matchAll(/^- \*\*(.+?):\*\* \S/gm)].map((match) => match[1]);
      expect(parts).toEqual(['Means', 'Look at', 'Do', 'Ends']);
    }
  });

  it.each(PAGES)('$group.name names existing commands with existing options', ({ text }) => {
    const commands = [...text.matchAll(/`(caudal [^`]+)`/g)].map((match) => match[1] ?? '');
    expect(commands.length).toBeGreaterThan(0);
    expect(commands.map(commandProblem).filter((problem) => problem !== null)).toEqual([]);
  });

  it('rejects commands and options that do not exist', () => {
    expect(commandProblem('caudal rails stop')).toContain('no such command');
    expect(commandProblem('caudal rails list --rail PSE')).toContain('no option --rail');
  });

  it('are linked from the list of alerts, with the severity of each', () => {
    const rows = [...read('monitoring').matchAll(/^\| \[(Caudal\w+)\]\((.+?)\) \| (\w+) \| (\w+) \|/gm)];
    const expected = ALERT_GROUPS.flatMap((group) =>
      group.alerts.map((alert) => [
        alert.name,
        `runbooks/${group.name}.md#${alert.name.toLowerCase()}`,
        alert.severity,
        alert.for,
      ]),
    );
    expect(rows.map(([, ...cells]) => cells)).toEqual(expected);
  });
});
