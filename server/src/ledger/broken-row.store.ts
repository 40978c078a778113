import { type Statement, statement, type Tx } from '../db/tx.ts';

/** A row that is inconsistent with the rest of the ledger. */
export interface BrokenRow {
  readonly table: string;
  readonly organizationId: string | null;
  /** Identifies the row within its table and organization. */
  readonly id: string;
  readonly expected: string;
  readonly found: string;
}

/** Enough rows to show the kind of inconsistency. */
export const MAX_BROKEN_ROWS = 100;

/** A check selects rows that must not exist: `table`, `organizationId`, `id`, `expected`, `found`. */
export function check(name: string, query: string): Statement {
  return statement(
    `ledger-check.${name}`,
    `${query}\n order by "organizationId", id limit ${MAX_BROKEN_ROWS + 1}`,
  );
}

/** Returns up to one row above the maximum, so that the caller knows that there are more. */
export async function findBrokenRows(tx: Tx, checks: readonly Statement[]): Promise<BrokenRow[]> {
  const broken: BrokenRow[] = [];
  for (const each of checks) {
    if (broken.length > MAX_BROKEN_ROWS) break;
    broken.push(...(await tx.query<BrokenRow>(each)));
  }
  return broken.slice(0, MAX_BROKEN_ROWS + 1);
}
