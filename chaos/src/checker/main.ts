/**
 * Compares what the witnesses of one run say: the client's journal, the rails', that of merchants' endpoints and the database. A program of its
 * own that shares nothing with what it judges.
 */
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { summaryOf, violationsOf } from './check.ts';
import { readIncidents } from './incidents.ts';
import { readRailFacts } from './rail-facts.ts';
import { queryOn, readRows } from './rows.ts';
import { readSinks } from './sink-journal.ts';
import { readTold } from './told.ts';
import { type World, worldOf } from './world.ts';

const HELP = `node chaos/src/checker/main.ts --client FILE --simulator FILE --database URL [--sinks FILE] [--incidents FILE] [--open-ok]

  --sinks     the journal of merchants' endpoints, where they have any
  --incidents   which workers died when, and when the database was away; without it nothing of the kind happened
  --open-ok   the run goes on: what is still under way is no violation

Exit codes: 0 whole, 1 violations, 2 not understood.
`;

/** Of each kind. */
const MOST_SHOWN = 3;

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
  const world = await lookAt({ client, simulator, sinks, incidents }, database, !values['open-ok']);
  const violations = violationsOf(world);
  for (const [kind, alike] of Map.groupBy(violations, ({ promise, what }) => `${promise}: ${what}`)) {
    console.log(`VIOLATION  ${kind}`);
    for (const { row } of alike.slice(0, MOST_SHOWN)) console.log(`           ${JSON.stringify(row, plain)}`);
    if (alike.length > MOST_SHOWN) console.log(`           … and ${alike.length - MOST_SHOWN} more`);
  }
  console.log(
    `${summaryOf(world)}: ${violations.length === 0 ? 'whole' : `${violations.length} violations`}`,
  );
  return violations.length === 0 ? 0 : 1;
}

/**
 * The journals are read on both sides of the database: what had been promised or ordered before must be in it, and what
 * is in it must have been asked for by now. So the run need not stand still.
 */
async function lookAt(journals: Journals, url: string, drained: boolean): Promise<World> {
  const { client: clientPath, simulator: railPath } = journals;
  const promised = readTold(clientPath);
  const { acknowledged, orders, lastSeq } = readRailFacts(railPath);
  const { received: before } = readSinks(journals.sinks);
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const rows = await readRows(queryOn(client));
    await client.query('commit');
    const now = readTold(clientPath);
    const { created, cancels } = promised.payouts;
    const told = {
      ...now,
      created: promised.created,
      done: promised.done,
      payouts: { ...now.payouts, created, cancels },
      links: { ...promised.links, sent: now.links.sent },
    };
    const rail = { ...readRailFacts(railPath), acknowledged, orders };
    const { received: after, bodies } = readSinks(journals.sinks);
    const sinks = { before, after, bodies };
    return worldOf(
      { told, rail, rows, sinks, incidents: readIncidents(journals.incidents), drained },
      lastSeq,
    );
  } finally {
    await client.end();
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
