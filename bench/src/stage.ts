import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort, startPostgres } from '../../scripts/stack/postgres.ts';
import { runServerCommand, startServer, startSimulator } from '../../scripts/stack/processes.ts';
import { seedOrganization } from '../../scripts/stack/seed.ts';
import { serverSettings } from '../../scripts/stack/settings.ts';
import { compose } from '../../server/src/compose.ts';
import { readConfig } from '../../server/src/config.ts';
import { createOrganization } from '../../server/src/flows/manage-organizations.ts';
import { makeLog } from '../../server/src/kit/log.ts';
import { SCOPES } from '../../server/src/organizations/organization.ts';

/** Durability as in production; only the sizes that a test machine's defaults make too small are set. */
const POSTGRES_SETTINGS = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '1GB',
  max_wal_size: '8GB',
  checkpoint_timeout: '30min',
  max_connections: '200',
  wal_compression: 'off',
};

export interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
}

export interface Stage {
  readonly folder: string;
  readonly databaseUrl: string;
  /** A second database of the same cluster, for the bare twin. */
  readonly twinUrl: string;
  readonly organizationId: string;
  readonly apiKey: string;
  /** One API process for each core, as a deployment has; connections are shared out between their ports. */
  readonly ports: readonly number[];
  readonly simulatorUrl: string;
  readonly settings: Record<string, string>;
  readonly postgresSettings: Readonly<Record<string, string>>;
  /** The one worker process. */
  readonly workerPid: number;
  newOrganizations(count: number): Promise<Organization[]>;
  /** For what a worker would do meanwhile and is to be measured alone. */
  pauseWorkers(): Promise<void>;
  query<Row extends object>(text: string): Promise<Row[]>;
  stop(): Promise<void>;
}

export async function buildStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-bench-'));
  chmodSync(folder, 0o755);
  const cluster = await startPostgres({ dataDir: join(folder, 'pg'), settings: POSTGRES_SETTINGS });
  const simulator = await startSimulator(join(folder, 'simulator'));
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
  const { apiKey } = await seedOrganization(settings);
  await admin.query('create database twin template caudal');
  await admin.end();
  const client = new Client({ connectionString: cluster.url('caudal') });
  await client.connect();
  const { rows } = await client.query<{ id: string }>(
    'select id from caudal.organizations where not is_house',
  );
  const apis = await Promise.all(
    cpus().map((_, index) =>
      startServer('api', { ...settings, CAUDAL_PORT: String(index === 0 ? port : 0) }),
    ),
  );
  const urls = apis.map((api) => `http://127.0.0.1:${String(api.ready['port'])}`);
  await fetch(`${simulator.url}/control/notices/target`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ urls }),
  });
  const worker = await startServer('worker', settings);
  return {
    folder,
    databaseUrl: cluster.url('caudal'),
    twinUrl: cluster.url('twin'),
    organizationId: rows[0]?.id ?? '',
    apiKey,
    ports: apis.map((api) => Number(api.ready['port'])),
    simulatorUrl: simulator.url,
    settings,
    postgresSettings: POSTGRES_SETTINGS,
    workerPid: worker.pid,
    newOrganizations: (count) => newOrganizations(settings, count),
    pauseWorkers: async () => {
      await worker.stop();
    },
    query: async <Row extends object>(text: string) => (await client.query<Row>(text)).rows,
    stop: async () => {
      await Promise.all([...apis, worker].map((child) => child.stop()));
      await simulator.stop();
      await client.end();
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const DETAILS = {
  name: 'Bench',
  accent: '#0f766e',
  supportContact: 'bench',
  rails: ['BRE_B', 'PSE'],
  city: 'BOGOTA',
  postalCode: '110111',
  merchantCategory: '5999',
} as const;

/** In this process: a command of the server costs a second of a core to start, and some benches want dozens. */
async function newOrganizations(settings: Record<string, string>, count: number): Promise<Organization[]> {
  const { deps, heartbeat, close } = compose(
    readConfig('operator', settings),
    makeLog({ level: 'error', base: {} }),
  );
  try {
    await heartbeat.start();
    const made: Organization[] = [];
    while (made.length < count) {
      const { id, credential } = await createOrganization(deps, DETAILS, {
        name: 'bench',
        scopes: SCOPES,
        lifetimeSeconds: null,
      });
      made.push({ organizationId: id, apiKey: credential.text });
    }
    return made;
  } finally {
    await heartbeat.stop();
    await close();
  }
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
