/**
 * The database schemas that this release runs on, as numbers of migrations. A test fails when a migration is added without
 * a decision here:
 * - `newest` is the number of the newest migration of this release. A newer database is accepted if its migrations say
 *   that they are compatible (db/migration-header.ts).
 * - `oldest` is the newest migration without which this release cannot run. Raise it to the number of the new migration,
 *   unless the code also runs without it (for example, an index).
 */
export const SCHEMA_RANGE: SchemaRange = { oldest: 22, newest: 22 };

export interface SchemaRange {
  readonly oldest: number;
  readonly newest: number;
}

/** The first release with a range. Older releases reject every newer database by themselves. */
export const FIRST_RANGED_SCHEMA = 16;

/** A migration that another release applied. */
interface UnknownMigration {
  readonly name: string;
  /** The oldest release, by its newest migration, that still runs after it; null if it does not say. */
  readonly compatibleFrom: number | null;
}

/** What the database and a release do not have in common. */
export interface SchemaDifference {
  /** Migrations of this release that the database lacks. */
  readonly pending: readonly string[];
  /** Migrations of the database that this release does not have. */
  readonly unknown: readonly UnknownMigration[];
}

/** 17 of `0017_trace_context.sql` */
export function migrationNumber(name: string): number {
  return Number(name.slice(0, 4));
}

/** @returns a sentence for operators about each reason why a release with this range cannot run on the database */
export function schemaProblems(
  { pending, unknown }: SchemaDifference,
  range: SchemaRange = SCHEMA_RANGE,
): string[] {
  const incompatible = unknown.flatMap(({ name, compatibleFrom }) =>
    compatibleFrom !== null && compatibleFrom <= range.newest ? [] : [name],
  );
  const missing = pending.filter((name) => migrationNumber(name) <= range.oldest);
  return [
    ...(incompatible.length > 0
      ? [
          `the database has migrations that this version does not know (${incompatible.join(', ')}) and cannot run on: run a newer version`,
        ]
      : []),
    ...(missing.length > 0
      ? [`the database lacks migrations of this version (${missing.join(', ')}): run \`caudal migrate\``]
      : []),
  ];
}
