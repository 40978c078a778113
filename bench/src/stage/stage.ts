import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort, startPostgres } from '../../../scripts/stack/postgres.ts';
import { runServerCommand, startServer, startSimulator } from '../../../scripts/stack/processes.ts';
import { seedOrganization } from '../../../scripts/stack/seed.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { newOrganizations, type Organization } from './new-organizations.ts';
import { cpuSecondsOf, cpuSecondsOfFamily, type Spent } from './processor-time.ts';

/** Durability as in production; only the sizes that a test machine's defaults make too small are set. */
export const POSTGRES_SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  min_wal_size: '2GB',
  checkpoint_timeout: '30min',
  max_connections: '200',
  wal_compression: 'off',
};

const LOG_FILES = 64;

export interface Stage {
  readonly folder: string;
  readonly databaseUrl: string;
  /** A second database of the same cluster, for the bare twin. */
  readonly baselineUrl: string;
  readonly organizationId: string;
  readonly apiKey: string;
  /** One API process for each core, as a deployment has; connections are shared out between their ports. */
  readonly ports: readonly number[];
  readonly simulatorUrl: string;
  readonly settings: Record<string, string>;
  readonly postgresSettings: Readonly<Record<string, string>>;
  /** The one worker process. */
  readonly workerPid: number;
  /** Where the first API process and the worker can be profiled; null unless asked for. */
  readonly inspectors: { readonly api: number; readonly worker: number } | null;
  /** Processor time so far. */
  spent(): Spent;
  /** @param databaseUrl another database than the stage's own, as the twin's */
  newOrganizations(count: number, databaseUrl?: string): Promise<Organization[]>;
  /** For what a worker would do meanwhile and is to be measured alone. */
  pauseWorkers(): Promise<void>;
  /**
   * Payins that nobody pays are asked about half a minute later, and after five: what one load leaves behind would be
   * measured with the next, or with its bare twin. From here on nothing more is done about them.
   */
  leaveUnpaid(): Promise<void>;
  query<Row extends object>(text: string): Promise<Row[]>;
  stop(): Promise<void>;
}

export async function buildStage({ inspected = false } = {}): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-bench-'));
  chmodSync(folder, 0o755);
  const [cluster, simulator] = await Promise.all([
    startPostgres({ dataDir: join(folder, 'pg'), settings: POSTGRES_SETTINGS }),
    startSimulator(join(folder, 'simulator')),
  ]);
  const port = await freePort();
  const settings = {
    ...serverSettings({
      databaseUrl: cluster.url('caudal'),
      simulatorUrl: simulator.url,
      baseUrl: `http://127.0.0.1:${port}`,
      port,
    }),
    ...serverOverrides(),
  };
  const admin = new Client({ connectionString: cluster.url('postgres') });
  await admin.connect();
  await admin.query('create database caudal');
  await runServerCommand(['migrate'], settings);
  await useLogFiles(admin);
  const { apiKey } = await seedOrganization(settings);
  await admin.query('create database twin template caudal');
  await admin.end();
  const client = new Client({ connectionString: cluster.url('caudal') });
  await client.connect();
  const { rows } = await client.query<{ id: string }>(
    'select id from caudal.organizations where not is_operator',
  );
  const inspectors = inspected ? { api: await freePort(), worker: await freePort() } : null;
  const [worker, ...apis] = await Promise.all([
    startServer('worker', { ...settings, ...inspectedBy(inspectors?.worker) }),
    ...cpus().map((_, index) =>
      startServer('api', {
        ...settings,
        CAUDAL_PORT: String(index === 0 ? port : 0),
        ...(index === 0 ? inspectedBy(inspectors?.api) : {}),
      }),
    ),
  ]);
  const urls = apis.map((api) => `http://127.0.0.1:${String(api.ready['port'])}`);
  await fetch(`${simulator.url}/control/notices/target`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ urls }),
  });
  const postmaster = Number(readFileSync(join(cluster.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  let stopping: Promise<void> | null = null;
  const stop = async () => {
    await Promise.all([...apis, worker].map((child) => child.stop()));
    await simulator.stop();
    await client.end();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const stopOnce = () => (stopping ??= stop());
  // The database outlives whoever started it: without this, a run that is broken off leaves one behind.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stopOnce().finally(() => process.exit(130)));
  return {
    folder,
    databaseUrl: cluster.url('caudal'),
    baselineUrl: cluster.url('twin'),
    organizationId: rows[0]?.id ?? '',
    apiKey,
    ports: apis.map((api) => Number(api.ready['port'])),
    simulatorUrl: simulator.url,
    settings,
    postgresSettings: POSTGRES_SETTINGS,
    workerPid: worker.pid,
    inspectors,
    spent: () => ({
      api: apis.reduce((sum, api) => sum + cpuSecondsOf(api.pid), 0),
      worker: cpuSecondsOf(worker.pid),
      postgres: cpuSecondsOfFamily(postmaster),
      simulator: cpuSecondsOf(simulator.pid),
    }),
    newOrganizations: (count, databaseUrl = cluster.url('caudal')) =>
      newOrganizations({ ...settings, DATABASE_URL: databaseUrl }, count),
    pauseWorkers: async () => {
      await worker.stop();
    },
    leaveUnpaid: async () => {
      await client.query(
        'update caudal.payins set rail_task = null, rail_due_at = null, leased_until = null, lease_token = null where rail_due_at is not null',
      );
    },
    query: async <Row extends object>(text: string) => (await client.query<Row>(text)).rows,
    stop: stopOnce,
  };
}

/**
 * A cluster that has run for a while writes its log over files it no longer needs; a new one makes each of them first,
 * sixteen megabytes of zeros, with every commit waiting. As many as the longest bench writes before a checkpoint.
 */
async function useLogFiles(admin: Client): Promise<void> {
  for (let file = 0; file < LOG_FILES; file += 1) {
    await admin.query("select pg_logical_emit_message(false, 'bench', '')");
    await admin.query('select pg_switch_wal()');
  }
  await admin.query('checkpoint');
}

function inspectedBy(port: number | undefined): Record<string, string> {
  return port === undefined ? {} : { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` };
}

/** BENCH_SERVER_X=Y in the environment becomes X=Y in the server's: for profiles and trials. */
function serverOverrides(): Record<string, string> {
  const prefix = 'BENCH_SERVER_';
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}
