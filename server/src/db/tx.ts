declare const txBrand: unique symbol;

/** A named statement, prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** An open transaction. Functions that write receive it from their caller and never open their own. */
export interface Tx {
  readonly [txBrand]: true;
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

export function statement(name: string, text: string): Statement {
  return { name, text };
}
