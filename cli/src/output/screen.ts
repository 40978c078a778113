import { styleText } from 'node:util';
import { type Column, oneLine, tableLines } from './table.ts';

type Look = Parameters<typeof styleText>[0];

/** Facts under each other; those that are null are left out. */
export type Facts = readonly (readonly [string, string | null | undefined])[];

const GOOD = new Set(['CONFIRMED', 'COMPLETED', 'DELIVERED', 'ENABLED', 'SETTLED', 'FULL']);
const BAD = new Set(['DECLINED', 'FAILED', 'DISABLED', 'NONE']);
const OVER = new Set(['CANCELED', 'EXPIRED']);

/**
 * What the user sees. With --json the answer is one document on stdout and nothing else is there; words about it go to
 * stderr always.
 */
export class Screen {
  readonly json: boolean;
  readonly width: number;

  constructor(options: { readonly json: boolean; readonly columns: number | undefined }) {
    this.json = options.json;
    this.width = Math.max(40, process.stdout.columns ?? options.columns ?? 80);
  }

  /** The answer: a document for programs, or words for people. */
  answer(document: unknown, words: () => string): void {
    if (!this.json) this.print(words());
    else this.print(process.stdout.isTTY ? JSON.stringify(document, null, 2) : JSON.stringify(document));
  }

  /** One of many: a document a line. */
  stream(document: unknown, words: () => string): void {
    this.print(this.json ? JSON.stringify(document) : words());
  }

  print(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** About what is done, not the answer itself. */
  note(text: string): void {
    process.stderr.write(`${text}\n`);
  }

  style(look: Look, text: string): string {
    return styleText(look, text, { stream: process.stdout });
  }

  styleNote(look: Look, text: string): string {
    return styleText(look, text, { stream: process.stderr });
  }

  status(status: string): string {
    if (GOOD.has(status)) return this.style('green', status);
    if (BAD.has(status)) return this.style('red', status);
    return this.style(OVER.has(status) ? 'dim' : 'yellow', status);
  }

  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], none: string): string {
    if (rows.length === 0) return none;
    return tableLines(columns, rows, this.width, (text) => this.style('bold', text)).join('\n');
  }

  facts(facts: Facts): string {
    const shown = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
    const width = Math.max(...shown.map(([name]) => name.length));
    return shown
      .map(([name, value]) => `${this.style('dim', name.padEnd(width))}  ${keepStyles(value ?? '')}`)
      .join('\n');
  }
}

const STYLE = new RegExp(`(${String.fromCharCode(27)}\\[\\d+m)`);

/** Colours of ours stay; other control characters, which come from outside, do not. */
function keepStyles(text: string): string {
  return text
    .split(STYLE)
    .map((part, index) => (index % 2 === 1 ? part : oneLine(part)))
    .join('');
}
