export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly align?: 'right';
  /** May be cut to this many characters where room is short; others are shown whole or not at all. */
  readonly least?: number;
  /** Left out first where room is short, the highest number before the others; without one it always stays. */
  readonly spare?: number;
  readonly style?: (row: Row, text: string) => string;
}

const GAP = 2;
/** What a column that may be cut should have before others are left out for it. */
const COMFORT = 24;

interface Sized<Row> extends Column<Row> {
  readonly width: number;
}

/** Rows under titles, in no more than `width` columns. */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
  title: (text: string) => string,
): string[] {
  const shown = fitted(columns, rows, width);
  const line = (cells: readonly string[]) => cells.join(' '.repeat(GAP)).trimEnd();
  const head = shown.map((column, index) =>
    padded(column, cut(column.title, column.width), index === shown.length - 1),
  );
  const body = rows.map((row) =>
    shown.map((column, index) => {
      const text = cut(oneLine(column.text(row)), column.width);
      const cell = padded(column, text, index === shown.length - 1);
      return column.style ? cell.replace(text, () => column.style?.(row, text) ?? text) : cell;
    }),
  );
  return [title(line(head)), ...body.map(line)];
}

function fitted<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): Sized<Row>[] {
  let kept: Sized<Row>[] = columns
    .filter((column) => column.spare === undefined || rows.some((row) => column.text(row) !== ''))
    .map((column) => ({ ...column, width: natural(column, rows) }));
  const total = () => kept.reduce((sum, column) => sum + column.width + GAP, -GAP);
  // A reference that can be read is worth more than a further column.
  const comfort = () =>
    kept.reduce(
      (sum, column) => sum + Math.min(column.width, Math.max(column.least ?? column.width, COMFORT)) + GAP,
      -GAP,
    );
  while (comfort() > width && kept.some((column) => column.spare !== undefined)) {
    const most = Math.max(...kept.map((column) => column.spare ?? -1));
    kept = kept.filter((column) => column.spare !== most);
  }
  for (let over = total() - width; over > 0; over = total() - width) {
    const room = (column: Sized<Row>) => column.width - Math.min(column.least ?? column.width, column.width);
    const widest = kept.reduce((best, column) => (room(column) > room(best) ? column : best));
    if (room(widest) === 0) break;
    kept = kept.map((column) =>
      column === widest ? { ...column, width: column.width - Math.min(over, room(column)) } : column,
    );
  }
  return kept;
}

function natural<Row>(column: Column<Row>, rows: readonly Row[]): number {
  return Math.max(column.title.length, ...rows.map((row) => Array.from(oneLine(column.text(row))).length));
}

/** What others wrote, references and descriptions, must not move the cursor or break the table. */
export function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

export function cut(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

function padded<Row>({ align, width }: Sized<Row>, text: string, last: boolean): string {
  const space = ' '.repeat(Math.max(0, width - Array.from(text).length));
  if (align === 'right') return space + text;
  return last ? text : text + space;
}
