import { type Statement, statement, type Tx } from '../db/tx.ts';

/** A row of the books that contradicts the rest of them. */
export interface BrokenRow {
  readonly table: string;
  readonly organizationId: string | null;
  /** What names the row within its table and organization. */
  readonly id: string;
  readonly expected: string;
  readonly found: string;
}

/** More than anybody reads; the first ones show what kind of damage it is. */
export const MOST_BROKEN_ROWS = 100;

/** A check asks for rows that must not exist: `table`, `organizationId`, `id`, `expected`, `found`. */
export function check(name: string, query: string): Statement {
  return statement(
    `ledger-check.${name}`,
    `${query}\n order by "organizationId", id limit ${MOST_BROKEN_ROWS + 1}`,
  );
}

/** Up to one more than can be told, so that whoever tells knows that there are more. */
export async function brokenRows(tx: Tx, checks: readonly Statement[]): Promise<BrokenRow[]> {
  const broken: BrokenRow[] = [];
  for (const each of checks) {
    if (broken.length > MOST_BROKEN_ROWS) break;
    broken.push(...(await tx.query<BrokenRow>(each)));
  }
  return broken.slice(0, MOST_BROKEN_ROWS + 1);
}
