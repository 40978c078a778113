import { creationViolations, pendingWorkViolations } from './creation-invariants.ts';
import { ledgerViolations } from './ledger-invariants.ts';
import { linkViolations } from './link-invariants.ts';
import { balanceViolations, moneyViolations } from './money-invariants.ts';
import { noticeViolations } from './notice-invariants.ts';
import { outcomeViolations } from './outcome-invariants.ts';
import { payoutCreationViolations } from './payout-creation-invariants.ts';
import { payoutMoneyViolations } from './payout-money-invariants.ts';
import { payoutOrderViolations } from './payout-order-invariants.ts';
import { payoutOutcomeViolations, pendingPayoutViolations } from './payout-outcome-invariants.ts';
import { screenViolations } from './screen-invariants.ts';
import { readStatements } from './screen-statements.ts';
import { webhookViolations } from './webhook-invariants.ts';
import type { Violation, World } from './world.ts';

export function findViolations(world: World): Violation[] {
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
    ...screenViolations(world),
    ...webhookViolations(world),
    ...pendingWorkViolations(world),
    ...pendingPayoutViolations(world),
  ];
}

export function summarize({ rows, rail, sinks, client, drained }: World): string {
  const { links } = rows;
  const events = [rows.eventsByResource, rows.payouts.eventsByResource, links.eventsByResource].flatMap(
    (byResource) => [...byResource.values()].flat(),
  ).length;
  const executions = rail.executions.length + rail.payouts.sentMoney.length;
  const { screens } = client.links;
  const counts = `${rows.payins.length} payins, ${rows.payouts.all.length} payouts, ${links.all.length === 0 ? '' : `${links.all.length} links, `}${screens.length === 0 ? '' : `${screens.length} screens (${countKinds(screens)}), `}${executions} executions, ${events} events, ${rows.notices.length} notices${sinks.after.length === 0 ? '' : `, ${sinks.after.length} requests to endpoints`}`;
  return `checked ${counts}${drained ? '' : ' (work pending)'}`;
}

function countKinds(screens: World['client']['links']['screens']): string {
  const byKind = Map.groupBy(screens, ({ text }) => readStatements(text).kind ?? 'unknown');
  return [...byKind].map(([kind, same]) => `${same.length} ${kind}`).join(', ');
}
