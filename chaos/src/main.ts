/** `npm run chaos`: fault injection and model checking. Shows that no process failure loses data. */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { FAULTS } from './failover/faults.ts';
import { isInsideNamespaces, runInsideNamespaces } from './failover/namespaces.ts';
import { type FailoverOptions, runFailovers } from './failover/run-failovers.ts';
import { runFailpoints } from './failpoints/run-failpoints.ts';
import { runKills } from './kills/run-kills.ts';
import { runHistories } from './model/run-histories.ts';
import { runPayouts } from './payouts/run-payouts.ts';
import { runPlanted } from './planted/run-planted.ts';
import { type Outcome, print, reportTotals } from './run/outcome.ts';
import { inSample } from './run/sample.ts';
import { type Cluster, startCluster } from './stack/cluster.ts';
import { runWebhooks } from './webhooks/run-webhooks.ts';

const HELP = `npm run chaos [-- OPTIONS]

  --regressions   run the regression histories against the model: every history that ever violated an invariant
  --histories N   run the regression histories, then N random ones
  --kills N       kill processes N times under load and faults
  --payouts N     run N payouts under kills and faults; each executes at most once
  --webhooks N    run N payins, payouts and links under kills and endpoint faults; every event reaches every
                  subscribed endpoint (a full run uses 10000)
  --links N       the same with links only: what every payer's screen says about money is true (a full run uses 5000)
  --failpoints    kill a process once at every failpoint
  --failovers N   let the primary of a three-node cluster fail N times under load (a full run uses 100); runs alone, as
                  root, and needs the Debian packages patroni, etcd-server, haproxy and postgresql-15
  --write-table   with --failovers: write the table of results to docs/operating/failover.md
  --planted       check that every planted bug is detected by its history or scenario
  --ci            the CI subset: 60 histories, half of the failpoints and planted bugs (chosen by the seed),
                  300 payouts, webhooks of 300
  --only WORDS    with --failpoints and --planted: only names that contain one of the words (separated by |);
                  with --failovers: only these faults (separated by |): ${Object.keys(FAULTS).join(', ')}
  --seed S        repeat the random choices of an earlier run
  --path P        with --histories and --seed: run only the failed history, with the path that its run printed
  --server DIR    with --payouts, --webhooks and --links: test the server in DIR, a modified copy of server/
  --help          print this text

Without options: a short mix of all. Starts its own PostgreSQL.
`;

const { values } = parseArgs({
  options: {
    regressions: { type: 'boolean', default: false },
    histories: { type: 'string' },
    kills: { type: 'string' },
    payouts: { type: 'string' },
    webhooks: { type: 'string' },
    links: { type: 'string' },
    failovers: { type: 'string' },
    'write-table': { type: 'boolean', default: false },
    failpoints: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
    ci: { type: 'boolean', default: false },
    only: { type: 'string' },
    seed: { type: 'string' },
    path: { type: 'string' },
    server: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
  strict: true,
});

type Part = (cluster: Cluster, seed: number) => Promise<Outcome>;

const histories =
  (count: number): Part =>
  (cluster, seed) =>
    runHistories(cluster, seed, count, values.path);
const kills =
  (count: number): Part =>
  (cluster, seed) =>
    runKills(cluster, seed, count);
const payouts =
  (count: number): Part =>
  (cluster, seed) =>
    runPayouts(cluster, seed, count, serverOption());
const webhooks =
  (count: number): Part =>
  (cluster, seed) =>
    runWebhooks(cluster, seed, count, serverOption());
const links =
  (count: number): Part =>
  (cluster, seed) =>
    runWebhooks(cluster, seed, count, { ...serverOption(), onlyLinks: true });

const failpoints: Part = (cluster, seed) => runFailpoints(cluster, seed, selectBySeed(seed));
const planted: Part = (cluster, seed) => runPlanted(cluster, selectBySeed(seed));

function selectBySeed(seed: number): (name: string) => boolean {
  const only = new RegExp(values.only ?? '', 'u');
  return (name) => only.test(name) && (!values.ci || inSample(seed, name, 2));
}

function serverOption(): { serverRoot?: string } {
  return values.server === undefined ? {} : { serverRoot: values.server };
}

function parts(): Part[] {
  if (values.ci) return [histories(60), failpoints, planted, payouts(300), webhooks(300)];
  const chosen = [
    ...(values.regressions ? [histories(0)] : []),
    ...(values.histories === undefined ? [] : [histories(parseCount(values.histories))]),
    ...(values.failpoints ? [failpoints] : []),
    ...(values.kills === undefined ? [] : [kills(parseCount(values.kills))]),
    ...(values.payouts === undefined ? [] : [payouts(parseCount(values.payouts))]),
    ...(values.webhooks === undefined ? [] : [webhooks(parseCount(values.webhooks))]),
    ...(values.links === undefined ? [] : [links(parseCount(values.links))]),
    ...(values.planted ? [planted] : []),
  ];
  return chosen.length > 0
    ? chosen
    : [histories(30), failpoints, kills(25), payouts(200), webhooks(200), planted];
}

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new Error(`"${text}" is not a positive integer`);
  return Number(text);
}

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values.failovers !== undefined && !isInsideNamespaces()) return runInsideNamespaces();
  const seed = values.seed === undefined ? randomInt(1, 2 ** 31) : parseCount(values.seed);
  const startedAt = performance.now();
  print(`chaos: seed ${seed}, commit ${commit()}, Node ${process.version}`);
  if (values.failovers !== undefined)
    return reportTotals([await runFailovers(seed, parseCount(values.failovers), failoverOptions())]);
  const chosen = parts();
  const cluster = await startCluster();
  // The other child processes end with this one; PostgreSQL would keep running.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void cluster.stop().finally(() => process.exit(1)));
  const outcomes: Outcome[] = [];
  try {
    for (const part of chosen) outcomes.push(await part(cluster, seed));
  } finally {
    await cluster.stop();
  }
  print(`chaos: seed ${seed}, ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  return reportTotals(outcomes);
}

function failoverOptions(): FailoverOptions {
  const only = values.only?.split('|') ?? null;
  const unknown = only?.find((name) => !(name in FAULTS));
  if (unknown !== undefined)
    throw new Error(`"${unknown}" is not a fault: ${Object.keys(FAULTS).join(', ')}`);
  return { writeTable: values['write-table'], only: only as FailoverOptions['only'] };
}

function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return 'unknown';
  }
}

function end(code: number): void {
  process.exitCode = code;
  // A cluster that failed to start would keep this process; it ends with the namespaces.
  if (isInsideNamespaces()) process.exit();
}

main().then(
  (code) => end(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.stack : String(error));
    end(reportTotals([{ passed: 0, failed: 1 }]));
  },
);
