import { detachMonths as detach } from '../db/detach-month.ts';
import { keptFrom, type LeavingMonth, leavingMonths } from '../db/months.ts';
import { type OpenInMonth, openInMonth } from '../db/open-in-month.ts';
import type { SystemDeps } from '../deps.ts';
import { uuidFloor } from '../kit/ids.ts';

/**
 * Whole months beside the present one that never leave: merchants replay events of a quarter, deliveries are tried for
 * thirty days, and who asks what happened asks within half a year.
 */
export const KEPT_MONTHS = 6;

export type Detaching =
  | { readonly kind: 'too young'; readonly keptFrom: string }
  | { readonly kind: 'open'; readonly month: string; readonly open: readonly OpenInMonth[] }
  | { readonly kind: 'detached'; readonly months: readonly LeavingMonth[] };

/**
 * Detaches what may leave of the months before one (`202601`), with everybody at work. All of them are looked at before
 * the first leaves; a month in which something is still open keeps them all. Each is looked at once more when its turn
 * comes, for a replay may have made deliveries meanwhile. After that it makes none: events leave first, and it makes
 * deliveries only of events that it sees.
 */
export async function detachMonths(
  deps: Pick<SystemDeps, 'snapshot' | 'system' | 'log'>,
  ownerUrl: string,
  before: string,
): Promise<Detaching> {
  const kept = await keptFrom(deps.system, KEPT_MONTHS);
  if (before > kept) return { kind: 'too young', keptFrom: kept };
  const leaving = await leavingMonths(deps.system, before);
  const byMonth = [...Map.groupBy(leaving, ({ month }) => month)];
  const openOf = (month: string) => deps.snapshot.read((tx) => openInMonth(tx, ...idsOf(month)));
  for (const [month] of byMonth) {
    const open = await openOf(month);
    if (open.length > 0) return { kind: 'open', month, open };
  }
  for (const [month, tables] of byMonth) {
    // One that was interrupted has let its events go already, and must be finished.
    const open = tables.some(({ pending }) => pending) ? [] : await openOf(month);
    if (open.length > 0) return { kind: 'open', month, open };
    await detach(ownerUrl, tables, ({ table }) =>
      deps.log.info({ table: `${table}_${month}` }, 'month detached'),
    );
  }
  return { kind: 'detached', months: leaving };
}

/** The first and the last id a month can hold. */
function idsOf(month: string): [first: string, last: string] {
  const [year, index] = [Number(month.slice(0, 4)), Number(month.slice(4)) - 1];
  const end = uuidFloor(Date.UTC(year, index + 1, 1) - 1);
  return [uuidFloor(Date.UTC(year, index, 1)), `${end.slice(0, 14)}ffff-ffff-ffffffffffff`];
}
