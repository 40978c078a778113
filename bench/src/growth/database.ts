import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Child } from '../../../scripts/stack/child.ts';
import { runServerCommand, startServer } from '../../../scripts/stack/processes.ts';
import { newOrganizations, type Organization } from '../stage/new-organizations.ts';
import type { Stage } from '../stage/stage.ts';
import { loadHistory, type Month } from './load.ts';

/** The cluster and rail that the growth benches need. Each bench creates its own databases in it. */
export type Cluster = Pick<Stage, 'databaseUrl' | 'settings' | 'simulatorUrl'>;

export interface GrownDatabase {
  readonly rows: number;
  readonly settings: Record<string, string>;
  readonly months: readonly Month[];
  /** The largest one first. */
  readonly organizations: readonly Organization[];
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
  /** Deletes the database, which can use as much disk as a year of business. */
  drop(): Promise<void>;
}

/** A database with payins in past months. An existing one of a kept cluster is completed and reused. */
export async function growDatabase(
  cluster: Cluster,
  name: string,
  options: { readonly rows: number; readonly months: number; readonly organizations: number },
  print: (text: string) => void = () => undefined,
): Promise<GrownDatabase> {
  const url = new URL(cluster.databaseUrl);
  url.pathname = `/${name}`;
  // A separate deployment in the same cluster.
  const settings = { ...cluster.settings, DATABASE_URL: url.href, CAUDAL_DATABASE_ROLE_PREFIX: name };
  // A database without history must be empty each time.
  const existing = options.rows === 0 ? null : await readOrganizations(cluster.databaseUrl, name);
  const organizations =
    existing ?? (await newDatabase(cluster.databaseUrl, name, settings, options.organizations));
  const months = await loadHistory(settings, {
    ...options,
    organizationIds: organizations.map(({ organizationId }) => organizationId),
    print,
  });
  const client = new Client({ connectionString: url.href });
  await client.connect();
  return {
    rows: options.rows,
    settings,
    months,
    organizations,
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows,
    close: () => client.end(),
    drop: async () => {
      await client.end();
      await asAdmin(cluster.databaseUrl, (admin) => admin.query(`drop database ${name} with (force)`));
    },
  };
}

type Organizations = GrownDatabase['organizations'];

function readOrganizations(clusterUrl: string, name: string): Promise<Organizations | null> {
  return asAdmin(clusterUrl, async (admin) => {
    const { rows } = await admin.query<{ text: string | null }>(
      "select shobj_description(oid, 'pg_database') as text from pg_database where datname = $1",
      [name],
    );
    return rows[0]?.text ? (JSON.parse(rows[0].text) as Organizations) : null;
  });
}

function newDatabase(
  clusterUrl: string,
  name: string,
  settings: Record<string, string>,
  count: number,
): Promise<Organizations> {
  return asAdmin(clusterUrl, async (admin) => {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`create database ${name}`);
    await runServerCommand(['migrate'], settings);
    const organizations = await newOrganizations(settings, count);
    const text = admin.escapeLiteral(JSON.stringify(organizations));
    await admin.query(`comment on database ${name} is ${text}`);
    return organizations;
  });
}

async function asAdmin<T>(clusterUrl: string, work: (admin: Client) => Promise<T>): Promise<T> {
  const admin = new Client({ connectionString: clusterUrl });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

export interface Served extends Child {
  readonly port: number;
}

/** Starts one API process for the database, on a free port. */
export async function serve(database: GrownDatabase): Promise<Served> {
  const child = await startServer('api', { ...database.settings, CAUDAL_PORT: '0', CAUDAL_OPS_PORT: '0' });
  return { ...child, port: Number(child.ready['port']) };
}

/** The main process of the cluster, under which the CPU time of all connections is counted. */
export async function postmasterPid(database: GrownDatabase): Promise<number> {
  const [row] = await database.query<{ data_directory: string }>('show data_directory');
  return Number(readFileSync(join(row?.data_directory ?? '', 'postmaster.pid'), 'utf8').split('\n')[0]);
}
