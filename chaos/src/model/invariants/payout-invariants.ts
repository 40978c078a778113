import type { Breach } from '../invariant-violation.ts';
import type { PayoutRow } from '../snapshot.ts';
import { isFinal, isOnlyEvent, type View } from '../view.ts';

/** Invariants of payout rows, which hold at any time. */
export function payoutBreaches(view: View): Breach[] {
  const { snapshot, payouts } = view;
  const rows = new Map(snapshot.payouts.map((row) => [row.id, row]));
  const breaches: Breach[] = snapshot.unacknowledged.payouts.map((id) => ({
    invariant: 'one_payout_per_request',
    about: { unacknowledged: id },
  }));
  for (const payout of payouts) {
    const row = rows.get(payout.id);
    if (!row || row.cents !== String(payout.cents)) {
      breaches.push({
        invariant: 'one_payout_per_request',
        about: { acknowledged: payout, row: row ?? null },
      });
      continue;
    }
    if (row.end_to_end_id !== payout.endToEndId)
      breaches.push({ invariant: 'order_matches_request', about: { acknowledged: payout, row } });
    breaches.push(...historyBreaches(row, view), ...eventBreaches(row, view));
  }
  return breaches;
}

/** One creation and at most one further transition. */
function historyBreaches(row: PayoutRow, { snapshot }: View): Breach[] {
  const transitions = snapshot.history.filter(({ resource }) => resource === row.id);
  const first = transitions.find(({ from }) => from === 'NONE');
  const last = transitions.find(({ from }) => from === 'PROCESSING');
  const ended = isFinal(row.status);
  const valid =
    first?.to === 'PROCESSING' &&
    transitions.length === (ended ? 2 : 1) &&
    (!ended || (last?.to === row.status && last.at === row.result_at && last.seconds >= first.seconds));
  return valid ? [] : [{ invariant: 'history_matches_status', about: { row, history: transitions } }];
}

const EVENTS: Readonly<Record<string, string>> = {
  CONFIRMED: 'payout.confirmed',
  DECLINED: 'payout.declined',
  CANCELED: 'payout.canceled',
};

function eventBreaches(row: PayoutRow, { snapshot }: View): Breach[] {
  const events = snapshot.events.filter(({ resource }) => resource === row.id);
  return isOnlyEvent(events, EVENTS[row.status])
    ? []
    : [{ invariant: 'one_event_per_final_state', about: { payout: row.id, status: row.status, events } }];
}
