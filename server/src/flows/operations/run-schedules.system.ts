import type { SystemDeps } from '../../deps.ts';
import { lastSuccesses } from '../../jobs/schedule.store.ts';
import { SCHEDULES, type Schedule, type ScheduleName } from '../../jobs/schedule-catalogue.ts';
import type { ScheduleWork } from '../../jobs/schedules.ts';
import { keepSuspense } from '../ledger/keep-suspense.system.ts';
import { rollSubtotals } from '../ledger/roll-subtotals.system.ts';
import { settleBalances } from '../ledger/settle-balances.system.ts';
import { keepVerification, verifyLedger } from '../ledger/verify-ledger.system.ts';
import { banksAreKnown, refreshBanks } from '../payins/refresh-banks.system.ts';
import { eraseExpired } from '../people/erase-expired.system.ts';
import { auditAround } from './audit-around.system.ts';
import { housekeeping } from './housekeeping.system.ts';
import { reencryptValues } from './reencrypt-values.system.ts';
import { rotateExhaustedKeys } from './rotate-data-keys.system.ts';

/**
 * The work of each schedule. Two runs of a schedule may overlap: another worker takes over when the first seems dead but
 * was only suspended.
 */
export function scheduleWork(deps: SystemDeps): Readonly<Record<ScheduleName, ScheduleWork>> {
  return {
    settlement: {
      run: async (signal) => {
        await repeatUntilDone(() => settleBalances(deps))(signal);
        await keepSuspense(deps);
      },
    },
    subtotals: { run: repeatUntilDone(() => rollSubtotals(deps)) },
    'bank-list': {
      run: () => refreshBanks(deps),
      dueAtStart: async () => !(await banksAreKnown(deps)),
    },
    housekeeping: {
      run: repeatUntilDone(() => housekeeping(deps)),
      // After a long downtime the partition of the current month may be missing.
      dueAtStart: () => Promise.resolve(true),
    },
    'data-keys': {
      run: async (signal) => {
        await rotateExhaustedKeys(deps);
        await reencryptValues(deps, signal);
      },
    },
    'personal-data': {
      run: async (signal) => {
        await eraseExpired(deps, signal);
      },
    },
    'ledger-verify': { run: () => checkLedger(deps) },
  };
}

/** @throws when the ledger is inconsistent, so that the run does not count as a success */
async function checkLedger(deps: SystemDeps): Promise<void> {
  const verification = await verifyLedger(deps);
  await keepVerification(deps, verification, 'schedule');
  const { broken } = verification;
  const [first] = broken;
  if (!first) return;
  deps.log.error(
    {
      code: 'ledger_inconsistent',
      count: broken.length,
      table: first.table,
      organizationId: first.organizationId,
    },
    'ledger is inconsistent; caudal ledger verify lists each row',
  );
  throw new Error(`the ledger is inconsistent: ${broken.length} rows`);
}

function repeatUntilDone(round: () => Promise<number>): ScheduleWork['run'] {
  return async (signal) => {
    let found = 0;
    do found = await round();
    while (found > 0 && !signal.aborted);
  };
}

/**
 * Runs a schedule now, in this process, regardless of its cron expression and of other workers.
 * @returns false when there is no such schedule
 */
export async function runSchedule(deps: SystemDeps, operator: string, name: string): Promise<boolean> {
  const schedule = SCHEDULES.find((each) => each.name === name);
  if (!schedule) return false;
  const { run } = scheduleWork(deps)[schedule.name];
  const action = {
    operator,
    action: 'schedules.run',
    organizationId: null,
    resource: schedule.name,
  } as const;
  await auditAround(deps, action, () => run(new AbortController().signal));
  return true;
}

export async function listSchedules(
  deps: SystemDeps,
): Promise<(Schedule & { readonly lastSuccess: Date | null })[]> {
  const successes = await lastSuccesses(deps.system);
  return SCHEDULES.map((schedule) => {
    const at = successes.get(schedule.name);
    return { ...schedule, lastSuccess: at === undefined ? null : new Date(at * 1000) };
  });
}
