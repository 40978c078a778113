import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { violationsOf } from '../src/checker/check.ts';
import { readIncidents } from '../src/checker/incidents.ts';
import { readRailFacts } from '../src/checker/rail-facts.ts';
import { queryOn, readRows } from '../src/checker/rows.ts';
import { readSinks } from '../src/checker/sink-journal.ts';
import { readTold } from '../src/checker/told.ts';
import { type Violation, worldOf } from '../src/checker/world.ts';

/** One way to spoil what a sound run left behind, and the promise that must be seen broken. */
export interface Damage<Sample> {
  readonly name: string;
  readonly promise: string;
  /** Statements on the database, undone afterwards. */
  readonly sql?: string;
  /** Rewrites the rails' journal. */
  readonly rail?: (lines: readonly Line[], sample: Sample) => readonly Line[];
  /** Rewrites the client's journal. */
  readonly client?: (lines: readonly Line[]) => readonly Line[];
  /** Rewrites the journal of merchants' endpoints. */
  readonly sinks?: (lines: readonly Line[], sample: Sample) => readonly Line[];
  /** Rewrites the journal of who died. */
  readonly incidents?: (lines: readonly Line[]) => readonly Line[];
}

export interface Line {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** Another id of the same moment. */
export const BASELINE = (id: string) => `(left(${id}::text, 24) || 'ffffffffffff')::uuid`;

/** A table's row once more, with some columns changed. */
export function copyRow(table: string, where: string, changes: Readonly<Record<string, string>>): string {
  const json = Object.entries(changes).map(([column, value]) => `'${column}', ${value}`);
  return `insert into caudal.${table} select (jsonb_populate_record(r, jsonb_build_object(${json.join(', ')}))).*
    from caudal.${table} r where ${where} limit 1`;
}

/** What the checker finds in the run's journals and database when they are damaged. */
export async function violationsUnder<Sample>(
  { sql, rail, client, sinks, incidents }: Damage<Sample>,
  run: { readonly database: Client; readonly journals: string; readonly sample: Sample },
): Promise<Violation[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'caudal-checker-'));
  const clientPath = rewritten(run.journals, scratch, 'client.jsonl', client);
  const railPath = rewritten(
    run.journals,
    scratch,
    'simulator.jsonl',
    rail && ((lines) => rail(lines, run.sample)),
  );
  const sinksPath = existsSync(join(run.journals, 'sinks.jsonl'))
    ? rewritten(run.journals, scratch, 'sinks.jsonl', sinks && ((lines) => sinks(lines, run.sample)))
    : undefined;
  const incidentsPath = rewritten(run.journals, scratch, 'incidents.jsonl', incidents);
  await run.database.query('begin');
  try {
    if (sql !== undefined) await run.database.query(sql);
    const rows = await readRows(queryOn(run.database));
    const { received, bodies } = readSinks(sinksPath);
    return violationsOf(
      worldOf({
        told: readTold(clientPath),
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

function rewritten(
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
  const damaged = join(scratch, name);
  writeFileSync(
    damaged,
    `${rewrite(lines)
      .map((line) => JSON.stringify(line))
      .join('\n')}\n`,
  );
  return damaged;
}
