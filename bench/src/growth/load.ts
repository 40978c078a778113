import { Client } from 'pg';
import { compose } from '../../../server/src/compose.ts';
import { readConfig } from '../../../server/src/config.ts';
import { uuidFloor, uuidv7 } from '../../../server/src/kit/ids.ts';
import { makeLog } from '../../../server/src/kit/log.ts';
import { encryptPart } from '../../../server/src/webhooks/endpoint.encryption.ts';
import { type Owner, RowMaker, type Span } from './rows.ts';
import { derivedRows, insertRows, SUBTOTALS } from './statements.ts';

export interface HistoryOptions {
  readonly rows: number;
  /** Number of months before the current one. */
  readonly months: number;
  /** The first organization owns eight of ten payins. */
  readonly organizationIds: readonly string[];
  /** URL of a superuser, who bypasses row-level security. Default: `DATABASE_URL`. */
  readonly databaseUrl?: string;
  readonly print?: (text: string) => void;
}

export interface Month extends Span {
  /** `202601` */
  readonly name: string;
  readonly rows: number;
  readonly endMs: number;
}

/** Payins end and settle within their own month, so that each month can be generated independently. */
const QUIET_END_MS = 2 * 3_600_000;
const ROWS_PER_STATEMENT = 4000;

/**
 * Generates past months: final payins with history, keys, references, ledger entries, events and deliveries. Rows are
 * written in bulk into partitions that are attached when complete, so that their indexes are built once. Requires a
 * migrated database that is not in use; months completed by an earlier run are kept.
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
  // Rows of a month are generated and written while the previous month is completed, on one core each.
  const [writer, finisher] = [await connect(databaseUrl), await connect(databaseUrl)];
  try {
    await heartbeat.start();
    const getSecrets = await keys.load(new Set(organizationIds));
    const owners = organizationIds.map((organizationId) => ({
      organizationId,
      dataKey: getSecrets(organizationId).dataKey,
    }));
    if (owners[0]) await addEndpoint(writer, owners[0], uuidv7(deps.clock.now(), deps.cell));
    const months = monthsBefore(deps.clock.now(), count, rows);
    const maker = new RowMaker(deps, owners);
    const attached = await attachedMonths(writer);
    let finishing: Promise<void> = Promise.resolve();
    for (const month of months.filter(({ name }) => !attached.has(name))) {
      await writeMonth(writer, month, maker, organizationIds);
      await finishing;
      finishing = finishMonth(finisher, month, print);
      // The rejection is handled where the next month awaits it.
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
  // A crash only requires loading again; the later measurements commit synchronously.
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

/** The complete months before this time, oldest first. */
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

/** Writes payins and events into detached tables; replaces leftovers of an earlier run. */
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
  const startedAt = performance.now();
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
      `  ${month.name}: ${month.rows} payins, finished in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
    );
}

/** Generates the next rows while the database writes the previous ones. */
async function insertMonth(
  client: Client,
  month: Month,
  maker: RowMaker,
  owners: readonly string[],
): Promise<void> {
  const statement = { name: `growth-${month.name}`, text: insertRows(month.name) };
  const start = new Date(month.startMs).toISOString();
  let written: Promise<unknown> = Promise.resolve();
  for (let from = 0; from < month.rows; from += ROWS_PER_STATEMENT) {
    const count = Math.min(ROWS_PER_STATEMENT, month.rows - from);
    const bytes = await maker.make(month, from, count);
    await written;
    const values = [bytes, owners, month.firstNumber + from, from, count, start, month.stepMs, month.rows];
    written = client.query({ ...statement, values });
  }
  await written;
}

/** The endpoint of all past deliveries. It is deleted, so that nothing new is sent to it. */
async function addEndpoint(client: Client, { organizationId, dataKey }: Owner, id: string): Promise<void> {
  const encrypt = (part: 'address' | 'secret', value: string) =>
    encryptPart(dataKey, part, value, organizationId, id);
  await client.query(
    `insert into caudal.webhook_endpoints (organization_id, id, address, secret, status, created_at, updated_at, deleted_at)
     select $1, $2, $3, $4, 'ENABLED', caudal.now(), caudal.now(), caudal.now()
     where not exists (select from caudal.webhook_endpoints where organization_id = $1)`,
    [
      organizationId,
      id,
      encrypt('address', 'https://shop.example.com/hook'),
      encrypt('secret', 'x'.repeat(32)),
    ],
  );
}
