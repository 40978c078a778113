import { detachMonths as detach, reattachMonth } from '../../db/detach-month.ts';
import {
  type DetachableMonth,
  type IdSpan,
  listDetachableMonths,
  oldestRetainedMonth,
} from '../../db/months.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { countUndispatched } from '../../events/event.store.ts';
import { uuidFloor } from '../../kit/ids.ts';
import { countOpenPayins } from '../../payins/payin-closing.store.ts';
import { countOpenLinks } from '../../payment-links/payment-link-outcome.store.ts';
import { countOpenPayouts } from '../../payouts/payout-outcome.store.ts';
import { countOpenNotices } from '../../rail-notices/notice.store.ts';
import { countPendingDeliveries } from '../../webhooks/delivery.store.ts';

/**
 * Whole months before the current one that are never detached: merchants replay events for a quarter, deliveries are
 * retried for thirty days, and support questions arrive within half a year.
 */
export const MIN_RETENTION_MONTHS = 6;

/**
 * Rows that prevent the detach of their month. A payin or payout that is not final would not find its history and event;
 * a due row or a delivery in retry would be lost with its month.
 */
const DELIVERIES = 'pending webhook deliveries';
const OPEN = [
  ['payins that are not final or not settled', countOpenPayins],
  ['payouts that are not final', countOpenPayouts],
  ['payment links that are not final', countOpenLinks],
  ['unprocessed rail notices', countOpenNotices],
  ['undispatched events', countUndispatched],
  [DELIVERIES, countPendingDeliveries],
] as const;

interface OpenInMonth {
  readonly what: string;
  readonly count: number;
}

export type DetachResult =
  | { readonly kind: 'within_retention'; readonly oldestRetainedMonth: string }
  | { readonly kind: 'open'; readonly month: string; readonly open: readonly OpenInMonth[] }
  | { readonly kind: 'detached'; readonly months: readonly DetachableMonth[] };

/**
 * Detaches the partitions of all months before a given one (`202601`) online. It checks all months first: one with open
 * rows prevents the detach of all. It checks each month again before its detach, and once more after its events are
 * detached, because a replay may have created deliveries meanwhile: then the events are reattached. No deliveries can
 * appear after that, because a replay creates them only for events that it can read.
 */
export async function detachMonths(
  deps: Pick<SystemDeps, 'snapshot' | 'system' | 'log'>,
  ownerUrl: string,
  before: string,
): Promise<DetachResult> {
  const oldestRetained = await oldestRetainedMonth(deps.system, MIN_RETENTION_MONTHS);
  if (before > oldestRetained) return { kind: 'within_retention', oldestRetainedMonth: oldestRetained };
  const detachable = await listDetachableMonths(deps.system, before);
  const byMonth = [...Map.groupBy(detachable, ({ month }) => month)];
  const readOpen = (month: string) => deps.snapshot.read((tx) => countOpen(tx, idSpan(month)));
  for (const [month] of byMonth) {
    const open = await readOpen(month);
    if (open.length > 0) return { kind: 'open', month, open };
  }
  for (const [month, tables] of byMonth) {
    // The events of an interrupted detach are already gone: it must be completed.
    const open = tables.some(({ pending }) => pending) ? [] : await readOpen(month);
    if (open.length > 0) return { kind: 'open', month, open };
    const detachTables = (some: readonly DetachableMonth[]) =>
      detach(ownerUrl, some, ({ table }) =>
        deps.log.info({ code: 'partition_detached', table: `${table}_${month}` }, 'partition detached'),
      );
    const [first, ...others] = tables;
    if (first?.table === 'events') {
      await detachTables([first]);
      const replayed = await deps.snapshot.read((tx) => countPendingDeliveries(tx, idSpan(month)));
      if (replayed > 0) {
        await reattachMonth(ownerUrl, first);
        return { kind: 'open', month, open: [{ what: DELIVERIES, count: replayed }] };
      }
      await detachTables(others);
    } else await detachTables(tables);
  }
  return { kind: 'detached', months: detachable };
}

async function countOpen(tx: Tx, span: IdSpan): Promise<OpenInMonth[]> {
  const found: OpenInMonth[] = [];
  for (const [what, count] of OPEN) found.push({ what, count: await count(tx, span) });
  return found.filter(({ count }) => count > 0);
}

/** The range of ids in a month. */
function idSpan(month: string): IdSpan {
  const [year, index] = [Number(month.slice(0, 4)), Number(month.slice(4)) - 1];
  const end = uuidFloor(Date.UTC(year, index + 1, 1) - 1);
  return { first: uuidFloor(Date.UTC(year, index, 1)), last: `${end.slice(0, 14)}ffff-ffff-ffffffffffff` };
}
