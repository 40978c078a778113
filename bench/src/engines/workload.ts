import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { type LoadResult, Tally } from '../load/load-result.ts';
import { type Engine, type EngineDriver, SET_SIZE } from './engine.ts';

/** `single`: create items one by one. `sets`: in sets. `steps`: create one by one, and run two steps of each. */
export type Workload = 'single' | 'sets' | 'steps';

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
  /** Of the acknowledgment of a creation; of a set in `sets`. */
  readonly p99Ms: number;
}

/** Concurrent callers: each waits for the acknowledgment of its creation before the next one. */
const CALLERS = 64;
const SET_CALLERS = 16;
const COMPLETE_WITHIN_MS = 120_000;

/** @throws when an item is missing, or was completed more than once */
export async function runWorkload(driver: EngineDriver, plan: WorkloadPlan): Promise<WorkloadResult> {
  const database = new Client({ connectionString: plan.databaseUrl });
  await database.connect();
  const unfinished = async () =>
    (await database.query<{ count: number }>(driver.unfinished)).rows[0]?.count ?? Number.NaN;
  try {
    return await (plan.workload === 'steps'
      ? completeItems(driver, plan, unfinished)
      : createItems(driver, plan, unfinished));
  } finally {
    await database.end();
  }
}

async function createItems(
  driver: EngineDriver,
  plan: WorkloadPlan,
  unfinished: () => Promise<number>,
): Promise<WorkloadResult> {
  const engine = await driver.open(plan.databaseUrl, null);
  const warmUp = await load(engine, plan.workload, plan.warmUpSeconds);
  const measured = await load(engine, plan.workload, plan.seconds);
  await engine.close();
  const items = warmUp.ids.length + measured.ids.length;
  const stored = await unfinished();
  if (stored !== items) throw new Error(`${items} items were acknowledged, ${stored} are in the database`);
  const { seconds, p99Ms } = measured.result;
  return { items, perSecond: measured.ids.length / seconds, p99Ms };
}

async function completeItems(
  driver: EngineDriver,
  plan: WorkloadPlan,
  unfinished: () => Promise<number>,
): Promise<WorkloadResult> {
  const completions = new Map<string, number>();
  const engine = await driver.open(plan.databaseUrl, (id) =>
    completions.set(id, (completions.get(id) ?? 0) + 1),
  );
  const warmUp = await load(engine, plan.workload, plan.warmUpSeconds);
  await untilCompleted(warmUp.ids.length, completions, unfinished);
  const startedAt = performance.now();
  const measured = await load(engine, plan.workload, plan.seconds);
  const ids = [...warmUp.ids, ...measured.ids];
  await untilCompleted(ids.length, completions, unfinished);
  const seconds = (performance.now() - startedAt) / 1000;
  await engine.close();
  checkOnce(ids, completions);
  return { items: ids.length, perSecond: measured.ids.length / seconds, p99Ms: measured.result.p99Ms };
}

/** Waits until the engine has stored all completions, not only called the second step. */
async function untilCompleted(
  items: number,
  completions: ReadonlyMap<string, number>,
  unfinished: () => Promise<number>,
): Promise<void> {
  const deadline = performance.now() + COMPLETE_WITHIN_MS;
  while (completions.size < items || (await unfinished()) > 0) {
    if (performance.now() > deadline)
      throw new Error(`${completions.size} of ${items} items were completed in time`);
    await sleep(20);
  }
}

function checkOnce(ids: readonly string[], completions: ReadonlyMap<string, number>): void {
  const repeated = ids.filter((id) => completions.get(id) !== 1).length;
  if (repeated > 0 || completions.size !== ids.length)
    throw new Error(
      `${ids.length} items were created, ${completions.size} completed, ${repeated} of them not exactly once`,
    );
}

async function load(
  engine: Engine,
  workload: Workload,
  seconds: number,
): Promise<{ ids: readonly string[]; result: LoadResult }> {
  const inSets = workload === 'sets';
  const ids: string[] = [];
  const tally = new Tally();
  tally.start();
  const endAt = performance.now() + seconds * 1000;
  const caller = async () => {
    while (performance.now() < endAt) {
      const created = Array.from({ length: inSets ? SET_SIZE : 1 }, () => randomUUID() as string);
      const sentAt = performance.now();
      await (inSets ? engine.createSet(created) : engine.create(created[0] ?? ''));
      tally.add(performance.now() - sentAt, true);
      ids.push(...created);
    }
  };
  await Promise.all(Array.from({ length: inSets ? SET_CALLERS : CALLERS }, caller));
  return { ids, result: tally.end() };
}
