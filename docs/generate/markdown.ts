/** Escapes characters that Markdown would interpret as markup. */
export function plain(text: string): string {
  return text.replaceAll(/[\\*_[\]<>|#]/g, String.raw`\$&`).replaceAll('\n', ' ');
}

/** Descriptions from code are Markdown (`code`, **strong**, links): only HTML is escaped. */
export function prose(text: string | undefined): string {
  return (text ?? '').replaceAll(/`[^`]*`|</g, (found) => (found === '<' ? '&lt;' : found));
}

export function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = /^`|`$/.test(text) ? ' ' : '';
  return `${fence}${pad}${text}${pad}${fence}`;
}

export function block(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/^`{3,}/gm)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** Cells are Markdown; a pipe in a cell is escaped, because it would start the next cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('\n', ' ').replaceAll(/(?<!\\)\|/g, String.raw`\|`)).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

/** Joins the parts of a page with blank lines. */
export function parts(...texts: readonly (string | false | undefined)[]): string {
  return texts.filter((text) => text !== false && text !== undefined && text !== '').join('\n\n');
}
