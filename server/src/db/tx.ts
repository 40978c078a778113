declare const txBrand: unique symbol;

/** A named statement, prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** A payin, payout or payment link that a transaction created or moved to its final state. */
export interface StateChange {
  readonly resource: 'payin' | 'payout' | 'payment_link';
  readonly organizationId: string;
  readonly id: string;
  /** Null for a payment link, which has no rail of its own. */
  readonly rail: string | null;
  /** The final state; null: it was created. */
  readonly ended: {
    readonly status: string;
    readonly errorCode: string | null;
    /** Since its creation, in business time. */
    readonly afterMs: number;
  } | null;
}

/** An open transaction. Functions that write receive it from their caller and never open their own. */
export interface Tx {
  readonly [txBrand]: true;
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /** Reports what the transaction creates or ends. Observers see it once, after the commit. */
  report(changes: readonly StateChange[]): void;
}

export function statement(name: string, text: string): Statement {
  return { name, text };
}

/** The change to the final state that a row has now; final rows are updated last when they become final. */
export function endedChange(
  resource: StateChange['resource'],
  row: {
    readonly organization_id: string;
    readonly id: string;
    readonly status: string;
    readonly created_at: Date;
    readonly updated_at: Date;
  },
  { rail, error_code: errorCode }: { readonly rail: string | null; readonly error_code: string | null },
): StateChange {
  const { organization_id: organizationId, id, status } = row;
  const afterMs = row.updated_at.getTime() - row.created_at.getTime();
  return { resource, organizationId, id, rail, ended: { status, errorCode, afterMs } };
}
