import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { startPostgres } from '../../../scripts/stack/postgres.ts';
import { runServerCommand, startServer, startSimulator } from '../../../scripts/stack/processes.ts';
import { seedOrganization } from '../../../scripts/stack/seed.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { newOrganizations, type Organization } from './new-organizations.ts';
import { readCpuSeconds, readTreeCpuSeconds, type Spent } from './processor-time.ts';

/** Durable as in production; only sizes whose defaults are too small are changed. */
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

const WAL_FILES = 64;

export interface Stage {
  readonly folder: string;
  readonly databaseUrl: string;
  /** A second database of the same cluster, for the baseline. */
  readonly baselineUrl: string;
  readonly organizationId: string;
  readonly apiKey: string;
  /** One API process per core, as in a deployment; connections are distributed over their ports. */
  readonly ports: readonly number[];
  readonly simulatorUrl: string;
  readonly settings: Record<string, string>;
  readonly postgresSettings: Readonly<Record<string, string>>;
  /** The one worker process. */
  readonly workerPid: number;
  /** Inspector ports of the first API process and the worker; null unless requested. */
  readonly inspectors: { readonly api: number; readonly worker: number } | null;
  /** CPU time so far. */
  spent(): Spent;
  /** @param databaseUrl default: the stage's own database */
  newOrganizations(count: number, databaseUrl?: string): Promise<Organization[]>;
  /** Stops the worker, so that its work can be measured separately. */
  pauseWorkers(): Promise<void>;
  /**
   * The worker polls unpaid payins after 30 seconds and after five minutes, which would disturb the next measurement.
   * This removes all due polls.
   */
  abandonUnpaidPayins(): Promise<void>;
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
  await recycleWalFiles(admin);
  const { apiKey } = await seedOrganization(settings);
  await admin.query('create database baseline template caudal');
  await admin.end();
  const client = new Client({ connectionString: cluster.url('caudal') });
  await client.connect();
  const { rows } = await client.query<{ id: string }>(
    'select id from caudal.organizations where not is_operator',
  );
  const inspectors = inspected ? { api: await freePort(), worker: await freePort() } : null;
  const [worker, ...apis] = await Promise.all([
    startServer('worker', { ...settings, ...inspectorEnv(inspectors?.worker) }),
    ...cpus().map((_, index) =>
      startServer('api', {
        ...settings,
        CAUDAL_PORT: String(index === 0 ? port : 0),
        ...(index === 0 ? inspectorEnv(inspectors?.api) : {}),
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
  // PostgreSQL outlives its parent process: without this, an interrupted run would leave it running.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stopOnce().finally(() => process.exit(130)));
  return {
    folder,
    databaseUrl: cluster.url('caudal'),
    baselineUrl: cluster.url('baseline'),
    organizationId: rows[0]?.id ?? '',
    apiKey,
    ports: apis.map((api) => Number(api.ready['port'])),
    simulatorUrl: simulator.url,
    settings,
    postgresSettings: POSTGRES_SETTINGS,
    workerPid: worker.pid,
    inspectors,
    spent: () => ({
      api: apis.reduce((sum, api) => sum + readCpuSeconds(api.pid), 0),
      worker: readCpuSeconds(worker.pid),
      postgres: readTreeCpuSeconds(postmaster),
      simulator: readCpuSeconds(simulator.pid),
    }),
    newOrganizations: (count, databaseUrl = cluster.url('caudal')) =>
      newOrganizations({ ...settings, DATABASE_URL: databaseUrl }, count),
    pauseWorkers: async () => {
      await worker.stop();
    },
    abandonUnpaidPayins: async () => {
      await client.query(
        'update caudal.payins set rail_task = null, rail_due_at = null, leased_until = null, lease_token = null where rail_due_at is not null',
      );
    },
    query: async <Row extends object>(text: string) => (await client.query<Row>(text)).rows,
    stop: stopOnce,
  };
}

/**
 * A cluster that has run for a while recycles WAL files; a new one first creates each file (16 MB of zeros) while every
 * commit waits. This creates as many files as the longest bench writes before a checkpoint.
 */
async function recycleWalFiles(admin: Client): Promise<void> {
  for (let file = 0; file < WAL_FILES; file += 1) {
    await admin.query("select pg_logical_emit_message(false, 'bench', '')");
    await admin.query('select pg_switch_wal()');
  }
  await admin.query('checkpoint');
}

function inspectorEnv(port: number | undefined): Record<string, string> {
  return port === undefined ? {} : { NODE_OPTIONS: `--inspect=127.0.0.1:${port}` };
}

/** BENCH_SERVER_X=Y in the environment becomes X=Y in the server environment, for profiling and experiments. */
function serverOverrides(): Record<string, string> {
  const prefix = 'BENCH_SERVER_';
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined ? [[name.slice(prefix.length), value]] : [],
    ),
  );
}
