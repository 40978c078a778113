/** npm run chaos: proof that nothing is lost, whatever dies. */
import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { inSample } from '../../scripts/sample.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { runFailpoints } from './failpoints.ts';
import { runKills } from './kills.ts';
import { runHistories } from './model/run-histories.ts';
import { close, type Outcome, say } from './outcome.ts';
import { runPayouts } from './payouts.ts';
import { runPlanted } from './planted/run-planted.ts';
import { runWebhooks } from './webhooks.ts';

const HELP = `npm run chaos [-- OPTIONS]

  --histories N   N random histories against the model, kept ones first
  --kills N       N kills of processes under load and faults
  --payouts N     N payouts under kills and faults: each is executed once or not at all
  --webhooks N    events of N payins, payouts and links under kills and faults of endpoints: each reaches whoever wants it (10000
                  in a full run)
  --failpoints    a process dies once at every failpoint
  --planted       every planted bug is found by its saved history
  --ci            what CI has time for: 60 histories, half of the failpoints and of the planted bugs (the seed
                  chooses), 300 payouts, webhooks of 300
  --only WORDS    with --failpoints and --planted: those whose name has one of the words (separated by |)
  --seed S        repeats what chance decided in an earlier run
  --path P        with --histories and --seed: the failed history alone, as its run told
  --server DIR    with --payouts and --webhooks: judges the server in DIR, a changed copy of server/
  --help          this text

Without options: a short mix of all. Needs no database: it brings its own.
`;

const { values } = parseArgs({
  options: {
    histories: { type: 'string' },
    kills: { type: 'string' },
    payouts: { type: 'string' },
    webhooks: { type: 'string' },
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
    runPayouts(cluster, seed, count, judged());
const webhooks =
  (count: number): Part =>
  (cluster, seed) =>
    runWebhooks(cluster, seed, count, judged());

const failpoints: Part = (cluster, seed) => runFailpoints(cluster, seed, chosenBy(seed));
const planted: Part = (cluster, seed) => runPlanted(cluster, chosenBy(seed));

function chosenBy(seed: number): (name: string) => boolean {
  const only = new RegExp(values.only ?? '', 'u');
  return (name) => only.test(name) && (!values.ci || inSample(seed, name, 2));
}

function judged(): { serverRoot?: string } {
  return values.server === undefined ? {} : { serverRoot: values.server };
}

function parts(): Part[] {
  if (values.ci) return [histories(60), failpoints, planted, payouts(300), webhooks(300)];
  const chosen = [
    ...(values.histories === undefined ? [] : [histories(whole(values.histories))]),
    ...(values.failpoints ? [failpoints] : []),
    ...(values.kills === undefined ? [] : [kills(whole(values.kills))]),
    ...(values.payouts === undefined ? [] : [payouts(whole(values.payouts))]),
    ...(values.webhooks === undefined ? [] : [webhooks(whole(values.webhooks))]),
    ...(values.planted ? [planted] : []),
  ];
  return chosen.length > 0
    ? chosen
    : [histories(30), failpoints, kills(25), payouts(200), webhooks(200), planted];
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new Error(`"${text}" is no whole number above zero`);
  return Number(text);
}

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const chosen = parts();
  const seed = values.seed === undefined ? randomInt(1, 2 ** 31) : whole(values.seed);
  const began = performance.now();
  say(`chaos: seed ${seed}, commit ${commit()}, Node ${process.version}`);
  const cluster = await startCluster();
  // The other processes end with us; PostgreSQL would outlive us.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void cluster.stop().finally(() => process.exit(1)));
  const outcomes: Outcome[] = [];
  try {
    for (const part of chosen) outcomes.push(await part(cluster, seed));
  } finally {
    await cluster.stop();
  }
  say(`chaos: seed ${seed}, ${((performance.now() - began) / 1000).toFixed(0)} s`);
  return close(outcomes);
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

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.stack : String(error));
    process.exitCode = close([{ passed: 0, failed: 1 }]);
  },
);
