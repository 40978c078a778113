import { setTimeout as sleep } from 'node:timers/promises';
import type { History } from './history.ts';
import { HeldLock, LOCK_BALANCE, LOCK_NOTICES, LOCK_PAYIN, LOCK_PAYOUT, LOCK_WAITERS } from './locks.ts';
import { end, pay } from './rail-steps.ts';
import type { Step } from './step.ts';

type StepOf<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

const BEYOND_EXPIRY_MS = 61 * 60_000;
/** Time limit until workers contend; shorter than the server's lock timeout. */
const MEET_WITHIN_MS = 800;
/** Shorter limit for random steps, where often nothing is left to pay and no worker contends. */
const RANDOM_MEET_WITHIN_MS = 120;
const DIE_WITHIN_MS = 30_000;

export async function shift(history: History, { seconds }: StepOf<'shift'>): Promise<void> {
  await history.world.stack.shiftTime(seconds * 1000);
}

export async function nearExpiry(history: History, { nth, leftMs }: StepOf<'near_expiry'>): Promise<void> {
  const payin = history.payin(nth);
  if (!payin) return;
  const now = await history.world.now();
  const ms = payin.expiresAtMs - leftMs - now.getTime();
  if (ms > 0) await history.world.stack.shiftTime(ms);
}

export async function race(history: History, step: StepOf<'race'>): Promise<void> {
  const { nth } = step;
  await Promise.all([
    step.with === 'payment'
      ? pay(history, { nth, share: 'full', times: 1, anyway: false })
      : end(history, { nth, how: step.with, anyway: false }),
    history.world.stack.shiftTime(BEYOND_EXPIRY_MS),
  ]);
}

export async function contend(
  history: History,
  { nth, other }: Omit<StepOf<'contend'>, 'do'>,
): Promise<void> {
  const { databaseUrl } = history.world.stack;
  const held = await HeldLock.acquire(databaseUrl, LOCK_BALANCE, [history.organizationId]);
  try {
    await pay(history, { nth, share: 'full', times: 1, anyway: false });
    await awaitLockWaiters(history, 1, RANDOM_MEET_WITHIN_MS);
    await pay(history, { nth: other, share: 'full', times: 1, anyway: false });
    await awaitLockWaiters(history, 2, RANDOM_MEET_WITHIN_MS);
    await history.check('any');
  } finally {
    await held.release();
  }
}

export async function settle(history: History): Promise<void> {
  await history.world.stack.command('schedules', 'run', 'settlement');
}

export async function lock(history: History, step: StepOf<'lock'>): Promise<void> {
  const { databaseUrl } = history.world.stack;
  const { organizationId } = history;
  history.locks.push(
    step.what === 'payin'
      ? await HeldLock.acquire(databaseUrl, LOCK_PAYIN, [organizationId, history.payin(step.nth)?.id])
      : step.what === 'payout'
        ? await HeldLock.acquire(databaseUrl, LOCK_PAYOUT, [organizationId, history.payout(step.nth)?.id])
        : step.what === 'balance'
          ? await HeldLock.acquire(databaseUrl, LOCK_BALANCE, [organizationId])
          : await HeldLock.acquire(databaseUrl, LOCK_NOTICES),
  );
}

export async function releaseLocks(history: History): Promise<void> {
  for (const held of history.locks.splice(0)) await held.release();
}

/** Waits for lock waiters up to the time limit. The history continues either way. */
export async function awaitLockWaiters(
  history: History,
  count: number,
  withinMs = MEET_WITHIN_MS,
): Promise<void> {
  await waitFor(async () => {
    const [row] = await history.world.database.query<{ count: number }>('waiters', LOCK_WAITERS);
    return (row?.count ?? 0) >= count;
  }, withinMs);
}

export async function awaitFaults(history: History, count: number): Promise<void> {
  await waitFor(async () => (await history.world.journal.readOn()).faultsApplied >= count, MEET_WITHIN_MS);
}

export async function awaitAcknowledged(history: History): Promise<void> {
  await waitFor(async () => {
    const { notices } = await history.world.journal.readOn();
    return [...notices.values()].some((notice) => notice.acknowledged);
  }, MEET_WITHIN_MS);
}

async function waitFor(condition: () => Promise<boolean>, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await condition()) && performance.now() < deadline) await sleep(5);
}

export async function killWorkers(history: History): Promise<void> {
  const { workers } = history.world.stack;
  await Promise.all(workers.map((worker) => worker.kill()));
  await Promise.all(workers.map((worker) => worker.restart()));
}

const LEASED_TABLES = ['payins', 'breb_keys', 'rail_notices', 'payouts'] as const;

export async function ageLeases(history: History): Promise<void> {
  for (const table of LEASED_TABLES)
    await history.world.stack.query(
      `update caudal.${table} set leased_until = leased_until - interval '20 seconds' where leased_until is not null`,
    );
}

/** A worker may reach the failpoint and die before it reports that it is ready. */
export async function armWorkers(history: History, failpoint: string): Promise<void> {
  const { workers } = history.world.stack;
  await Promise.all(
    workers.map((worker) =>
      worker.restart({ CAUDAL_FAILPOINT: failpoint }).catch((error: unknown) => {
        if (!String(error).includes('exited with code null before it was ready')) throw error;
      }),
    ),
  );
}

export async function awaitWorkerDeath(history: History): Promise<void> {
  const { workers } = history.world.stack;
  await waitFor(async () => workers.some((worker) => !worker.alive), DIE_WITHIN_MS);
  await Promise.all(workers.map((worker) => worker.restart()));
}

const PAUSE_SEEN_WITHIN_MS = 60_000;

export async function pause(history: History): Promise<void> {
  await history.world.stack.command(
    'rails',
    'pause',
    ...pauseScope(history),
    '--reason',
    'chaos',
    '--by',
    'chaos',
  );
  history.paused = true;
  await waitUntilPauseSeen(history);
}

/** Until a worker has read the pause, it may still send orders. */
async function waitUntilPauseSeen({ world }: History): Promise<void> {
  const deadline = performance.now() + PAUSE_SEEN_WITHIN_MS;
  for (const { opsUrl } of world.stack.workers) {
    while (!(await seesPause(opsUrl))) {
      if (performance.now() > deadline) throw new Error(`${opsUrl} does not see the pause`);
      await sleep(20);
    }
  }
}

async function seesPause(opsUrl: string): Promise<boolean> {
  const response = await fetch(`${opsUrl}/metrics`).catch(() => null);
  return /^caudal_rail_pauses\{rail="BRE_B"\} [1-9]/m.test((await response?.text()) ?? '');
}

export async function resume(history: History): Promise<void> {
  if (!history.paused) return;
  await history.world.stack.command('rails', 'resume', ...pauseScope(history));
  history.paused = false;
}

function pauseScope({ organizationId }: History): string[] {
  return ['--rail', 'BRE_B', '--org', organizationId];
}
