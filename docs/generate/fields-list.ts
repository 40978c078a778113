import { code, prose } from './markdown.ts';
import type { FieldRow, VariantRow } from './schema-fields.ts';
import type { Rule } from './schema-rules.ts';

/** "Required" is a duty of whoever writes a request, and a promise to whoever reads a response. */
export type Direction = 'request' | 'response';

const PRESENCE = {
  request: { yes: 'required', no: 'optional' },
  response: { yes: '', no: 'not always there' },
} as const;

/** Fields as a nested list: it can be read on a phone and as plain text, which a wide table cannot. */
export function fieldsList(rows: readonly (FieldRow | VariantRow)[], direction: Direction): string {
  let open: readonly string[] = [];
  const lines = rows.map((row) => {
    open = open.filter((parent) => row.parent.startsWith(parent));
    if (row.kind === 'variant') {
      // An alternative ends the one before it at the same place.
      open = [...open.filter((parent) => parent !== row.parent), row.parent];
      return `${indent(row.parent, open.length - 1)}- **${prose(row.label)}**`;
    }
    return `${indent(row.parent, open.length)}- ${fieldText(row, direction)}`;
  });
  return `<div class="fields">\n\n${lines.join('\n')}\n\n</div>`;
}

function indent(parent: string, variants: number): string {
  return '  '.repeat(parent.split('.').length - 1 + variants);
}

function fieldText(row: FieldRow, direction: Direction): string {
  const presence = PRESENCE[direction][row.required ? 'yes' : 'no'];
  const facts = [row.type, presence, row.deprecated ? 'deprecated' : '', ...row.rules.map(ruleText)];
  const about = row.description === undefined ? '' : `<br>${prose(row.description).replaceAll('\n', ' ')}`;
  return `**${code(row.name)}** *${facts.filter((fact) => fact !== '').join(', ')}*${about}`;
}

function ruleText({ words, literals }: Rule): string {
  // Emphasis around it ends at a star.
  return [words, ...literals.map((literal) => code(literal))].join(' ').replaceAll('*', String.raw`\*`);
}
