/**
 * The restore drill: base backup and archive under load, point-in-time restore to a chosen second on another cluster, comparison
 * with the rail, traffic again. Needs PostgreSQL's binaries in POSTGRES_BIN and pgbackrest.
 *
 *   npm run restore-drill [-- --seconds N] [--rate N]
 *
 * --seconds: how long the load runs before and after the chosen second; 8 by default, 60 for a full run.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Child } from '../../../scripts/stack/child.ts';
import { freePort } from '../../../scripts/stack/free-port.ts';
import type { PostgresCluster } from '../../../scripts/stack/postgres.ts';
import { runServerCommand, startServer, startSimulator } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { print, reportTotals } from '../run/outcome.ts';
import { type BackedUpCluster, startBackedUpCluster, withClient } from './backed-up-cluster.ts';
import { checkDrill } from './check-drill.ts';
import { DrillLoad } from './drill-load.ts';

const DEBIAN_BINARIES = '/usr/lib/postgresql/15/bin';
const DRAINS_WITHIN_MS = 60_000;

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '8' }, rate: { type: 'string', default: '10' } },
});

interface Processes {
  readonly apis: readonly string[];
  readonly settings: Record<string, string>;
  readonly opsUrl: string;
  stop(): Promise<void>;
}

/** Two API and two worker processes on a database. */
async function startProcesses(databaseUrl: string, simulatorUrl: string): Promise<Processes> {
  const ports = [await freePort(), await freePort()];
  const apis = ports.map((port) => `http://127.0.0.1:${port}`);
  const settings = {
    ...serverSettings({ databaseUrl, simulatorUrl, baseUrl: apis[0] ?? '' }),
    CAUDAL_LOG_LEVEL: 'warn',
    CAUDAL_WORKER_POLL_MS: '50',
  };
  const children: Child[] = await Promise.all([
    ...ports.map((port) => startServer('api', { ...settings, CAUDAL_PORT: String(port) })),
    startServer('worker', settings),
    startServer('worker', settings),
  ]);
  await fetch(`${simulatorUrl}/control/notices/target`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ urls: apis }),
  });
  return {
    apis,
    settings,
    opsUrl: `http://127.0.0.1:${String(children[2]?.ready['opsPort'])}`,
    stop: async () => void (await Promise.all(children.map((child) => child.stop()))),
  };
}

async function isHeld({ opsUrl }: Processes): Promise<boolean> {
  const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
  return /^caudal_sending_paused_after_restore 1$/m.test(metrics);
}

async function countExecutions(simulatorUrl: string): Promise<number> {
  return ((await (await fetch(`${simulatorUrl}/control/executions`)).json()) as unknown[]).length;
}

/** Runs the load for some seconds. */
async function runLoad(load: DrillLoad, seconds: number): Promise<void> {
  const running = load.run();
  await sleep(seconds * 1000);
  await load.stop();
  await running;
}

async function drill(seconds: number, perSecond: number): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-drill-'));
  const cluster = await startBackedUpCluster();
  const simulator = await startSimulator(folder);
  try {
    return await drillOn(cluster, simulator.url, { seconds, perSecond });
  } finally {
    await simulator.stop();
    await cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Pace {
  readonly seconds: number;
  readonly perSecond: number;
}

async function drillOn(cluster: BackedUpCluster, simulatorUrl: string, pace: Pace): Promise<string[]> {
  const { seconds, perSecond } = pace;
  const databaseUrl = cluster.postgres.ownerUrl(cluster.database);
  const nowhere = 'http://127.0.0.1:1';
  await runServerCommand(['migrate'], serverSettings({ databaseUrl, simulatorUrl, baseUrl: nowhere }));
  const before = await startProcesses(databaseUrl, simulatorUrl);
  const organization = ['org', 'create', '--name', 'Tienda', '--support', 'ayuda@tienda.example', '--json'];
  const created = JSON.parse(await runServerCommand(organization, before.settings)) as {
    readonly organizationId: string;
    readonly apiKey: string;
  };
  const deposit = ['ledger', 'deposit', '--org', created.organizationId, '--amount', '100000000'];
  await runServerCommand([...deposit, '--reference', 'drill'], before.settings);
  const load = new DrillLoad({
    apis: before.apis,
    apiKey: created.apiKey,
    simulatorUrl,
    perSecond,
    amountFrom: 10_000,
  });
  const running = load.run();
  await sleep((seconds * 1000) / 2);
  const backupStartedAt = performance.now();
  await cluster.backUp();
  print(`base backup under load: ${since(backupStartedAt)} s`);
  await sleep(seconds * 1000);
  const chosen = new Date();
  await sleep(seconds * 1000);
  await load.stop();
  await running;
  await before.stop();
  await cluster.archive();
  // The disaster: the old cluster and everything after the chosen second is gone.
  const restoreStartedAt = performance.now();
  const restored = await cluster.restore(chosen);
  print(`restore to ${chosen.toISOString()}: ${since(restoreStartedAt)} s`);
  return continueOn(restored, cluster.database, { simulatorUrl, chosen, load, apiKey: created.apiKey, pace });
}

interface Disaster {
  readonly simulatorUrl: string;
  readonly chosen: Date;
  readonly load: DrillLoad;
  readonly apiKey: string;
  readonly pace: Pace;
}

async function continueOn(
  restored: PostgresCluster,
  database: string,
  { simulatorUrl, chosen, load, apiKey, pace }: Disaster,
): Promise<string[]> {
  const failures: string[] = [];
  const executedBefore = await countExecutions(simulatorUrl);
  const after = await startProcesses(restored.ownerUrl(database), simulatorUrl);
  try {
    if (!(await isHeld(after))) failures.push('sending is not paused on the restored database');
    // Merchants repeat the payouts that the restored database has lost, with the same Idempotency-Key.
    const lost = load.acknowledged.filter(({ kind, at }) => kind === 'payout' && at > chosen).slice(0, 10);
    const { perSecond, seconds } = pace;
    const options = { apis: after.apis, apiKey, simulatorUrl, perSecond, amountFrom: 1_000_000 };
    const repeats = new DrillLoad(options);
    const repeated = await Promise.all(lost.map((payout) => repeats.repeat(payout)));
    if (repeated.includes(null)) failures.push('a repeated payout was not accepted while sending was paused');
    if ((await countExecutions(simulatorUrl)) !== executedBefore)
      failures.push('a payout was executed while sending was paused');
    const command = ['rails', 'reconcile-after-restore', '--since', chosen.toISOString(), '--by', 'drill'];
    const reconcileStartedAt = performance.now();
    const output = await runServerCommand(command, after.settings);
    print(`reconcile-after-restore: ${since(reconcileStartedAt)} s\n${summarize(output)}`);
    const traffic = new DrillLoad(options);
    // The heartbeat of each process sees within a second that sending is allowed.
    await sleep(1000);
    await runLoad(traffic, seconds);
    if (traffic.acknowledged.length === 0) failures.push('no traffic after the comparison');
    await untilDrained(restored.url(database), simulatorUrl);
    const facts = { databaseUrl: restored.url(database), simulatorUrl, chosen, before: load.acknowledged };
    failures.push(...(await checkDrill({ ...facts, after: traffic.acknowledged, lost, repeated })));
    const verify = await runServerCommand(['ledger', 'verify'], after.settings);
    print(verify.trim().split('\n').at(-1) ?? '');
  } finally {
    await after.stop();
  }
  return failures;
}

async function untilDrained(databaseUrl: string, simulatorUrl: string): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const deadline = performance.now() + DRAINS_WITHIN_MS;
    for (;;) {
      const { rows } = await client.query<{ open: number }>(
        `select ((select count(*) from caudal.payouts p where p.status = 'PROCESSING'
             and not exists (select from caudal.restored_orders r where r.closed_at is null and r.organization_id = p.organization_id
               and r.receiver_index = p.receiver_index and r.amount_in_cents = p.amount_in_cents and p.created_at >= r.restored_to))
           + (select count(*) from caudal.rail_notices where task is not null))::int as open`,
      );
      const stats = (await (await fetch(`${simulatorUrl}/control/stats`)).json()) as {
        readonly notices: { readonly queued: number; readonly acknowledged: number };
      };
      if (rows[0]?.open === 0 && stats.notices.queued === stats.notices.acknowledged) return;
      if (performance.now() > deadline) throw new Error(`${rows[0]?.open} payouts or notices are still open`);
      await sleep(250);
    }
  });
}

/** Without the line of each difference. */
function summarize(output: string): string {
  return output
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('  '))
    .join('\n');
}

function since(startedAt: number): string {
  return ((performance.now() - startedAt) / 1000).toFixed(1);
}

async function main(): Promise<number> {
  if (!process.env['POSTGRES_BIN'] && existsSync(DEBIAN_BINARIES))
    process.env['POSTGRES_BIN'] = DEBIAN_BINARIES;
  const startedAt = performance.now();
  const failures = await drill(Number(values.seconds), Number(values.rate));
  for (const failure of failures) print(`FAILED: ${failure}`);
  print(`restore drill: ${failures.length === 0 ? 'passed' : 'failed'} in ${since(startedAt)} s`);
  return reportTotals([{ passed: failures.length === 0 ? 1 : 0, failed: failures.length }]);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.stack : String(error));
    process.exitCode = reportTotals([{ passed: 0, failed: 1 }]);
  },
);
