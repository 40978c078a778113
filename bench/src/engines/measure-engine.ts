import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';
import type { Stage } from '../stage/stage.ts';
import type { Workload, WorkloadPlan, WorkloadResult } from './workload.ts';

const PROCESS = fileURLToPath(new URL('engine-process.ts', import.meta.url));
const DATABASE = 'engine';

/** Measures one workload in a new process and a new database with the engine's schema. */
export type Measure = (
  engine: string,
  workload: Workload,
  duration: Pick<WorkloadPlan, 'warmUpSeconds' | 'seconds'>,
) => Promise<EngineFigures>;

export type EngineTask = { readonly engine: string } & (
  | WorkloadPlan
  | { readonly workload: 'install'; readonly databaseUrl: string }
);

export type Cluster = Pick<Stage, 'query' | 'databaseUrl'>;

export interface EngineFigures extends WorkloadResult {
  readonly walBytes: number;
  readonly commits: number;
}

/** Installs the engines, each in a template database, and removes all databases at the end. */
export async function withEngines<Result>(
  cluster: Cluster,
  engines: readonly string[],
  use: (measure: Measure) => Promise<Result>,
): Promise<Result> {
  try {
    for (const engine of engines) {
      await createDatabase(cluster, templateOf(engine), 'template0');
      await runProcess({ engine, workload: 'install', databaseUrl: urlOf(cluster, templateOf(engine)) });
      await untilDisconnected(cluster, templateOf(engine));
    }
    return await use(async (engine, workload, duration) => {
      await createDatabase(cluster, DATABASE, templateOf(engine));
      return measureTask(cluster, { engine, workload, databaseUrl: urlOf(cluster, DATABASE), ...duration });
    });
  } finally {
    for (const name of [DATABASE, ...engines.map(templateOf)])
      await cluster.query(`drop database if exists ${name} with (force)`);
  }
}

function templateOf(engine: string): string {
  return `engine_${engine.toLowerCase().replaceAll('-', '_')}`;
}

async function measureTask(
  cluster: Cluster,
  task: { readonly engine: string } & WorkloadPlan,
): Promise<EngineFigures> {
  // Every workload starts with recycled WAL files and writes its pages in full for the first time.
  await cluster.query('checkpoint');
  const before = await writes(cluster);
  const result = await runProcess(task);
  // A backend reports its last commits when it exits.
  await untilDisconnected(cluster, DATABASE);
  const after = await writes(cluster);
  return {
    ...result,
    walBytes: (after.walBytes - before.walBytes) / result.items,
    commits: (after.commits - before.commits) / result.items,
  };
}

async function runProcess(task: EngineTask): Promise<WorkloadResult> {
  const child = await startChild({
    name: task.engine,
    args: [PROCESS, JSON.stringify(task)],
    readiness: 'exit',
  });
  return JSON.parse(child.output().trimEnd().split('\n').at(-1) ?? '') as WorkloadResult;
}

async function createDatabase(cluster: Cluster, name: string, template: string): Promise<void> {
  await cluster.query(`drop database if exists ${name} with (force)`);
  await cluster.query(`create database ${name} template ${template}`);
}

function urlOf({ databaseUrl }: Cluster, database: string): string {
  const url = new URL(databaseUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function writes(cluster: Cluster): Promise<{ readonly walBytes: number; readonly commits: number }> {
  const [row] = await cluster.query<{ wal: string; commits: string }>(
    `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal, xact_commit as commits
     from pg_stat_database where datname = '${DATABASE}'`,
  );
  return { walBytes: Number(row?.wal), commits: Number(row?.commits) };
}

async function untilDisconnected(cluster: Cluster, database: string): Promise<void> {
  const connected = `select from pg_stat_activity where datname = '${database}' and backend_type = 'client backend'`;
  while ((await cluster.query(connected)).length > 0) await sleep(20);
}
