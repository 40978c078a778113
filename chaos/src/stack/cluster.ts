import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type PostgresCluster, startPostgres } from '../../scripts/stack/postgres.ts';
import { runServerCommand } from '../../scripts/stack/processes.ts';
import { serverSettings } from '../../scripts/stack/settings.ts';

/** One PostgreSQL for a whole run, with a migrated database that every stage clones: a clone takes 50 ms. */
export interface Cluster {
  url(database: string): string;
  /** A fresh copy of the migrated database. */
  clone(): Promise<string>;
  drop(database: string): Promise<void>;
  /** SIGKILL to every process of it, and start again: what was not handed to the system is gone. */
  crash(): Promise<void>;
  /** Is told of every crash, once it is over. @returns ends it */
  watchCrashes(watch: (away: { readonly from: Date; readonly until: Date }) => void): () => void;
  stop(): Promise<void>;
}

const TEMPLATE = 'caudal_template';
const SETTINGS = { max_connections: '300', shared_buffers: '128MB' };
const RECOVERS_WITHIN_MS = 30_000;

export async function startCluster(): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-pg-'));
  // PostgreSQL runs as another user when we are root, and must be able to enter.
  chmodSync(folder, 0o755);
  const options = { dataDir: join(folder, 'pg'), port: await steadyPort(), settings: SETTINGS };
  let postgres: PostgresCluster = await startPostgres(options);
  const url = (database: string) => postgres.url(database);
  let clones = 0;
  const watchers = new Set<Parameters<Cluster['watchCrashes']>[0]>();
  const stop = async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await migrateTemplate(url);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    clone: async () => {
      clones += 1;
      const name = `stage_${clones}`;
      await asAdmin(url, `create database ${name} template ${TEMPLATE}`);
      return name;
    },
    drop: (database) => asAdmin(url, `drop database if exists ${database} with (force)`),
    crash: async () => {
      const from = new Date();
      const pid = Number(readFileSync(join(options.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
      // Its children too, and in the middle of a commit: left alone they would finish what they are at.
      const children = childrenOf(pid);
      for (const each of [pid, ...children]) killIfThere(each);
      postgres = await startAfterCrash(options);
      for (const watch of watchers) watch({ from, until: new Date() });
    },
    watchCrashes: (watch) => {
      watchers.add(watch);
      return () => watchers.delete(watch);
    },
    stop,
  };
}

function childrenOf(parent: number): number[] {
  const text = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as { code?: string }).code !== 'ESRCH') throw error;
  }
}

/** The dead postmaster's children hold its shared memory for a moment, and a new one refuses to start until they left. */
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

async function migrateTemplate(url: (database: string) => string): Promise<void> {
  await asAdmin(url, `create database ${TEMPLATE}`);
  const nowhere = 'http://127.0.0.1:1';
  const settings = serverSettings({ databaseUrl: url(TEMPLATE), simulatorUrl: nowhere, baseUrl: nowhere });
  await runServerCommand(['migrate'], settings);
}

async function asAdmin(url: (database: string) => string, statement: string): Promise<void> {
  const admin = new Client({ connectionString: url('postgres') });
  await admin.connect();
  try {
    await admin.query(statement);
  } finally {
    await admin.end();
  }
}

/**
 * A free port below those that the system gives to outgoing connections: while a killed process is away, one of the
 * many connections of a run would sooner or later be given its port.
 */
export async function steadyPort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 30_000);
    const free = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
