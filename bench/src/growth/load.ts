import { Client } from 'pg';
import { compose } from '../../../server/src/compose.ts';
import { readConfig } from '../../../server/src/config.ts';
import { uuidFloor, uuidv7 } from '../../../server/src/kit/ids.ts';
import { makeLog } from '../../../server/src/kit/log.ts';
import { sealPart } from '../../../server/src/webhooks/endpoint.seal.ts';
import { type Owner, RowMaker, type Span } from './rows.ts';
import { derivedRows, insertRows, SUBTOTALS } from './statements.ts';

export interface HistoryOptions {
  readonly rows: number;
  /** Before the present one. */
  readonly months: number;
  /** The first of them has eight payins of ten. */
  readonly organizationIds: readonly string[];
  /** As a superuser: rows of all organizations are written past row-level security. By default `DATABASE_URL`. */
  readonly databaseUrl?: string;
  readonly print?: (text: string) => void;
}

export interface Month extends Span {
  /** `202601` */
  readonly name: string;
  readonly rows: number;
  readonly endMs: number;
}

/** Payins end, and are settled, within their own month: each month can be made alone. */
const QUIET_END_MS = 2 * 3_600_000;
const ROWS_A_STATEMENT = 4000;

/**
 * Past months as if they had been lived: payins that have ended, with history, keys, references, books, events and
 * deliveries. Written by set into months that are attached when they are whole, so that their indexes are built once.
 * Into a migrated database that nobody works on yet; months that an earlier run has finished are left alone.
 */
export async function loadHistory(
  settings: Record<string, string>,
  {
    rows,
    months: count,
    organizationIds,
    databaseUrl = settings['DATABASE_URL'],
    print = () => undefined,
  }: HistoryOptions,
): Promise<readonly Month[]> {
  const { deps, keys, heartbeat, close } = compose(
    readConfig('operator', settings),
    makeLog({ level: 'error', base: {} }),
  );
  // Rows of a month are made and written while the month before is finished: a core for each.
  const [writer, finisher] = [await connect(databaseUrl), await connect(databaseUrl)];
  try {
    await heartbeat.start();
    const secretsOf = await keys.of(new Set(organizationIds));
    const owners = organizationIds.map((organizationId) => ({
      organizationId,
      dataKey: secretsOf(organizationId).dataKey,
    }));
    if (owners[0]) await addEndpoint(writer, owners[0], uuidv7(deps.clock.now(), deps.cell));
    const months = monthsBefore(deps.clock.now(), count, rows);
    const maker = new RowMaker(deps, owners);
    const there = await attachedMonths(writer);
    let finishing: Promise<void> = Promise.resolve();
    for (const month of months.filter(({ name }) => !there.has(name))) {
      await writeMonth(writer, month, maker, organizationIds);
      await finishing;
      finishing = finishMonth(finisher, month, print);
      // Heard when the next month waits for it.
      finishing.catch(() => undefined);
    }
    await finishing;
    await finisher.query(SUBTOTALS);
    await finisher.query('vacuum (analyze)');
    await finisher.query('checkpoint');
    return months;
  } finally {
    await Promise.all([writer.end(), finisher.end()]);
    await heartbeat.stop();
    await close();
  }
}

async function connect(databaseUrl: string | undefined): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl, options: '-c timezone=UTC' });
  await client.connect();
  // What a crash of the load loses is loaded again; what is measured later commits as always.
  await client.query('set synchronous_commit = off');
  await client.query("set maintenance_work_mem = '512MB'");
  await client.query("set work_mem = '256MB'");
  return client;
}

async function attachedMonths(client: Client): Promise<Set<string>> {
  const { rows } = await client.query<{ name: string }>(
    "select right(c.relname, 6) as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'caudal.payins'::regclass",
  );
  return new Set(rows.map(({ name }) => name));
}

/** The whole months before this moment, oldest first. */
function monthsBefore(nowMs: number, count: number, rows: number): Month[] {
  const now = new Date(nowMs);
  return Array.from({ length: count }, (_, index) => {
    const start = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count + index, 1);
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count + index + 1, 1);
    const firstNumber = Math.floor((rows * index) / count);
    const own = Math.floor((rows * (index + 1)) / count) - firstNumber;
    return {
      name: new Date(start).toISOString().slice(0, 7).replace('-', ''),
      rows: own,
      firstNumber,
      startMs: start,
      endMs: end,
      stepMs: own === 0 ? 0 : (end - start - QUIET_END_MS) / own,
    };
  });
}

async function monthlyTables(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'select name from caudal.monthly_tables order by name',
  );
  return rows.map(({ name }) => name);
}

async function schemaOwner(client: Client): Promise<string> {
  const { rows } = await client.query<{ owner: string }>(
    "select nspowner::regrole::text as owner from pg_namespace where nspname = 'caudal'",
  );
  return rows[0]?.owner ?? '';
}

/** Payins and events, in tables that belong to nothing yet; what an earlier run left of them goes. */
async function writeMonth(
  client: Client,
  month: Month,
  maker: RowMaker,
  owners: readonly string[],
): Promise<void> {
  await client.query('begin');
  for (const name of await monthlyTables(client)) {
    const child = `caudal.${name}_${month.name}`;
    await client.query(`drop table if exists ${child}`);
    await client.query(
      `create table ${child} (like caudal.${name} including defaults including constraints including storage)`,
    );
  }
  await insertMonth(client, month, maker, owners);
  await client.query('commit');
}

async function finishMonth(client: Client, month: Month, print: (text: string) => void): Promise<void> {
  const began = performance.now();
  const tables = await monthlyTables(client);
  const owner = await schemaOwner(client);
  await client.query('begin');
  for (const statement of derivedRows(month.name)) await client.query(statement);
  for (const name of tables) {
    const child = `caudal.${name}_${month.name}`;
    await client.query(`alter table ${child} enable row level security`);
    await client.query(`alter table ${child} force row level security`);
    await client.query(`alter table ${child} owner to ${owner}`);
    await client.query(
      `alter table caudal.${name} attach partition ${child} for values from ('${uuidFloor(month.startMs)}') to ('${uuidFloor(month.endMs)}')`,
    );
  }
  await client.query('commit');
  for (const name of tables) await client.query(`vacuum (analyze) caudal.${name}_${month.name}`);
  if (month.rows > 0)
    print(
      `  ${month.name}: ${month.rows} payins, finished in ${((performance.now() - began) / 1000).toFixed(0)} s`,
    );
}

/** The next rows are made while the database writes the last ones. */
async function insertMonth(
  client: Client,
  month: Month,
  maker: RowMaker,
  owners: readonly string[],
): Promise<void> {
  const statement = { name: `growth-${month.name}`, text: insertRows(month.name) };
  const start = new Date(month.startMs).toISOString();
  let written: Promise<unknown> = Promise.resolve();
  for (let from = 0; from < month.rows; from += ROWS_A_STATEMENT) {
    const count = Math.min(ROWS_A_STATEMENT, month.rows - from);
    const bytes = await maker.make(month, from, count);
    await written;
    const values = [bytes, owners, month.firstNumber + from, from, count, start, month.stepMs, month.rows];
    written = client.query({ ...statement, values });
  }
  await written;
}

/** The endpoint that all was delivered to. It is gone by now: nothing new is sent to it. */
async function addEndpoint(client: Client, { organizationId, dataKey }: Owner, id: string): Promise<void> {
  const sealed = (part: 'address' | 'secret', value: string) =>
    sealPart(dataKey, part, value, organizationId, id);
  await client.query(
    `insert into caudal.webhook_endpoints (organization_id, id, address, secret, status, created_at, updated_at, deleted_at)
     select $1, $2, $3, $4, 'ENABLED', caudal.now(), caudal.now(), caudal.now()
     where not exists (select from caudal.webhook_endpoints where organization_id = $1)`,
    [
      organizationId,
      id,
      sealed('address', 'https://shop.example.com/hook'),
      sealed('secret', 'x'.repeat(32)),
    ],
  );
}
