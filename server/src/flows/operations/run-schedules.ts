import type { SystemDeps } from '../../deps.ts';
import { lastSuccesses } from '../../jobs/schedule.store.ts';
import { SCHEDULES, type Schedule, type ScheduleName } from '../../jobs/schedule-catalogue.ts';
import type { ScheduleWork } from '../../jobs/schedules.ts';
import { rollSubtotals } from '../ledger/roll-subtotals.ts';
import { settleBalances } from '../ledger/settle-balances.ts';
import { verifyLedger } from '../ledger/verify-ledger.ts';
import { banksAreKnown, refreshBanks } from '../payins/refresh-banks.ts';
import { auditAround } from './audit-around.ts';
import { housekeeping } from './housekeeping.ts';

/** What each schedule does. A run may meet another of the same schedule: a worker that slept was taken for dead. */
export function scheduleWork(
  deps: SystemDeps,
  ledgerFaults: (count: number) => void,
): Readonly<Record<ScheduleName, ScheduleWork>> {
  return {
    settlement: { run: untilNothingIsLeft(() => settleBalances(deps)) },
    subtotals: { run: untilNothingIsLeft(() => rollSubtotals(deps)) },
    'bank-list': {
      run: () => refreshBanks(deps),
      dueAtStart: async () => !(await banksAreKnown(deps)),
    },
    housekeeping: {
      run: untilNothingIsLeft(() => housekeeping(deps)),
      // After a long stop the months that have come meanwhile are missing now.
      dueAtStart: () => Promise.resolve(true),
    },
    'ledger-verify': { run: () => checkLedger(deps, ledgerFaults) },
  };
}

/** @throws when the books do not add up: that is no run done */
async function checkLedger(deps: SystemDeps, tell: (faults: number) => void): Promise<void> {
  const { broken } = await verifyLedger(deps);
  tell(broken.length);
  const [first] = broken;
  if (!first) return;
  deps.log.error(
    { count: broken.length, table: first.table, organizationId: first.organizationId },
    'THE LEDGER IS NOT WHOLE: caudal ledger verify names each row',
  );
  throw new Error(`the ledger is not whole: ${broken.length} faults`);
}

function untilNothingIsLeft(round: () => Promise<number>): ScheduleWork['run'] {
  return async (signal) => {
    let found = 0;
    do found = await round();
    while (found > 0 && !signal.aborted);
  };
}

/**
 * One run now, in this process, whatever the clock says and whoever else is at it.
 * @returns false when there is no such schedule
 */
export async function runSchedule(deps: SystemDeps, operator: string, name: string): Promise<boolean> {
  const schedule = SCHEDULES.find((each) => each.name === name);
  if (!schedule) return false;
  const { run } = scheduleWork(deps, () => undefined)[schedule.name];
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
