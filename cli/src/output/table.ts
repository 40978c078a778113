export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly align?: 'right';
  /** The column may be truncated to this width; columns without it are never truncated. */
  readonly minWidth?: number;
  /** Columns that do not fit are dropped, highest number first; columns without it are never dropped. */
  readonly dropOrder?: number;
  readonly style?: (row: Row, text: string) => string;
}

const GAP = 2;
/** Width a truncatable column keeps before other columns are dropped for it. */
const COMFORTABLE_WIDTH = 24;

interface Sized<Row> extends Column<Row> {
  readonly width: number;
}

/** Formats rows under column titles, in at most `width` characters. */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
  title: (text: string) => string,
): string[] {
  const shown = fitColumns(columns, rows, width);
  const line = (cells: readonly string[]) => cells.join(' '.repeat(GAP)).trimEnd();
  const head = shown.map((column, index) =>
    padCell(column, truncate(column.title, column.width), index === shown.length - 1),
  );
  const body = rows.map((row) =>
    shown.map((column, index) => {
      const text = truncate(stripControlCharacters(column.text(row)), column.width);
      const cell = padCell(column, text, index === shown.length - 1);
      return column.style ? cell.replace(text, () => column.style?.(row, text) ?? text) : cell;
    }),
  );
  return [title(line(head)), ...body.map(line)];
}

function fitColumns<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width: number): Sized<Row>[] {
  let visible: Sized<Row>[] = columns
    .filter((column) => column.dropOrder === undefined || rows.some((row) => column.text(row) !== ''))
    .map((column) => ({ ...column, width: naturalWidth(column, rows) }));
  const total = () => visible.reduce((sum, column) => sum + column.width + GAP, -GAP);
  // A readable reference is worth more than another column.
  const comfortableTotal = () =>
    visible.reduce(
      (sum, column) =>
        sum + Math.min(column.width, Math.max(column.minWidth ?? column.width, COMFORTABLE_WIDTH)) + GAP,
      -GAP,
    );
  while (comfortableTotal() > width && visible.some((column) => column.dropOrder !== undefined)) {
    const highest = Math.max(...visible.map((column) => column.dropOrder ?? -1));
    visible = visible.filter((column) => column.dropOrder !== highest);
  }
  for (let over = total() - width; over > 0; over = total() - width) {
    const room = (column: Sized<Row>) =>
      column.width - Math.min(column.minWidth ?? column.width, column.width);
    const widest = visible.reduce((best, column) => (room(column) > room(best) ? column : best));
    if (room(widest) === 0) break;
    visible = visible.map((column) =>
      column === widest ? { ...column, width: column.width - Math.min(over, room(column)) } : column,
    );
  }
  return visible;
}

function naturalWidth<Row>(column: Column<Row>, rows: readonly Row[]): number {
  return Math.max(
    column.title.length,
    ...rows.map((row) => Array.from(stripControlCharacters(column.text(row))).length),
  );
}

/** References and descriptions come from API data and must not move the cursor or break the table. */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}

export function truncate(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

function padCell<Row>({ align, width }: Sized<Row>, text: string, last: boolean): string {
  const space = ' '.repeat(Math.max(0, width - Array.from(text).length));
  if (align === 'right') return space + text;
  return last ? text : text + space;
}
