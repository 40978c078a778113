import type { PayoutRow } from '../books.ts';
import type { Breach } from '../invariant-violation.ts';
import { isFinal, type View } from '../view.ts';

/** Of payouts by themselves, at any moment, also in the middle of work. */
export function payoutBreaches(view: View): Breach[] {
  const { books, payouts } = view;
  const rows = new Map(books.payouts.map((row) => [row.id, row]));
  const breaches: Breach[] = books.strangers.payouts.map((id) => ({
    promise: 'onePayout',
    about: { nobodyKnows: id },
  }));
  for (const payout of payouts) {
    const row = rows.get(payout.id);
    if (!row || row.cents !== String(payout.cents)) {
      breaches.push({ promise: 'onePayout', about: { told: payout, row: row ?? null } });
      continue;
    }
    if (row.end_to_end_id !== payout.endToEndId)
      breaches.push({ promise: 'sentAs', about: { told: payout, row } });
    breaches.push(...historyBreaches(row, view), ...eventBreaches(row, view));
  }
  return breaches;
}

/** Created, and at most one move from there. */
function historyBreaches(row: PayoutRow, { books }: View): Breach[] {
  const moves = books.history.filter(({ resource }) => resource === row.id);
  const first = moves.find(({ from }) => from === 'NONE');
  const last = moves.find(({ from }) => from === 'PROCESSING');
  const ended = isFinal(row.status);
  const sound =
    first?.to === 'PROCESSING' &&
    moves.length === (ended ? 2 : 1) &&
    (!ended || (last?.to === row.status && last.at === row.result_at && last.seconds >= first.seconds));
  return sound ? [] : [{ promise: 'history', about: { row, history: moves } }];
}

const EVENTS: Readonly<Record<string, string>> = {
  CONFIRMED: 'payout.confirmed',
  DECLINED: 'payout.declined',
  CANCELED: 'payout.canceled',
};

function eventBreaches(row: PayoutRow, { books }: View): Breach[] {
  const events = books.events.filter(({ resource }) => resource === row.id);
  const wanted = EVENTS[row.status];
  const [only] = events;
  const sound =
    wanted === undefined
      ? events.length === 0
      : events.length === 1 && only?.event === wanted && only.final === wanted;
  return sound ? [] : [{ promise: 'events', about: { payout: row.id, status: row.status, events } }];
}
