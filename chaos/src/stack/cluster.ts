import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { makeDatabaseFolder } from '../../../scripts/stack/memory-folder.ts';
import { ACCEPT_COPY, type PostgresCluster, startPostgres } from '../../../scripts/stack/postgres.ts';
import { runServerCommand } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';

/** One PostgreSQL for a whole run, with a migrated template database that every stack clones in about 50 ms. */
export interface Cluster {
  url(database: string): string;
  /** @returns the name of a new copy of the migrated database */
  clone(): Promise<string>;
  drop(database: string): Promise<void>;
  /** Kills every PostgreSQL process with SIGKILL and restarts it; unwritten data is lost. */
  crash(): Promise<void>;
  /** Stops or continues every PostgreSQL process, as a host that freezes and wakes. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Calls `watch` after every crash, once PostgreSQL is up again. @returns unsubscribes */
  watchCrashes(watch: (outage: { readonly from: Date; readonly until: Date }) => void): () => void;
  stop(): Promise<void>;
}

const TEMPLATE = 'caudal_template';
const SETTINGS = { max_connections: '300', shared_buffers: '128MB' };
const RECOVERS_WITHIN_MS = 30_000;

interface ClusterOptions {
  /** Settings of PostgreSQL besides the usual ones. */
  readonly settings?: Readonly<Record<string, string>>;
  /** `src/main.ts` of the server that migrates the template; default: this repository */
  readonly entry?: string;
}

export async function startCluster({ settings = {}, entry }: ClusterOptions = {}): Promise<Cluster> {
  const folder = makeDatabaseFolder('caudal-chaos-pg-');
  const options = {
    dataDir: join(folder, 'pg'),
    port: await freePort(),
    settings: { ...SETTINGS, ...settings },
    temporaryFolder: folder,
  };
  let postgres: PostgresCluster = await startPostgres(options);
  const url = (database: string) => postgres.url(database);
  let clones = 0;
  const watchers = new Set<Parameters<Cluster['watchCrashes']>[0]>();
  const stop = async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await createMigrated(url, TEMPLATE, entry);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    clone: async () => {
      clones += 1;
      const name = `stack_${clones}`;
      await asAdmin(url, `create database ${name} template ${TEMPLATE} strategy file_copy`);
      await asAdmin(() => url(name), ACCEPT_COPY);
      return name;
    },
    drop: (database) => asAdmin(url, `drop database if exists ${database} with (force)`),
    crash: async () => {
      const from = new Date();
      // Kills the backends too, in the middle of a commit: otherwise they would finish their work.
      for (const each of listProcesses(options.dataDir)) signalIfThere(each, 'SIGKILL');
      postgres = await startAfterCrash(options);
      for (const watch of watchers) watch({ from, until: new Date() });
    },
    signal: (signal) => {
      for (const each of listProcesses(options.dataDir)) signalIfThere(each, signal);
    },
    watchCrashes: (watch) => {
      watchers.add(watch);
      return () => watchers.delete(watch);
    },
    stop,
  };
}

/** The postmaster, then its backends. */
function listProcesses(dataDir: string): number[] {
  const parent = Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const text = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim();
  return [parent, ...(text === '' ? [] : text.split(' ').map(Number))];
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
}

/** Dying backends hold the shared memory for a moment, and a new postmaster does not start until they exit. */
async function startAfterCrash(options: Parameters<typeof startPostgres>[0]): Promise<PostgresCluster> {
  const deadline = performance.now() + RECOVERS_WITHIN_MS;
  for (;;) {
    try {
      return await startPostgres(options);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}

/** Creates a database and migrates it. */
export async function createMigrated(
  url: (database: string) => string,
  database: string,
  entry?: string,
): Promise<void> {
  await asAdmin(url, `create database ${database}`);
  const unused = 'http://127.0.0.1:1';
  const settings = serverSettings({ databaseUrl: url(database), simulatorUrl: unused, baseUrl: unused });
  await runServerCommand(['migrate'], settings, entry);
}

/** Runs a statement as the superuser. */
export async function asAdmin(
  url: (database: string) => string,
  statement: string,
  database = 'postgres',
): Promise<void> {
  const admin = new Client({ connectionString: url(database) });
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}
