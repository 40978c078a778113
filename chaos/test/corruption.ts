import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { findViolations } from '../src/checker/check.ts';
import { readClientFacts } from '../src/checker/client-facts.ts';
import { readIncidents } from '../src/checker/incidents.ts';
import type { InvariantCode } from '../src/checker/invariants.ts';
import { createQuery } from '../src/checker/query.ts';
import { readRailFacts } from '../src/checker/rail-facts.ts';
import { readRows } from '../src/checker/rows.ts';
import { readSinks } from '../src/checker/sink-journal.ts';
import { buildWorld, type Violation } from '../src/checker/world.ts';

/** A corruption of the data of a correct run, and the invariant that the checker must report. */
export interface Corruption<Sample> {
  readonly name: string;
  readonly invariant: InvariantCode;
  /** Statements that change the database; rolled back afterward. */
  readonly sql?: string;
  /** Changes the rails' journal. */
  readonly rail?: (lines: readonly Line[], sample: Sample) => readonly Line[];
  /** Changes the clients' journal. */
  readonly client?: (lines: readonly Line[]) => readonly Line[];
  /** Changes the journal of merchants' endpoints. */
  readonly sinks?: (lines: readonly Line[], sample: Sample) => readonly Line[];
  /** Changes the journal of incidents. */
  readonly incidents?: (lines: readonly Line[]) => readonly Line[];
}

export interface Line {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** SQL for another id with the same timestamp. */
export const siblingId = (id: string) => `(left(${id}::text, 24) || 'ffffffffffff')::uuid`;

/** SQL that inserts a copy of a row with some columns changed. */
export function copyRow(table: string, where: string, changes: Readonly<Record<string, string>>): string {
  const json = Object.entries(changes).map(([column, value]) => `'${column}', ${value}`);
  return `insert into caudal.${table} select (jsonb_populate_record(r, jsonb_build_object(${json.join(', ')}))).*
    from caudal.${table} r where ${where} limit 1`;
}

/** Runs the checker on the corrupted journals and database. */
export async function violationsAfter<Sample>(
  { sql, rail, client, sinks, incidents }: Corruption<Sample>,
  run: { readonly database: Client; readonly journals: string; readonly sample: Sample },
): Promise<Violation[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'caudal-checker-'));
  const clientPath = rewriteJournal(run.journals, scratch, 'client.jsonl', client);
  const railPath = rewriteJournal(
    run.journals,
    scratch,
    'simulator.jsonl',
    rail && ((lines) => rail(lines, run.sample)),
  );
  const sinksPath = existsSync(join(run.journals, 'sinks.jsonl'))
    ? rewriteJournal(run.journals, scratch, 'sinks.jsonl', sinks && ((lines) => sinks(lines, run.sample)))
    : undefined;
  const incidentsPath = rewriteJournal(run.journals, scratch, 'incidents.jsonl', incidents);
  await run.database.query('begin');
  try {
    if (sql !== undefined) await run.database.query(sql);
    const rows = await readRows(createQuery(run.database));
    const { received, bodies } = readSinks(sinksPath);
    return findViolations(
      buildWorld({
        client: readClientFacts(clientPath),
        rail: readRailFacts(railPath),
        rows,
        sinks: { before: received, after: received, bodies },
        incidents: readIncidents(incidentsPath),
        drained: true,
      }),
    );
  } finally {
    await run.database.query('rollback');
    rmSync(scratch, { recursive: true, force: true });
  }
}

function rewriteJournal(
  journals: string,
  scratch: string,
  name: string,
  rewrite: ((lines: readonly Line[]) => readonly Line[]) | undefined,
): string {
  const path = join(journals, name);
  if (!rewrite) return path;
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as Line);
  const corrupted = join(scratch, name);
  writeFileSync(
    corrupted,
    `${rewrite(lines)
      .map((line) => JSON.stringify(line))
      .join('\n')}\n`,
  );
  return corrupted;
}
