declare const txBrand: unique symbol;

/** A statement with a name is prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** An open transaction. Whoever writes is given one; nobody opens one on the side. */
export interface Tx {
  readonly [txBrand]: true;
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

export function statement(name: string, text: string): Statement {
  return { name, text };
}
