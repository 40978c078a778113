import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { QueryResultRow } from 'pg';
import type { Acknowledgment } from './acknowledgments.ts';

type Query = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

interface Row {
  readonly id: string;
  readonly organizationId: string;
  readonly reference: string;
  readonly amount: string;
}

const BATCH = 5000;

/** @returns the acknowledged creations that the database does not have, or has with another content */
export async function findLost(
  query: Query,
  acknowledged: readonly Acknowledgment[],
): Promise<Acknowledgment[]> {
  const lost: Acknowledgment[] = [];
  for (let start = 0; start < acknowledged.length; start += BATCH) {
    const batch = acknowledged.slice(start, start + BATCH);
    const rows = new Map<string, Row>();
    for (const kind of ['payin', 'payout'] as const) {
      const ids = batch.filter((each) => each.kind === kind).map(({ id }) => id);
      for (const row of await read(query, kind, ids)) rows.set(row.id, row);
    }
    lost.push(...batch.filter((each) => !matches(each, rows.get(each.id))));
  }
  return lost;
}

function read(query: Query, kind: Acknowledgment['kind'], ids: readonly string[]): Promise<Row[]> {
  return query<Row & QueryResultRow>(
    `select id, organization_id as "organizationId", reference, amount_in_cents::text as amount
     from caudal.${kind}s where id = any($1::uuid[])`,
    [ids],
  );
}

function matches(each: Acknowledgment, row: Row | undefined): boolean {
  return (
    row !== undefined &&
    row.organizationId === each.organizationId &&
    row.reference === each.reference &&
    row.amount === String(each.amountInCents)
  );
}

/** Reads along with the simulator's own journal: which orders it executed, and which twice. */
export class Executions {
  readonly #path: string;
  readonly #executed = new Map<string, number>();
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** @returns end-to-end ids that were executed again since the last call */
  readDuplicates(): string[] {
    const duplicates: string[] = [];
    for (const line of this.#readNew().split('\n')) {
      if (!line.includes('breb.executed')) continue;
      const { kind, endToEndId } = JSON.parse(line) as { readonly kind: string; readonly endToEndId: string };
      if (kind !== 'breb.executed') continue;
      const times = (this.#executed.get(endToEndId) ?? 0) + 1;
      this.#executed.set(endToEndId, times);
      if (times > 1) duplicates.push(endToEndId);
    }
    return duplicates;
  }

  get count(): number {
    return this.#executed.size;
  }

  /** Complete lines that were added since the last call. */
  #readNew(): string {
    const file = openSync(this.#path, 'r');
    try {
      const added = Buffer.alloc(fstatSync(file).size - this.#offset);
      const length = readSync(file, added, 0, added.length, this.#offset);
      const complete = added.subarray(0, length).lastIndexOf('\n') + 1;
      this.#offset += complete;
      return added.toString('utf8', 0, complete);
    } finally {
      closeSync(file);
    }
  }
}
