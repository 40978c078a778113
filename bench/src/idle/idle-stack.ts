import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Child } from '../../../scripts/stack/child.ts';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { startPostgres } from '../../../scripts/stack/postgres.ts';
import { runServerCommand, startServer, startSimulator } from '../../../scripts/stack/processes.ts';
import { seedOrganization } from '../../../scripts/stack/seed.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { atMost, type Metric } from '../metric.ts';
import { readCpuSeconds, readTreeCpuSeconds } from '../stage/processor-time.ts';
import { POSTGRES_SETTINGS } from '../stage/stage.ts';

/** Percent of one core for server processes and PostgreSQL together. */
const TARGET = 2;

const LAYOUTS = [['all'], ['api', 'worker']] as const;

interface Seconds {
  /** Wait after the start: caches fill and due schedules run. */
  readonly settle: number;
  readonly measured: number;
}

/**
 * P10: CPU time of a deployment without requests. It has its own cluster, because PostgreSQL statistics do not separate
 * the statements of the stage from those of the stack under test.
 */
export async function benchIdleStack(seconds: Seconds): Promise<Metric[]> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-idle-'));
  chmodSync(folder, 0o755);
  const [cluster, simulator] = await Promise.all([
    startPostgres({
      dataDir: join(folder, 'pg'),
      settings: { ...POSTGRES_SETTINGS, shared_buffers: '128MB' },
    }),
    startSimulator(join(folder, 'simulator')),
  ]);
  const client = new Client({ connectionString: cluster.url('postgres') });
  try {
    await client.connect();
    await client.query('create database caudal');
    const port = await freePort();
    const settings = serverSettings({
      databaseUrl: cluster.url('caudal'),
      simulatorUrl: simulator.url,
      baseUrl: `http://127.0.0.1:${port}`,
      port,
    });
    await runServerCommand(['migrate'], settings);
    await seedOrganization(settings);
    const postmaster = Number(readFileSync(join(cluster.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]);
    const metrics: Metric[] = [];
    for (const layout of LAYOUTS) {
      const processes = await Promise.all(
        layout.map((role) =>
          startServer(role, { ...settings, ...(role === 'worker' ? { CAUDAL_PORT: '0' } : {}) }),
        ),
      );
      try {
        metrics.push(await measure(layout.join(' + '), processes, postmaster, client, seconds));
      } finally {
        await Promise.all(processes.map((process) => process.stop()));
      }
    }
    return metrics;
  } finally {
    await client.end();
    await simulator.stop();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(
  layout: string,
  processes: readonly Child[],
  postmaster: number,
  client: Client,
  { settle, measured }: Seconds,
): Promise<Metric> {
  await sleep(settle * 1000);
  const before = await usage(processes, postmaster, client);
  await sleep(measured * 1000);
  const after = await usage(processes, postmaster, client);
  const elapsed = (after.at - before.at) / 1000;
  const server = (100 * (after.server - before.server)) / elapsed;
  const postgres = (100 * (after.postgres - before.postgres)) / elapsed;
  return atMost(TARGET, {
    id: 'P10',
    description: `of a core while idle (${layout})`,
    value: server + postgres,
    unit: '%',
    details: {
      server,
      postgres,
      'transactions per second': (after.transactions - before.transactions) / elapsed,
      seconds: elapsed,
    },
  });
}

async function usage(processes: readonly Child[], postmaster: number, client: Client) {
  const { rows } = await client.query<{ transactions: string }>(
    "select xact_commit + xact_rollback as transactions from pg_stat_database where datname = 'caudal'",
  );
  return {
    at: performance.now(),
    server: processes.reduce((sum, { pid }) => sum + readCpuSeconds(pid), 0),
    postgres: readTreeCpuSeconds(postmaster),
    transactions: Number(rows[0]?.transactions),
  };
}
