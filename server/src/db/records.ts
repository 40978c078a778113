import { type Columns, fieldName, ROW_ID, type StoredFieldsOf } from './columns.ts';
import type { Statement, Tx } from './tx.ts';

/** Records that a statement receives as one array parameter per column, `$1` onwards. */
export class RowSet<C extends Columns> {
  readonly #columns: C;

  constructor(columns: C) {
    this.#columns = columns;
  }

  /** The table expression `unnest(…) as alias (…)`. */
  as(alias: string): string {
    return `${this.#unnest()} as ${alias} (${this.#names()})`;
  }

  /** Like `as`, with the additional column `position`, which numbers the rows from 1. */
  numberedAs(alias: string): string {
    return `${this.#unnest()} with ordinality as ${alias} (${this.#names()}, position)`;
  }

  #unnest(): string {
    const arrays = Object.values(this.#columns).map(({ type }, index) => `$${index + 1}::${type}[]`);
    return `unnest(${arrays.join(', ')})`;
  }

  /** Quoted, because a field may be named like a keyword of SQL (`limit`). */
  #names(): string {
    return Object.keys(this.#columns)
      .map((name) => `"${name}"`)
      .join(', ');
  }

  /** The placeholder of the scalar parameter number `position` (from 1) after the arrays. */
  scalar(position: number): string {
    return `$${Object.keys(this.#columns).length + position}`;
  }

  /** The parameters for these records, in the order of the columns. */
  parameters(records: readonly StoredFieldsOf<C>[]): unknown[][] {
    return Object.keys(this.#columns).map((name) => {
      const field = fieldName(name);
      return records.map((record) => (record as Readonly<Record<string, unknown>>)[field]);
    });
  }
}

/** The type of the records of a row set. */
export type RecordOf<Rows> = Rows extends RowSet<infer C> ? StoredFieldsOf<C> : never;

/** Ids of rows, the most common row set. */
export const ROW_IDS = new RowSet(ROW_ID);

/** Runs a query that returns at most one row. */
export async function queryRow<Row extends object>(
  tx: Pick<Tx, 'query'>,
  statement: Statement,
  values?: readonly unknown[],
): Promise<Row | null> {
  const [row] = await tx.query<Row>(statement, values);
  return row ?? null;
}

/** Runs a query and renames the columns of its rows to field names. */
export async function queryRecords<Fields extends object>(
  tx: Pick<Tx, 'query'>,
  statement: Statement,
  values?: readonly unknown[],
): Promise<Fields[]> {
  const rows = await tx.query<Readonly<Record<string, unknown>>>(statement, values);
  const [first = {}] = rows;
  const names = Object.keys(first).map((name) => [name, fieldName(name)] as const);
  return rows.map((row) => Object.fromEntries(names.map(([name, field]) => [field, row[name]])) as Fields);
}

/** Like `queryRecords`, for a query that returns at most one row. */
export async function queryRecord<Fields extends object>(
  ...query: Parameters<typeof queryRecords>
): Promise<Fields | null> {
  const [record] = await queryRecords<Fields>(...query);
  return record ?? null;
}
