/**
 * Compares the independent records of one run: the journals of the clients, the rails and the merchants' endpoints, and the
 * database. A separate program that shares no code with the server.
 */
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { findViolations, summarize } from './check.ts';
import { readClientFacts } from './client-facts.ts';
import { readIncidents } from './incidents.ts';
import { INVARIANTS } from './invariants.ts';
import { createQuery } from './query.ts';
import { readRailFacts } from './rail-facts.ts';
import { readRows } from './rows.ts';
import { readSinks } from './sink-journal.ts';
import { buildWorld, type World } from './world.ts';

const HELP = `node chaos/src/checker/main.ts --client FILE --simulator FILE --database URL [--sinks FILE] [--incidents FILE] [--open-ok]

  --sinks       journal of merchants' endpoints, if there are any
  --incidents   journal of worker deaths and database outages; without it, none happened
  --open-ok     the run continues: pending work is not a violation

Exit codes: 0 no violations, 1 violations, 2 usage error.
`;

/** Rows printed per kind of violation. */
const MAX_SHOWN = 3;

interface Journals {
  readonly client: string;
  readonly simulator: string;
  readonly sinks: string | undefined;
  readonly incidents: string | undefined;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      client: { type: 'string' },
      simulator: { type: 'string' },
      database: { type: 'string' },
      sinks: { type: 'string' },
      incidents: { type: 'string' },
      'open-ok': { type: 'boolean', default: false },
      help: { type: 'boolean' },
    },
    strict: true,
  });
  const { client, simulator, database } = values;
  if (values.help || client === undefined || simulator === undefined || database === undefined) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  const { sinks, incidents } = values;
  const world = await readWorld({ client, simulator, sinks, incidents }, database, !values['open-ok']);
  const violations = findViolations(world);
  for (const [kind, same] of Map.groupBy(violations, ({ invariant, detail }) => `${invariant}: ${detail}`)) {
    console.log(`VIOLATION  ${kind}`);
    for (const { invariant } of same.slice(0, 1))
      console.log(`           invariant: ${INVARIANTS[invariant]}`);
    for (const { row } of same.slice(0, MAX_SHOWN)) console.log(`           ${JSON.stringify(row, plain)}`);
    if (same.length > MAX_SHOWN) console.log(`           … and ${same.length - MAX_SHOWN} more`);
  }
  console.log(
    `${summarize(world)}: ${violations.length === 0 ? 'no violations' : `${violations.length} violations`}`,
  );
  return violations.length === 0 ? 0 : 1;
}

/**
 * Reads the journals before and after the database: whatever was acknowledged or ordered before must be in the database,
 * and whatever is in the database must have been requested by now. So the run may continue meanwhile.
 */
async function readWorld(journals: Journals, url: string, drained: boolean): Promise<World> {
  const { client: clientPath, simulator: railPath } = journals;
  const earlier = readClientFacts(clientPath);
  const { acknowledged, orders, lastSeq } = readRailFacts(railPath);
  const { received: before } = readSinks(journals.sinks);
  const database = new Client({ connectionString: url });
  await database.connect();
  try {
    await database.query('begin isolation level repeatable read read only');
    const rows = await readRows(createQuery(database));
    await database.query('commit');
    const later = readClientFacts(clientPath);
    const { created, cancels } = earlier.payouts;
    const client = {
      ...later,
      created: earlier.created,
      done: earlier.done,
      payouts: { ...later.payouts, created, cancels },
      links: { ...earlier.links, sent: later.links.sent },
    };
    const rail = { ...readRailFacts(railPath), acknowledged, orders };
    const { received: after, bodies } = readSinks(journals.sinks);
    const sinks = { before, after, bodies };
    return buildWorld(
      { client, rail, rows, sinks, incidents: readIncidents(journals.incidents), drained },
      lastSeq,
    );
  } finally {
    await database.end();
  }
}

function plain(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
  },
);
