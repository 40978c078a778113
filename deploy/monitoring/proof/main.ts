/**
 * npm run alerts: starts a deployment and a real Prometheus with the rules, runs the queries of every dashboard, injects
 * the fault of each alert, and requires that exactly its alerts fire.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeStalls, stallsBetween, watchStalls } from '../../../scripts/ci/machine-stalls.ts';
import { recordTestCounts } from '../../../scripts/test-counts.ts';
import { ALERTS } from '../alerts/alert-groups.ts';
import type { InjectedFault } from './fault.ts';
import { FAULTS } from './faults.ts';
import { requireData } from './panels.ts';
import { injectFault, requireQuiet, waitUntilQuiet } from './run-fault.ts';
import { startWorld, type World } from './world.ts';

const PROMETHEUS = fileURLToPath(new URL('../../prometheus/', import.meta.url));
const HELP = `npm run alerts [-- OPTIONS]: injects every fault, one after the other (about 20 minutes)

  --rules         only the rules and their tests, without a deployment
  --seed N        three faults, which the number selects
  --only WORDS    faults whose name contains one of the words (separated by |)
  --help          show this help
`;
const { values } = parseArgs({
  options: {
    rules: { type: 'boolean' },
    seed: { type: 'string' },
    only: { type: 'string' },
    help: { type: 'boolean' },
  },
  strict: true,
});
const SEEDED_FAULTS = 3;
let passed = 0;
let failed = 0;
const watch = watchStalls();

async function step(name: string, run: () => Promise<string>): Promise<void> {
  try {
    const text = await run();
    passed += 1;
    console.log(`ok    ${name}${text === '' ? '' : `: ${text}`}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function promtool(...args: readonly string[]): string {
  const run = spawnSync('promtool', args, { encoding: 'utf8', cwd: PROMETHEUS });
  if (run.error) throw new Error(`promtool: ${run.error.message} (install Debian's prometheus)`);
  if (run.status !== 0) throw new Error(`promtool ${args[0]}:\n${run.stdout}${run.stderr}`);
  return '';
}

function requireCoverage(): string {
  const fired = new Set<string>(FAULTS.flatMap(({ fires }) => fires));
  const missing = ALERTS.filter(({ name }) => !fired.has(name));
  const stale = [...fired].filter((name) => !ALERTS.some((alert) => alert.name === name));
  if (missing.length + stale.length > 0)
    throw new Error(
      `without a fault: ${missing.map(({ name }) => name).join(', ')}; no such alert: ${stale.join(', ')}`,
    );
  return `${ALERTS.length} alerts, ${FAULTS.length} faults`;
}

/** Injects a fault. A stall of the machine can fire other alerts: a fault that failed during one is injected once more. */
async function runFault(world: World, fault: InjectedFault): Promise<void> {
  await step(fault.name, async () => {
    const startedAt = Date.now();
    try {
      return await inject(world, fault);
    } catch (error) {
      // Its alerts would fail the next fault too.
      await waitUntilQuiet(world).catch(() => undefined);
      const stalled = stallsBetween(watch.stalls, startedAt, Date.now());
      if (stalled.length === 0) throw error;
      console.log(
        `again ${fault.name}: ${String(error)}; the machine stalled:\n  ${describeStalls(stalled)}`,
      );
    }
    return await inject(world, fault);
  });
}

async function inject(world: World, fault: InjectedFault): Promise<string> {
  const { firedAfter, endedAfter } = await injectFault(world, fault);
  return `${fault.fires.join(', ')} after ${firedAfter.toFixed(0)} s, ended after ${endedAfter.toFixed(0)} s`;
}

function selectFaults(): readonly InjectedFault[] {
  const words = values.only?.split('|');
  if (words) {
    const selected = FAULTS.filter(({ name }) => words.some((word) => name.includes(word)));
    if (selected.length === 0) throw new Error(`--only ${values.only}: no fault has such a name`);
    return selected;
  }
  if (values.seed === undefined) return FAULTS;
  if (!/^\d+$/.test(values.seed)) throw new Error(`--seed ${values.seed}: give a whole number`);
  const first = (Number(values.seed) * SEEDED_FAULTS) % FAULTS.length;
  return [...FAULTS, ...FAULTS].slice(first, first + SEEDED_FAULTS);
}

async function proveAlerts(faults: readonly InjectedFault[]): Promise<void> {
  const world = await startWorld();
  try {
    await step('every panel has data', () => requireData(world));
    await step('no alert fires without a fault', async () => requireQuiet(world).then(() => ''));
    for (const fault of faults) await runFault(world, fault);
  } finally {
    await world.stop();
  }
}

async function main(): Promise<void> {
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const startedAt = performance.now();
  const faults = selectFaults();
  await step('rules are valid', async () => promtool('check', 'rules', 'caudal-rules.yaml'));
  await step('rules pass their tests', async () =>
    promtool('test', 'rules', ...readdirSync(join(PROMETHEUS, 'tests')).map((file) => join('tests', file))),
  );
  await step('every alert has a fault', async () => requireCoverage());
  if (!values.rules) await proveAlerts(faults);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(`${passed} passed, ${failed} failed in ${seconds} s`);
  recordTestCounts(passed, failed);
  process.exitCode = failed === 0 ? 0 : 1;
}

try {
  await main();
} finally {
  await watch.stop();
}
