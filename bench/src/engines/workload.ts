import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Completions } from './completions.ts';
import { createLoad } from './create-load.ts';
import type { EngineDriver } from './engine.ts';

/**
 * - `single`: create items one by one.
 * - `sets`: create items in sets.
 * - `backlog`: create items in sets, then process all as empty jobs; only the processing is measured.
 * - `steps`: create items one by one, and meanwhile process each in two steps.
 */
export type Workload = 'single' | 'sets' | 'backlog' | 'steps';

export interface WorkloadPlan {
  readonly workload: Workload;
  readonly databaseUrl: string;
  readonly warmUpSeconds: number;
  /** Duration of creation. */
  readonly seconds: number;
}

export interface WorkloadResult {
  /** Including the warm-up. */
  readonly items: number;
  readonly perSecond: number;
  /** Of the acknowledgment of a creation; of a set in `sets` and `backlog`. */
  readonly p99Ms: number;
}

const COMPLETE_WITHIN_MS = 120_000;
/** Limits the backlog, because creation in sets can be much faster than processing. */
const BACKLOG_PER_SECOND = 1500;

/** @throws when an item is missing, or was completed more than once */
export async function runWorkload(driver: EngineDriver, plan: WorkloadPlan): Promise<WorkloadResult> {
  const database = new Client({ connectionString: plan.databaseUrl });
  await database.connect();
  const unfinished = async () =>
    (await database.query<{ count: number }>(driver.unfinished)).rows[0]?.count ?? Number.NaN;
  try {
    return await RUNS[plan.workload](driver, plan, unfinished);
  } finally {
    await database.end();
  }
}

type Run = (
  driver: EngineDriver,
  plan: WorkloadPlan,
  unfinished: () => Promise<number>,
) => Promise<WorkloadResult>;

const RUNS: Readonly<Record<Workload, Run>> = {
  single: createItems,
  sets: createItems,
  backlog: completeBacklog,
  steps: completeItems,
};

async function createItems(...[driver, plan, unfinished]: Parameters<Run>): Promise<WorkloadResult> {
  const inSets = plan.workload === 'sets';
  const engine = await driver.open(plan.databaseUrl, null);
  const warmUp = await createLoad(engine, { inSets, seconds: plan.warmUpSeconds });
  const measured = await createLoad(engine, { inSets, seconds: plan.seconds });
  await engine.close();
  const items = warmUp.ids.length + measured.ids.length;
  const stored = await unfinished();
  if (stored !== items) throw new Error(`${items} items were acknowledged, ${stored} are in the database`);
  const { seconds, p99Ms } = measured.result;
  return { items, perSecond: measured.ids.length / seconds, p99Ms };
}

async function completeBacklog(...[driver, plan, unfinished]: Parameters<Run>): Promise<WorkloadResult> {
  const creator = await driver.open(plan.databaseUrl, null);
  const { ids, result } = await createLoad(creator, {
    inSets: true,
    seconds: plan.seconds,
    limit: plan.seconds * BACKLOG_PER_SECOND,
  });
  await creator.close();
  const completions = new Completions();
  const engine = await driver.open(plan.databaseUrl, { steps: 1, done: completions.add });
  const startedAt = performance.now();
  await untilCompleted(ids.length, completions, unfinished);
  const seconds = (performance.now() - startedAt) / 1000;
  await engine.close();
  completions.check(ids);
  return { items: ids.length, perSecond: ids.length / seconds, p99Ms: result.p99Ms };
}

async function completeItems(...[driver, plan, unfinished]: Parameters<Run>): Promise<WorkloadResult> {
  const completions = new Completions();
  const engine = await driver.open(plan.databaseUrl, { steps: 2, done: completions.add });
  const warmUp = await createLoad(engine, { inSets: false, seconds: plan.warmUpSeconds });
  await untilCompleted(warmUp.ids.length, completions, unfinished);
  const startedAt = performance.now();
  const measured = await createLoad(engine, { inSets: false, seconds: plan.seconds });
  const ids = [...warmUp.ids, ...measured.ids];
  await untilCompleted(ids.length, completions, unfinished);
  const seconds = (performance.now() - startedAt) / 1000;
  await engine.close();
  completions.check(ids);
  return { items: ids.length, perSecond: measured.ids.length / seconds, p99Ms: measured.result.p99Ms };
}

/** Waits until the engine has stored all completions, not only called the last step. */
async function untilCompleted(
  items: number,
  completions: Completions,
  unfinished: () => Promise<number>,
): Promise<void> {
  const deadline = performance.now() + COMPLETE_WITHIN_MS;
  while (completions.size < items || (await unfinished()) > 0) {
    if (performance.now() > deadline)
      throw new Error(`${completions.size} of ${items} items were completed in time`);
    await sleep(20);
  }
}
