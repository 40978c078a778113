import type { Breach } from '../invariant-violation.ts';
import type { KnownPayin } from '../known-payin.ts';
import type { Collection } from '../rail-facts.ts';
import type { PayinRow } from '../snapshot.ts';
import { isFinal, isOnlyEvent, type View } from '../view.ts';

/** Invariants of payins, which hold at any time. */
export function payinBreaches(view: View): Breach[] {
  const { snapshot, payins, facts } = view;
  const rows = new Map(snapshot.payins.map((row) => [row.id, row]));
  const breaches: Breach[] = snapshot.unacknowledged.payins.map((id) => ({
    invariant: 'one_payin_per_request',
    about: { unacknowledged: id },
  }));
  for (const payin of payins) {
    const row = rows.get(payin.id);
    const isSame = row?.cents === String(payin.cents) && row.rail === payin.rail && row.link === payin.linkId;
    if (!row || !isSame) {
      breaches.push({ invariant: 'one_payin_per_request', about: { acknowledged: payin, row: row ?? null } });
      continue;
    }
    breaches.push(
      ...historyBreaches(row, view),
      ...eventBreaches(row, view),
      ...endBreaches(row, payin, facts.of(payin.railReference)),
    );
  }
  return breaches;
}

const FIRST = { BRE_B: 'PROCESSING', PSE: 'PENDING' } as const;
const TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
  PENDING: ['PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'],
  PROCESSING: ['CONFIRMED', 'DECLINED', 'CANCELED'],
};

function historyBreaches(row: PayinRow, { snapshot }: View): Breach[] {
  const transitions = snapshot.history.filter(({ resource }) => resource === row.id);
  const byFrom = new Map(transitions.map((transition) => [transition.from, transition]));
  const first = byFrom.get('NONE');
  let at = first;
  let legal = first?.to === FIRST[row.rail];
  let steps = first ? 1 : 0;
  while (at && byFrom.has(at.to) && steps <= transitions.length) {
    const next = byFrom.get(at.to);
    if (!next) break;
    legal &&= (TRANSITIONS[next.from]?.includes(next.to) ?? false) && next.seconds >= at.seconds;
    at = next;
    steps += 1;
  }
  const arrives = at?.to === row.status && (!isFinal(row.status) || at.at === row.result_at);
  if (legal && steps === transitions.length && arrives) return [];
  return [
    {
      invariant: 'history_matches_status',
      about: { payin: row.id, status: row.status, history: transitions },
    },
  ];
}

const EVENTS: Readonly<Record<string, string>> = {
  CONFIRMED: 'payin.confirmed',
  DECLINED: 'payin.declined',
  CANCELED: 'payin.canceled',
};

/** The attempts of a link have no events: the link has its own. */
function eventBreaches(row: PayinRow, { snapshot }: View): Breach[] {
  const events = snapshot.events.filter(({ resource }) => resource === row.id);
  const wanted = row.link === null ? EVENTS[row.status] : undefined;
  return isOnlyEvent(events, wanted)
    ? []
    : [{ invariant: 'one_event_per_final_state', about: { payin: row.id, status: row.status, events } }];
}

/** Rail error codes that a history can cause, with the error code that the merchant sees. */
const ERRORS: Readonly<Record<string, string>> = {
  '4016': 'RAIL_REJECTED',
  '4013': 'NETWORK_LIMIT_EXCEEDED',
  '4011': 'SUSPECTED_FRAUD',
  '0004': 'KEY_NOT_FOUND',
  CANCELED: 'PAYER_CANCELED',
  '1': 'PAYER_CANCELED',
  '8': 'LIMIT_EXCEEDED',
  '10': 'RAIL_REJECTED',
  '11': 'INSUFFICIENT_FUNDS',
  '14': 'PAYER_ABANDONED',
  '15': 'PAYER_ABANDONED',
  FAIL_INVALIDAMOUNT: 'LIMIT_EXCEEDED',
  FAIL_BANKUNREACHEABLE: 'BANK_UNAVAILABLE',
};
const CANCELING = new Set(['PAYER_CANCELED', 'PAYER_ABANDONED', 'EXPIRED']);

function endBreaches(row: PayinRow, payin: KnownPayin, rail: Collection): Breach[] {
  if (row.status !== 'DECLINED' && row.status !== 'CANCELED') {
    return row.error === null ? [] : [{ invariant: 'payin_end_reported_by_rail', about: row }];
  }
  if (row.error === 'EXPIRED' && row.status === 'CANCELED') return expiryBreaches(row, rail);
  if (row.error === 'UNDERPAID' && row.status === 'DECLINED') return underpaidBreaches(row, rail);
  const reports = [...rail.ends.filter(({ stands }) => stands), ...rail.rejections];
  const reported = reports.some(({ code }) => ERRORS[code] === row.error);
  const fits = (row.status === 'CANCELED') === CANCELING.has(row.error ?? '');
  if (reported && fits && row.confirmed === null) return [];
  return [{ invariant: 'payin_end_reported_by_rail', about: { row, rail: payin.railReference, reports } }];
}

/** The rail executed a smaller payment, which the payin records. */
function underpaidBreaches(row: PayinRow, { executions }: Collection): Breach[] {
  const arrived = executions.some(
    ({ executionId, cents }) =>
      executionId === row.execution && String(cents) === row.confirmed && cents < BigInt(row.cents),
  );
  return arrived ? [] : [{ invariant: 'payin_end_reported_by_rail', about: { row, executions } }];
}

/** A Bre-B key was closed without an earlier payment; PSE never knew the transaction. */
function expiryBreaches(row: PayinRow, rail: Collection): Breach[] {
  const { closed, opened, executions } = rail;
  const unpaid =
    row.rail === 'BRE_B' ? closed !== null && executions.every(({ seq }) => seq > closed) : opened === null;
  if (unpaid && row.after_expiry === true && row.confirmed === null) return [];
  return [{ invariant: 'key_closed_before_expiry', about: { row, closed, opened, executions } }];
}
