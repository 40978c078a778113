import { FIRST_RANGED_SCHEMA, migrationNumber } from './schema-range.ts';

const HEADER = /^-- schema: (?:(expand)|contract from (\d{4}))$/;

/** Earlier migrations were applied before releases had a range; every release with a range has them. */
const FIRST_WITH_HEADER = FIRST_RANGED_SCHEMA + 1;

/**
 * Reads from the first line of a migration which releases still run after it:
 * - `-- schema: expand`: every release that ran before. The migration only adds what they ignore.
 * - `-- schema: contract from 0020`: releases whose newest migration is 0020 or later. They no longer use what it removes.
 * @returns the oldest such release by its newest migration; null for a migration older than the ranges
 * @throws when the line is missing or wrong
 */
export function compatibleFrom(name: string, text: string): number | null {
  if (migrationNumber(name) < FIRST_WITH_HEADER) return null;
  const [, expand, from] = HEADER.exec(text.split('\n', 1)[0] ?? '') ?? [];
  if (expand !== undefined) return FIRST_RANGED_SCHEMA;
  const oldest = Number(from);
  if (oldest >= FIRST_RANGED_SCHEMA && oldest < migrationNumber(name)) return oldest;
  throw new Error(
    `the first line of migration ${name} must be "-- schema: expand", or "-- schema: contract from NNNN" with the oldest release that still runs after it (CONTRIBUTING.md)`,
  );
}
