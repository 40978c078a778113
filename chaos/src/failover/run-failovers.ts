import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type Outcome, print, tally } from '../run/outcome.ts';
import { type Random, randomFrom } from '../run/random.ts';
import { type FailoverRun, startFailoverRun } from './failover-run.ts';
import { FAULTS, type FaultName } from './faults.ts';
import { type FaultResult, formatTable, percentile } from './table.ts';

const PAGE = fileURLToPath(new URL('../../../docs/operating/failover.md', import.meta.url));
const START_MARK = '<!-- failover table: npm run chaos -- --failovers N --write-table -->';
const END_MARK = '<!-- end of the failover table -->';
/** Scoreboard R2. Fewer failovers have no meaningful 95th percentile. */
const MAX_P95_MS = 15_000;
const MIN_FOR_P95 = 20;
/** The loss of etcd is no outage. Longer than a pause of an overloaded machine, shorter than any failover by ttl. */
const MAX_PAUSE_WITHOUT_FAILOVER_MS = 5000;

export interface FailoverOptions {
  /** Writes the table into the page of the docs. */
  readonly writeTable: boolean;
  /** Only these faults; default: all. */
  readonly only: readonly FaultName[] | null;
}

/** Lets the primary fail under load, in every way, this many times. No acknowledged write may be lost. */
export async function runFailovers(seed: number, count: number, options: FailoverOptions): Promise<Outcome> {
  const startedAt = performance.now();
  const seconds = () => `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
  print(`failovers: ${count}, seed ${seed}`);
  const outcome = tally();
  const random = randomFrom(seed);
  const run = await startFailoverRun(random);
  print(`failovers: the cluster and Caudal run after ${seconds()}`);
  const results: FaultResult[] = [];
  try {
    for (const name of planFaults(random, count, options.only)) {
      const failures: string[] = [];
      const result = await run.inject(FAULTS[name], random, failures);
      results.push(result);
      print(`  ${results.length}. ${format(result)} (${seconds()})`);
      if (!FAULTS[name].movesPrimary && result.outageMs > MAX_PAUSE_WITHOUT_FAILOVER_MS)
        failures.push(`${result.title}: no write for ${result.outageMs} ms`);
      for (const failure of failures) outcome.fail(failure);
      if (failures.length === 0) outcome.pass();
      else print(`  journals and logs: ${run.keep(seed)}`);
    }
    await checkEnd(run, outcome, seed);
    checkTimes(results, outcome);
  } catch (error) {
    outcome.fail(`${String(error)}; journals and logs: ${run.keep(seed)}\n${run.output()}`);
  } finally {
    await run.end();
  }
  const table = formatTable(
    results,
    Object.values(FAULTS).map(({ title }) => title),
  );
  print(`\n${table}\n`);
  print(`failovers: ${run.summary()}; ${seconds()}`);
  if (options.writeTable && outcome.done().failed === 0) writeTable(table, results, seed);
  return outcome.done();
}

/** Rounds of all faults in random order. A fault after which the same node leads does not count. */
export function planFaults(random: Random, count: number, only: readonly FaultName[] | null): FaultName[] {
  const names = only ?? (Object.keys(FAULTS) as FaultName[]);
  const planned: FaultName[] = [];
  let failovers = 0;
  const counts = (name: FaultName) => FAULTS[name].movesPrimary || only !== null;
  while (failovers < count) {
    const round = names
      .map((name) => ({ name, order: random.fraction() }))
      .toSorted((one, other) => one.order - other.order);
    for (const { name } of round) {
      if (failovers === count) break;
      planned.push(name);
      if (counts(name)) failovers += 1;
    }
  }
  return planned;
}

async function checkEnd(run: FailoverRun, outcome: ReturnType<typeof tally>, seed: number): Promise<void> {
  const failures: string[] = [];
  const { ok, text } = await run.finish(failures);
  print(`  drained: ${text}`);
  if (!ok) failures.push('the checker found violations');
  for (const failure of failures) outcome.fail(failure);
  if (failures.length === 0) outcome.pass();
  else print(`  journals and logs: ${run.keep(seed)}`);
}

function checkTimes(results: readonly FaultResult[], outcome: ReturnType<typeof tally>): void {
  if (results.length < MIN_FOR_P95) return;
  const p95 = percentile(
    results.map(({ outageMs }) => outageMs),
    0.95,
  );
  if (p95 <= MAX_P95_MS) outcome.pass();
  else outcome.fail(`p95 of the time to the first write is ${p95} ms, more than ${MAX_P95_MS}`);
}

function format({
  title,
  electionMs,
  outageMs,
  acknowledged,
  lost,
  refusedDirectWrites,
}: FaultResult): string {
  const direct = refusedDirectWrites === 0 ? '' : `, ${refusedDirectWrites} direct writes refused`;
  return `${title}: first write after ${toSeconds(outageMs)}, new leader after ${toSeconds(electionMs)}; ${acknowledged} acknowledged, ${lost} lost${direct}`;
}

function toSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function writeTable(table: string, results: readonly FaultResult[], seed: number): void {
  const page = readFileSync(PAGE, 'utf8');
  const start = page.indexOf(START_MARK);
  const end = page.indexOf(END_MARK);
  if (start < 0 || end < start) throw new Error(`${PAGE} has no place for the table`);
  const day = new Date().toISOString().slice(0, 10);
  const about = `${results.length} faults under load on ${day}, ${availableParallelism()} cores, seed ${seed}.`;
  const head = page.slice(0, start + START_MARK.length);
  writeFileSync(PAGE, `${head}\n\n${about}\n\n${table}\n\n${page.slice(end)}`);
}
