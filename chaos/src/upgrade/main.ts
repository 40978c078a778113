/**
 * Rolling upgrade and rollback under load: two API and two worker processes of an earlier release are replaced by those of
 * this clone and then by the earlier ones again. No request fails, nothing is lost, nothing happens twice.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PollingProxy } from '../../../scripts/stack/polling-proxy.ts';
import { type ClientJournal, openClientJournal } from '../clients/client-journal.ts';
import { WebhookClient } from '../clients/webhook-client.ts';
import { fillDirectory, fund } from '../load/payout-load.ts';
import { drainPayins } from '../run/drain-payins.ts';
import { drainPayouts } from '../run/drain-payouts.ts';
import { drainWebhooks } from '../run/drain-webhooks.ts';
import { type Outcome, print, reportTotals, tally } from '../run/outcome.ts';
import { randomFrom } from '../run/random.ts';
import { keepJournals, runChecker } from '../run/run-checker.ts';
import { startCluster } from '../stack/cluster.ts';
import { type RailControl, railControl } from '../stack/rail-control.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { type Sinks, startSinks } from '../webhooks/sinks.ts';
import { MerchantEndpoints } from '../webhooks/webhook-endpoints.ts';
import { fillPayins } from './fill-payins.ts';
import { Fleet } from './fleet.ts';
import { LockWatch } from './lock-watch.ts';
import { currentRelease, firstRangedCommit, plantedRelease, type Release, releaseOf } from './releases.ts';
import { UpgradeLoad } from './upgrade-load.ts';

const HELP = `npm run test:upgrade [-- OPTIONS]

  --from COMMIT     the earlier release; default: the commit that brought the schema ranges
  --per-second N    requests per second (50)
  --seconds N       time between the steps (10)
  --rows N          only the migration, with N payins in the partition in use: how long writes wait
  --seed S          repeat the random choices of an earlier run
`;

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    'per-second': { type: 'string', default: '50' },
    seconds: { type: 'string', default: '10' },
    rows: { type: 'string' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

const rows = values.rows === undefined ? null : Number(values.rows);
if (rows !== null && !(Number.isSafeInteger(rows) && rows > 0))
  throw new Error(`--rows ${values.rows}: give a positive whole number`);

const BALANCER_POLL_MS = 500;
/** The longest that a migration may block a write. */
const BLOCKED_MS = 1000;
const FUNDS_IN_CENTS = 900_000_000_000;

interface Parts {
  readonly stack: Stack;
  readonly balancer: PollingProxy;
  readonly fleet: Fleet;
  readonly load: UpgradeLoad;
  readonly rails: RailControl;
  readonly journal: ClientJournal;
  readonly sinks: Sinks;
  readonly old: Release;
  readonly current: Release;
}

async function upgradeAndRollBack({ fleet, load, stack, rails, old, current }: Parts): Promise<string[]> {
  const problems: string[] = [];
  const startedAt = performance.now();
  const step = async (what: string, work: () => Promise<unknown>) => {
    const before = load.requests;
    await work();
    const at = ((performance.now() - startedAt) / 1000).toFixed(0);
    print(`  ${at} s  ${what}: ${load.requests - before} requests`);
  };
  const run = () => sleep(Number(values.seconds) * 1000);
  load.start();
  await step(`two API and two worker processes of ${old.name}`, run);
  await step(`migrated to ${current.name}`, () => fleet.migrate(current));
  await step('the earlier release on the new schema', run);
  await step(`rolled to ${current.name}`, () => fleet.roll(current));
  await step('all processes of the new release', run);
  await step(`migrate of ${old.name}, which changes nothing`, async () => {
    const output = await fleet.migrate(old);
    if (!output.includes('"database_newer"')) problems.push(`migrate of ${old.name} printed: ${output}`);
  });
  await step(`rolled back to ${old.name}`, () => fleet.roll(old));
  await step('all processes of the earlier release', run);
  await load.stop();
  await drainPayins(stack, rails);
  await drainPayouts(stack, rails);
  await drainWebhooks(stack);
  return problems;
}

/**
 * Fills a table, then migrates under load. The migration blocks no statement, and delays no response, longer than a write
 * may be blocked.
 */
async function migrateFilled(
  { stack, balancer, fleet, load, current }: Parts,
  payins: number,
): Promise<Outcome> {
  const filledAt = performance.now();
  const { organizationId } = await stack.newOrganization();
  await fillPayins(stack.databaseUrl, organizationId, payins);
  print(`  ${payins} payins in ${((performance.now() - filledAt) / 1000).toFixed(0)} s`);
  load.start();
  const run = () => sleep(Number(values.seconds) * 1000);
  // The first requests compile code and plans.
  await run();
  balancer.takeLongestMs();
  await run();
  const before = balancer.takeLongestMs();
  const requestsBefore = load.requests;
  const locks = new LockWatch(stack.databaseUrl);
  await locks.start();
  const startedAt = performance.now();
  try {
    await fleet.migrate(current);
  } finally {
    await locks.stop();
  }
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const during = balancer.takeLongestMs();
  const requests = load.requests - requestsBefore;
  await load.stop();
  print(
    `  migration: ${seconds} s, ${requests} requests; longest wait for its locks ${locks.longestMs.toFixed(0)} ms ${locks.query}; longest response ${during.toFixed(0)} ms, before it ${before.toFixed(0)} ms`,
  );
  const outcome = tally();
  const failures = load.failures();
  if (failures.length === 0) outcome.pass();
  else outcome.fail(`failed requests: ${failures.join('; ')}`);
  if (locks.longestMs <= BLOCKED_MS) outcome.pass();
  else outcome.fail(`a statement waited ${locks.longestMs.toFixed(0)} ms for a lock of the migration`);
  if (during - before <= BLOCKED_MS) outcome.pass();
  else outcome.fail(`a request waited ${during.toFixed(0)} ms during the migration`);
  return outcome.done();
}

async function checkRun(parts: Parts, problems: readonly string[]): Promise<Outcome> {
  const { stack, fleet, load, journal, sinks } = parts;
  const outcome = tally();
  const check = (what: string, failures: readonly string[]) => {
    if (failures.length === 0) outcome.pass();
    else outcome.fail(`${what}: ${failures.join('; ')}`);
  };
  const { duplicates } = await sinks.stats();
  const failed = load.failures();
  check('failed requests', failed.length === 0 ? [] : [...failed, ...unansweredCauses(journal.path)]);
  check('processes', fleet.failures);
  check('steps', problems);
  check('webhooks', duplicates === 0 ? [] : [`${duplicates} events were delivered twice`]);
  const { ok, text } = await runChecker(stack, journal.path, 'drained', sinks.journal);
  print(`  ${text}`);
  check(
    'lost or doubled',
    ok ? [] : [`journals: ${keepJournals(stack, journal.path, 'upgrade', sinks.journal)}`],
  );
  print(
    `upgrade: ${load.requests} requests, ${load.failures().length === 0 ? 'none failed' : 'some failed'}`,
  );
  return outcome.done();
}

/** Why requests got no answer, by the client's journal. */
function unansweredCauses(journal: string): string[] {
  const lines = readFileSync(journal, 'utf8').split('\n').filter(Boolean);
  return lines
    .map((line) => JSON.parse(line) as { readonly kind: string; readonly cause?: string })
    .flatMap(({ kind, cause }) => (kind === 'unanswered' ? [cause ?? 'unknown cause'] : []));
}

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const closing: (() => unknown)[] = [];
  const close = async () => {
    for (const each of closing.splice(0).reverse()) await each();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void close().finally(() => process.exit(1)));
  const startedAt = performance.now();
  try {
    const parts = await prepare(closing);
    const { old, current } = parts;
    print(`upgrade: ${old.name} to ${current.name}, ${values['per-second']} requests/s`);
    const outcome =
      rows === null
        ? await checkRun(parts, await upgradeAndRollBack(parts))
        : await migrateFilled(parts, rows);
    print(`upgrade: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
    return reportTotals([outcome]);
  } finally {
    await close();
  }
}

async function prepare(closing: (() => unknown)[]): Promise<Parts> {
  const old = releaseOf(values.from ?? firstRangedCommit());
  closing.push(() => old.remove());
  const current = rows === null ? currentRelease(old) : plantedRelease();
  closing.push(() => current.remove());
  const folder = mkdtempSync(join(tmpdir(), 'caudal-upgrade-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const cluster = await startCluster({ entry: join(old.server, 'src', 'main.ts') });
  closing.push(() => cluster.stop());
  const balancer = new PollingProxy(BALANCER_POLL_MS);
  const url = await balancer.start();
  const stack = await startStack(cluster, {
    serverRoot: old.server,
    apis: 0,
    workers: 0,
    gatewayUrl: url,
    // The defaults of a deployment: empty is unset.
    settings: { CAUDAL_DRAIN_MS: '', CAUDAL_WORKER_POLL_MS: '' },
  });
  closing.push(() => stack.stop());
  closing.push(() => balancer.close());
  const fleet = new Fleet(balancer, stack.settings);
  closing.push(() => fleet.stop());
  await fleet.start(old, { apis: 2, workers: 2 });
  const sinks = await startSinks(folder);
  closing.push(() => sinks.stop());
  const journal = openClientJournal(join(folder, 'client.jsonl'));
  closing.push(() => journal.close());
  const rails = railControl(stack.simulatorUrl);
  await fillDirectory(rails);
  const payer = await fund(stack, journal, stack.organization, {
    about: 'funds',
    amountInCents: FUNDS_IN_CENTS,
  });
  const merchants = new WebhookClient(
    { query: (...query) => stack.query(...query), apis: [{ url }] },
    journal,
    sinks,
  );
  await new MerchantEndpoints(merchants, payer, 'm1').start();
  const random = randomFrom(Number(values.seed));
  const load = new UpgradeLoad({
    journal,
    rails,
    random,
    payer,
    url,
    perSecond: Number(values['per-second']),
  });
  closing.push(() => load.stop());
  return { stack, balancer, fleet, load, rails, journal, sinks, old, current };
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
