import { creationViolations, drainedViolations } from './creation-promises.ts';
import { ledgerViolations } from './ledger-promises.ts';
import { balanceViolations, moneyViolations } from './money-promises.ts';
import { noticeViolations } from './notice-promises.ts';
import { outcomeViolations } from './outcome-promises.ts';
import type { Violation, World } from './world.ts';

export function violationsOf(world: World): Violation[] {
  return [
    ...creationViolations(world),
    ...outcomeViolations(world),
    ...moneyViolations(world),
    ...balanceViolations(world),
    ...ledgerViolations(world),
    ...noticeViolations(world),
    ...drainedViolations(world),
  ];
}

export function summaryOf({ rows, rail, drained }: World): string {
  const events = [...rows.eventsOf.values()].flat().length;
  const counts = `${rows.payins.length} payins, ${rail.executions.length} executions, ${events} events, ${rows.notices.length} notices`;
  return `checked ${counts}${drained ? '' : ' (some still open)'}`;
}
