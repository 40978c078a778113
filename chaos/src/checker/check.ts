import { creationViolations, drainedViolations } from './creation-promises.ts';
import { ledgerViolations } from './ledger-promises.ts';
import { linkViolations } from './link-promises.ts';
import { balanceViolations, moneyViolations } from './money-promises.ts';
import { noticeViolations } from './notice-promises.ts';
import { outcomeViolations } from './outcome-promises.ts';
import { payoutCreationViolations } from './payout-creation-promises.ts';
import { payoutMoneyViolations } from './payout-money-promises.ts';
import { payoutOrderViolations } from './payout-order-promises.ts';
import { payoutOutcomeViolations, payoutRestViolations } from './payout-outcome-promises.ts';
import { webhookViolations } from './webhook-promises.ts';
import type { Violation, World } from './world.ts';

export function violationsOf(world: World): Violation[] {
  return [
    ...creationViolations(world),
    ...outcomeViolations(world),
    ...moneyViolations(world),
    ...balanceViolations(world),
    ...ledgerViolations(world),
    ...noticeViolations(world),
    ...payoutCreationViolations(world),
    ...payoutOrderViolations(world),
    ...payoutOutcomeViolations(world),
    ...payoutMoneyViolations(world),
    ...linkViolations(world),
    ...webhookViolations(world),
    ...drainedViolations(world),
    ...payoutRestViolations(world),
  ];
}

export function summaryOf({ rows, rail, sinks, drained }: World): string {
  const { links } = rows;
  const events = [rows.eventsOf, rows.payouts.eventsOf, links.eventsOf].flatMap((of) =>
    [...of.values()].flat(),
  ).length;
  const executions = rail.executions.length + rail.payouts.sentMoney.length;
  const counts = `${rows.payins.length} payins, ${rows.payouts.all.length} payouts, ${links.all.length === 0 ? '' : `${links.all.length} links, `}${executions} executions, ${events} events, ${rows.notices.length} notices${sinks.after.length === 0 ? '' : `, ${sinks.after.length} requests to endpoints`}`;
  return `checked ${counts}${drained ? '' : ' (some still open)'}`;
}
