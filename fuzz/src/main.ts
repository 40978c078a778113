/** `npm run fuzz`: generated requests against a real stack, and an oracle for every response. */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { type Outcome, print, reportTotals } from '../../chaos/src/run/outcome.ts';
import { type Cluster, startCluster } from '../../chaos/src/stack/cluster.ts';
import { runTenants } from './probes/run-tenants.ts';
import { runFuzz } from './run/run-fuzz.ts';
import { runPlanted } from './run/run-planted.ts';

const HELP = `npm run fuzz [-- OPTIONS]

  --requests N   send the first N requests of the seed (a full run uses 1000000; default 50000)
  --from I       start with request I, to continue an earlier run
  --minutes M    stop after M minutes, wherever the run is
  --tenants      cross-tenant probes: each operation and parameter with values of another organization, with row-level
                 security and without it
  --planted      check that the oracle detects every kind of corrupted response
  --ci           the CI subset: 50000 requests, one value per parameter in the probes, all corruptions
  --seed S       repeat the requests of an earlier run
  --help         print this text

Without options: the requests, the probes and the corruptions. Starts its own PostgreSQL, simulator, two API and two
worker processes.
`;

function readOptions() {
  const { requests, from, minutes, seed, ...flags } = parseArgs({
    options: {
      requests: { type: 'string' },
      from: { type: 'string', default: '0' },
      minutes: { type: 'string' },
      tenants: { type: 'boolean', default: false },
      planted: { type: 'boolean', default: false },
      ci: { type: 'boolean', default: false },
      seed: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
    strict: true,
  }).values;
  return {
    ...flags,
    requests: requests === undefined ? null : parseCount('requests', requests),
    from: parseCount('from', from),
    minutes: minutes === undefined ? null : parseCount('minutes', minutes),
    seed: seed === undefined ? randomInt(1, 2 ** 31) : parseCount('seed', seed),
  };
}

type Options = ReturnType<typeof readOptions>;

const DEFAULT_REQUESTS = 50_000;
/** Values per parameter in the probes. */
const PROBE_VALUES = { full: 6, ci: 1 };

async function run(cluster: Cluster, options: Options): Promise<Outcome[]> {
  const { requests, from, minutes, seed, tenants, planted, ci } = options;
  const everything = requests === null && !tenants && !planted;
  const outcomes: Outcome[] = [];
  if (everything || requests !== null)
    outcomes.push(
      await runFuzz(cluster, seed, {
        from,
        until: requests ?? DEFAULT_REQUESTS,
        ...(minutes === null ? {} : { minutes }),
      }),
    );
  if (everything || tenants)
    outcomes.push(await runTenants(cluster, seed, ci ? PROBE_VALUES.ci : PROBE_VALUES.full));
  if (everything || planted) outcomes.push(await runPlanted(cluster, seed));
  return outcomes;
}

function parseCount(option: string, text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new TypeError(`--${option} takes a whole number, not "${text}"`);
  return Number(text);
}

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nnpm run fuzz -- --help lists the options\n`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const { seed } = options;
  const startedAt = performance.now();
  print(`fuzz: seed ${seed}, Node ${process.version}`);
  const cluster = await startCluster();
  // The other child processes end with this one; PostgreSQL would keep running.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void cluster.stop().finally(() => process.exit(1)));
  try {
    const outcomes = await run(cluster, options);
    print(`fuzz: seed ${seed}, ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    return reportTotals(outcomes);
  } finally {
    await cluster.stop();
  }
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
