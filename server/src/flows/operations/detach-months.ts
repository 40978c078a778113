import { detachMonths as detach, reattachMonth } from '../../db/detach-month.ts';
import { type IdSpan, keptFrom, type LeavingMonth, leavingMonths } from '../../db/months.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { countUndispatched } from '../../events/event.store.ts';
import { uuidFloor } from '../../kit/ids.ts';
import { countOpenPayins } from '../../payins/payin-closing.store.ts';
import { countOpenLinks } from '../../payment-links/payment-link-outcome.store.ts';
import { countOpenPayouts } from '../../payouts/payout-outcome.store.ts';
import { countOpenNotices } from '../../rail-notices/notice.store.ts';
import { countOpenDeliveries } from '../../webhooks/delivery.store.ts';

/**
 * Whole months beside the present one that never leave: merchants replay events of a quarter, deliveries are tried for
 * thirty days, and who asks what happened asks within half a year.
 */
export const KEPT_MONTHS = 6;

/**
 * What can still be to come of a month. A payin or payout that has not ended would look for its month's history and event in
 * vain; a row that is due, or a delivery that is tried again, would be lost with its month.
 */
const DELIVERIES = 'deliveries that are still tried';
const OPEN = [
  ['payins that have not ended or settled', countOpenPayins],
  ['payouts that have not ended', countOpenPayouts],
  ['payment links that have not ended', countOpenLinks],
  ['notices of rails that nothing was made of', countOpenNotices],
  ['events that were not dispatched', countUndispatched],
  [DELIVERIES, countOpenDeliveries],
] as const;

interface OpenInMonth {
  readonly what: string;
  readonly count: number;
}

export type Detaching =
  | { readonly kind: 'within_retention'; readonly keptFrom: string }
  | { readonly kind: 'open'; readonly month: string; readonly open: readonly OpenInMonth[] }
  | { readonly kind: 'detached'; readonly months: readonly LeavingMonth[] };

/**
 * Detaches what may leave of the months before one (`202601`), with everybody at work. All of them are looked at before
 * the first leaves; a month in which something is still open keeps them all. Each is looked at once more when its turn
 * comes, and again when its events have left, for a replay may have made deliveries meanwhile: then they are taken back.
 * After that there are no more, for a replay makes deliveries only of events that it sees.
 */
export async function detachMonths(
  deps: Pick<SystemDeps, 'snapshot' | 'system' | 'log'>,
  ownerUrl: string,
  before: string,
): Promise<Detaching> {
  const kept = await keptFrom(deps.system, KEPT_MONTHS);
  if (before > kept) return { kind: 'within_retention', keptFrom: kept };
  const leaving = await leavingMonths(deps.system, before);
  const byMonth = [...Map.groupBy(leaving, ({ month }) => month)];
  const openOf = (month: string) => deps.snapshot.read((tx) => openIn(tx, idsOf(month)));
  for (const [month] of byMonth) {
    const open = await openOf(month);
    if (open.length > 0) return { kind: 'open', month, open };
  }
  for (const [month, tables] of byMonth) {
    // One that was interrupted has let its events go already, and must be finished.
    const open = tables.some(({ pending }) => pending) ? [] : await openOf(month);
    if (open.length > 0) return { kind: 'open', month, open };
    const leave = (some: readonly LeavingMonth[]) =>
      detach(ownerUrl, some, ({ table }) => deps.log.info({ table: `${table}_${month}` }, 'month detached'));
    const [first, ...others] = tables;
    if (first?.table === 'events') {
      await leave([first]);
      const replayed = await deps.snapshot.read((tx) => countOpenDeliveries(tx, idsOf(month)));
      if (replayed > 0) {
        await reattachMonth(ownerUrl, first);
        return { kind: 'open', month, open: [{ what: DELIVERIES, count: replayed }] };
      }
      await leave(others);
    } else await leave(tables);
  }
  return { kind: 'detached', months: leaving };
}

async function openIn(tx: Tx, span: IdSpan): Promise<OpenInMonth[]> {
  const found: OpenInMonth[] = [];
  for (const [what, count] of OPEN) found.push({ what, count: await count(tx, span) });
  return found.filter(({ count }) => count > 0);
}

/** All that a month can hold. */
function idsOf(month: string): IdSpan {
  const [year, index] = [Number(month.slice(0, 4)), Number(month.slice(4)) - 1];
  const end = uuidFloor(Date.UTC(year, index + 1, 1) - 1);
  return { first: uuidFloor(Date.UTC(year, index, 1)), last: `${end.slice(0, 14)}ffff-ffff-ffffffffffff` };
}
