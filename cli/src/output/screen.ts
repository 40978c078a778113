import { styleText } from 'node:util';
import { type Column, stripControlCharacters, tableLines } from './table.ts';

type TextStyle = Parameters<typeof styleText>[0];

/** Labeled values, one per line; empty values are omitted. */
export type Fields = readonly (readonly [string, string | null | undefined])[];

const SUCCESS_STATUSES = new Set(['CONFIRMED', 'COMPLETED', 'DELIVERED', 'ENABLED', 'SETTLED', 'FULL']);
const FAILURE_STATUSES = new Set(['DECLINED', 'FAILED', 'DISABLED', 'NONE']);
const ENDED_STATUSES = new Set(['CANCELED', 'EXPIRED']);

/**
 * Output to the user. Results go to stdout; with --json stdout contains only JSON. Notes always go to stderr.
 */
export class Screen {
  readonly json: boolean;
  readonly width: number;

  constructor(options: { readonly json: boolean; readonly columns: number | undefined }) {
    this.json = options.json;
    this.width = Math.max(40, process.stdout.columns ?? options.columns ?? 80);
  }

  /** Prints the result: a JSON document with --json, else text. */
  result(document: unknown, text: () => string): void {
    if (!this.json) this.print(text());
    else this.print(process.stdout.isTTY ? JSON.stringify(document, null, 2) : JSON.stringify(document));
  }

  /** Prints one result of a stream: with --json one document per line. */
  stream(document: unknown, text: () => string): void {
    this.print(this.json ? JSON.stringify(document) : text());
  }

  print(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** Prints a message that is not part of the result to stderr. */
  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  style(format: TextStyle, text: string): string {
    return styleText(format, text, { stream: process.stdout });
  }

  styleNote(format: TextStyle, text: string): string {
    return styleText(format, text, { stream: process.stderr });
  }

  status(status: string): string {
    if (SUCCESS_STATUSES.has(status)) return this.style('green', status);
    if (FAILURE_STATUSES.has(status)) return this.style('red', status);
    return this.style(ENDED_STATUSES.has(status) ? 'dim' : 'yellow', status);
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], none: string): string {
    if (rows.length === 0) return none;
    return tableLines(columns, rows, this.width, (text) => this.style('bold', text)).join('\n');
  }

  fields(fields: Fields): string {
    const shown = fields.filter(([, value]) => value !== null && value !== undefined && value !== '');
    const width = Math.max(...shown.map(([name]) => name.length));
    return shown
      .map(([name, value]) => `${this.style('dim', name.padEnd(width))}  ${keepStyles(value ?? '')}`)
      .join('\n');
  }
}

const STYLE = new RegExp(`(${String.fromCharCode(27)}\\[\\d+m)`);

/** Keeps our own color codes and strips other control characters, which come from API data. */
function keepStyles(text: string): string {
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : stripControlCharacters(part)))
    .join('');
}
