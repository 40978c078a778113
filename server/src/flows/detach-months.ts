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
 * the first leaves; a month in which something is still open keeps them all.
 * Nothing can open again meanwhile: what has ended stays so, and a replay makes deliveries only of events that it sees,
 * which is why events leave first.
 */
export async function detachMonths(
  deps: Pick<SystemDeps, 'snapshot' | 'system' | 'log'>,
  ownerUrl: string,
  before: string,
): Promise<Detaching> {
  const kept = await keptFrom(deps.system, KEPT_MONTHS);
  if (before > kept) return { kind: 'too young', keptFrom: kept };
  const leaving = await leavingMonths(deps.system, before);
  for (const month of new Set(leaving.map((each) => each.month))) {
    const open = await deps.snapshot.read((tx) => openInMonth(tx, ...idsOf(month)));
    if (open.length > 0) return { kind: 'open', month, open };
  }
  await detach(ownerUrl, leaving, ({ table, month }) =>
    deps.log.info({ table: `${table}_${month}` }, 'month detached'),
  );
  return { kind: 'detached', months: leaving };
}

/** The first and the last id a month can hold. */
function idsOf(month: string): [first: string, last: string] {
  const [year, index] = [Number(month.slice(0, 4)), Number(month.slice(4)) - 1];
  const end = uuidFloor(Date.UTC(year, index + 1, 1) - 1);
  return [uuidFloor(Date.UTC(year, index, 1)), `${end.slice(0, 14)}ffff-ffff-ffffffffffff`];
}
