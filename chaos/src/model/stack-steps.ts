import { setTimeout as sleep } from 'node:timers/promises';
import type { History } from './history.ts';
import { HOLD_BALANCE, HOLD_NOTICES, HOLD_PAYIN, HOLD_PAYOUT, Hold, WAITERS } from './holds.ts';
import { end, pay } from './rail-steps.ts';
import type { Step } from './step.ts';

type StepOf<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

const BEYOND_EXPIRY_MS = 61 * 60_000;
/** For those to meet who should: shorter than the server waits for a lock. */
const MEET_WITHIN_MS = 800;
/** Drawn at random, the two have often nothing left to pay, and nobody comes. */
const PERHAPS_WITHIN_MS = 120;
const DIE_WITHIN_MS = 5000;

export async function shift(history: History, { seconds }: StepOf<'shift'>): Promise<void> {
  await history.world.stage.shiftTime(seconds * 1000);
}

export async function nearExpiry(history: History, { nth, leftMs }: StepOf<'near expiry'>): Promise<void> {
  const payin = history.payin(nth);
  if (!payin) return;
  const now = await history.world.now();
  const ms = payin.expiresAtMs - leftMs - now.getTime();
  if (ms > 0) await history.world.stage.shiftTime(ms);
}

export async function race(history: History, step: StepOf<'race'>): Promise<void> {
  const { nth } = step;
  await Promise.all([
    step.with === 'payment'
      ? pay(history, { nth, share: 'full', times: 1, anyway: false })
      : end(history, { nth, how: step.with, anyway: false }),
    history.world.stage.shiftTime(BEYOND_EXPIRY_MS),
  ]);
}

export async function contend(history: History, { nth, other }: StepOf<'contend'>): Promise<void> {
  const { databaseUrl } = history.world.stage;
  const held = await Hold.on(databaseUrl, HOLD_BALANCE, [history.organizationId]);
  try {
    await pay(history, { nth, share: 'full', times: 1, anyway: false });
    await waiters(history, 1, PERHAPS_WITHIN_MS);
    await pay(history, { nth: other, share: 'full', times: 1, anyway: false });
    await waiters(history, 2, PERHAPS_WITHIN_MS);
    await history.judge('any');
  } finally {
    await held.letGo();
  }
}

export async function settle(history: History): Promise<void> {
  await history.world.stage.command('schedules', 'run', 'settlement');
}

export async function hold(history: History, step: StepOf<'hold'>): Promise<void> {
  const { databaseUrl } = history.world.stage;
  const { organizationId } = history;
  history.holds.push(
    step.what === 'payin'
      ? await Hold.on(databaseUrl, HOLD_PAYIN, [organizationId, history.payin(step.nth)?.id])
      : step.what === 'payout'
        ? await Hold.on(databaseUrl, HOLD_PAYOUT, [organizationId, history.payout(step.nth)?.id])
        : step.what === 'balance'
          ? await Hold.on(databaseUrl, HOLD_BALANCE, [organizationId])
          : await Hold.on(databaseUrl, HOLD_NOTICES),
  );
}

export async function letGo(history: History): Promise<void> {
  for (const held of history.holds.splice(0)) await held.letGo();
}

/** Whether they came or not: a history goes on either way, and is judged by what comes of it. */
export async function waiters(history: History, count: number, withinMs = MEET_WITHIN_MS): Promise<void> {
  await within(async () => {
    const [row] = await history.world.witness.ask<{ count: number }>('waiters', WAITERS);
    return (row?.count ?? 0) >= count;
  }, withinMs);
}

export async function struck(history: History, count: number): Promise<void> {
  await within(async () => (await history.world.journal.readOn()).struck >= count, MEET_WITHIN_MS);
}

export async function acknowledged(history: History): Promise<void> {
  await within(async () => {
    const { notices } = await history.world.journal.readOn();
    return [...notices.values()].some((notice) => notice.acknowledged);
  }, MEET_WITHIN_MS);
}

async function within(holds: () => Promise<boolean>, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds()) && performance.now() < deadline) await sleep(5);
}

export async function killWorkers(history: History): Promise<void> {
  const { workers } = history.world.stage;
  await Promise.all(workers.map((worker) => worker.kill()));
  await Promise.all(workers.map((worker) => worker.restart()));
}

const CLAIMED = ['payins', 'breb_keys', 'rail_notices', 'payouts'] as const;

export async function ageLeases(history: History): Promise<void> {
  for (const table of CLAIMED)
    await history.world.stage.query(
      `update caudal.${table} set leased_until = leased_until - interval '20 seconds' where leased_until is not null`,
    );
}

/** A process may start to work, and die of it, before it has said that it is ready. */
export async function armWorkers(history: History, failpoint: string): Promise<void> {
  const { workers } = history.world.stage;
  await Promise.all(
    workers.map((worker) =>
      worker.restart({ CAUDAL_FAILPOINT: failpoint }).catch((error: unknown) => {
        if (!String(error).includes('ended with null before it was ready')) throw error;
      }),
    ),
  );
}

export async function death(history: History): Promise<void> {
  const { workers } = history.world.stage;
  await within(async () => workers.some((worker) => !worker.alive), DIE_WITHIN_MS);
  await Promise.all(workers.map((worker) => worker.restart()));
}

/** A pause is heard of within a second (rails.md): what was created before may still leave. */
const HEARD_WITHIN_MS = 1000;

export async function pause(history: History): Promise<void> {
  await history.world.stage.command(
    'rails',
    'pause',
    ...reach(history),
    '--reason',
    'chaos',
    '--by',
    'chaos',
  );
  history.paused = true;
  await sleep(HEARD_WITHIN_MS);
}

export async function resume(history: History): Promise<void> {
  if (!history.paused) return;
  await history.world.stage.command('rails', 'resume', ...reach(history));
  history.paused = false;
}

function reach({ organizationId }: History): string[] {
  return ['--rail', 'BRE_B', '--org', organizationId];
}
