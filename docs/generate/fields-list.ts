import { code, prose } from './markdown.ts';
import type { FieldRow, VariantRow } from './schema-fields.ts';
import type { Rule } from './schema-rules.ts';

/** "Required" means that a request must contain the field, or that a response always contains it. */
export type Direction = 'request' | 'response';

const PRESENCE = {
  request: { yes: 'required', no: 'optional' },
  response: { yes: '', no: 'may be missing' },
} as const;

/** Fields as a nested list, which is readable on a phone and as plain text, unlike a wide table. */
export function fieldsList(rows: readonly (FieldRow | VariantRow)[], direction: Direction): string {
  let open: readonly string[] = [];
  const lines = rows.map((row) => {
    open = open.filter((parent) => row.parent.startsWith(parent));
    if (row.kind === 'variant') {
      // A variant ends the previous variant of the same parent.
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
  const properties = [row.type, presence, row.deprecated ? 'deprecated' : '', ...row.rules.map(ruleText)];
  const about = row.description === undefined ? '' : `<br>${prose(row.description).replaceAll('\n', ' ')}`;
  return `**${code(row.name)}** *${properties.filter((property) => property !== '').join(', ')}*${about}`;
}

function ruleText({ text, literals }: Rule): string {
  // The rule is inside *emphasis*, which an unescaped star would end.
  return [text, ...literals.map((literal) => code(literal))].join(' ').replaceAll('*', String.raw`\*`);
}
