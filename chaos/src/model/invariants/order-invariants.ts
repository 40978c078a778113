import type { Breach } from '../invariant-violation.ts';
import type { KnownPayout } from '../known-payout.ts';
import type { Arrival } from '../order-facts.ts';
import type { PayoutRow } from '../snapshot.ts';
import type { View } from '../view.ts';

/** Invariants of payouts and their orders at the rail, which hold at any time. */
export function orderBreaches(view: View): Breach[] {
  const rows = new Map(view.snapshot.payouts.map((row) => [row.id, row]));
  return view.payouts.flatMap((payout) => {
    const row = rows.get(payout.id);
    if (!row) return [];
    const arrivals = view.facts.orders.arrivalsFor(payout.id);
    return [
      ...executedOnce(payout, arrivals, view),
      ...arrivals.flatMap((arrival) => arrivalBreaches(payout, arrival, view)),
      ...attemptBreaches(row, view),
      ...endBreaches(row, payout, arrivals, view),
    ];
  });
}

/** Counts executions under every end-to-end id: the rail would treat two ids as two payments. */
function executedOnce({ id }: KnownPayout, arrivals: readonly Arrival[], { facts }: View): Breach[] {
  const names = new Set(arrivals.map(({ endToEndId }) => endToEndId));
  const executions = facts.orders.executions.filter(({ endToEndId }) => names.has(endToEndId));
  return executions.length <= 1
    ? []
    : [{ invariant: 'payout_executed_once', about: { payout: id, executions } }];
}

/** How long a key resolution is valid for orders. */
const RESOLUTION_VALID_MS = 600_000;
/** The rail's clock is shifted shortly before the database's. */
const CLOCKS_DIFFER_MS = 50;

function arrivalBreaches(payout: KnownPayout, arrival: Arrival, view: View): Breach[] {
  const { endToEndId, cents, key, resolutionId } = arrival;
  const about = { payout, arrival };
  if (endToEndId !== payout.endToEndId || cents !== BigInt(payout.cents) || key !== payout.key)
    return [{ invariant: 'order_matches_request', about }];
  const first = view.initialResolutions.get(payout.id);
  if (first === undefined)
    return resolutionId === null ? [] : [{ invariant: 'paid_to_resolved_receiver', about }];
  const { resolutions } = view.facts.orders;
  const carried = resolutions.get(resolutionId ?? '');
  const wanted = resolutions.get(first);
  // A resolution from an earlier history belongs to a key whose owner never changes.
  if (!wanted || (!carried && resolutionId === first)) return [];
  const samePerson = carried?.key === key && carried.person === wanted.person;
  const sentMs = sentAt(payout, arrival, view);
  // A resend may carry an expired resolution if the directory denied the receiver; the rail then rejects it.
  const valid =
    samePerson &&
    (sentMs === null ||
      sentMs - carried.atMs <= RESOLUTION_VALID_MS ||
      denials(payout, view, arrival.seq).length > 0);
  return valid
    ? []
    : [{ invariant: 'paid_to_resolved_receiver', about: { ...about, wanted, carried: carried ?? null } }];
}

/**
 * The business time at which the attempt was committed; time may be shifted while the order is in flight. Null when the
 * attempt is not in the snapshot yet.
 */
function sentAt({ id }: KnownPayout, { atMs }: Arrival, { snapshot }: View): number | null {
  const times = snapshot.attempts.filter(({ payout }) => payout === id).map(({ seconds }) => seconds * 1000);
  return times.findLast((ms) => ms <= atMs + CLOCKS_DIFFER_MS) ?? null;
}

/** Error codes with which the directory denied a payout's receiver since the lookup. */
function denials(
  { id, key }: KnownPayout,
  { facts, initialResolutions }: View,
  before = Number.POSITIVE_INFINITY,
): string[] {
  const { rejectedKeys, resolutions } = facts.orders;
  const wanted = resolutions.get(initialResolutions.get(id) ?? '');
  const since = ({ seq }: { readonly seq: number }) => seq > (wanted?.seq ?? 0) && seq < before;
  const others = [...resolutions.values()].filter(
    (found) => found.key === key && since(found) && wanted && found.person !== wanted.person,
  );
  const rejected = rejectedKeys.filter((rejection) => since(rejection) && (rejection.key ?? key) === key);
  return [...others.map(() => '4008'), ...rejected.map(({ code }) => code)];
}

/**
 * The rail takes at most twenty seconds, and a worker may take twenty seconds from the commit to the send. One millisecond
 * less, because of float rounding.
 */
const NONE_IN_FLIGHT_SECONDS = 39.999;

function attemptsOf({ id }: PayoutRow, { attempts }: View['snapshot']): View['snapshot']['attempts'] {
  return attempts.filter(({ payout }) => payout === id);
}

function countSent(attempts: View['snapshot']['attempts']): number {
  return attempts.filter(({ unsent }) => !unsent).length;
}

function attemptBreaches(row: PayoutRow, { snapshot, facts, arrived }: View): Breach[] {
  const attempts = attemptsOf(row, snapshot);
  const about = { row, attempts };
  const breaches: Breach[] = [];
  if (attempts.length !== row.attempts || (arrived.get(row.id) ?? 0) > countSent(attempts))
    breaches.push({
      invariant: 'attempt_committed_before_send',
      about: { ...about, arrived: arrived.get(row.id) },
    });
  const none = facts.orders.of(row.end_to_end_id).answers.filter(({ status }) => status === 'NOT_FOUND');
  // After an attempt without effect, the next may follow at once.
  const resends = attempts.flatMap(({ seconds }, index) => {
    const earlier = attempts.slice(0, index).findLast(({ unsent }) => !unsent);
    return earlier ? [seconds - earlier.seconds] : [];
  });
  const tooEarly = resends.some((seconds) => seconds < NONE_IN_FLIGHT_SECONDS);
  if (tooEarly || none.length < resends.length)
    breaches.push({ invariant: 'resend_requires_unknown_order', about: { ...about, answers: none } });
  return breaches;
}

function endBreaches(
  row: PayoutRow,
  payout: KnownPayout,
  arrivals: readonly Arrival[],
  view: View,
): Breach[] {
  switch (row.status) {
    case 'PROCESSING':
      return [];
    case 'CONFIRMED': {
      const execution = view.facts.orders.executions.find(({ executionId }) => executionId === row.execution);
      const valid = execution?.endToEndId === payout.endToEndId && String(execution.cents) === row.cents;
      return valid
        ? []
        : [{ invariant: 'confirmed_by_execution', about: { row, execution: execution ?? null } }];
    }
    case 'CANCELED':
      return countSent(attemptsOf(row, view.snapshot)) === 0 && arrivals.length === 0
        ? []
        : [{ invariant: 'canceled_payout_never_sent', about: { row, arrivals } }];
    case 'DECLINED':
      return declineBreaches(row, payout, arrivals, view);
  }
}

/** Rail error codes that a history can cause, with the error code that the merchant sees. */
const ERRORS: Readonly<Record<string, string>> = {
  '0004': 'KEY_NOT_FOUND',
  '0005': 'KEY_SUSPENDED',
  '0006': 'KEY_SUSPENDED',
  '4008': 'RECEIVER_MISMATCH',
  '4010': 'ACCOUNT_NOT_FOUND',
  '4011': 'SUSPECTED_FRAUD',
  '4013': 'NETWORK_LIMIT_EXCEEDED',
  '4016': 'RAIL_REJECTED',
};

/** A decline requires the rail's final status, its rejection at submission, the directory before a send, or missing funds. */
function declineBreaches(
  row: PayoutRow,
  payout: KnownPayout,
  arrivals: readonly Arrival[],
  view: View,
): Breach[] {
  const { orders } = view.facts;
  const { taken, ends, answers } = orders.of(row.end_to_end_id);
  const denied = view.initialResolutions.has(row.id) ? denials(payout, view) : [];
  const changed =
    denied.length > 0 || orders.changes.some(({ key }) => key === payout.key) || isLate(taken, view);
  if (row.error === 'RECEIVER_MISMATCH' && !changed)
    return [{ invariant: 'paid_to_resolved_receiver', about: { row, ownerNeverChanged: payout.key } }];
  if (row.error === 'INSUFFICIENT_FUNDS' && row.attempts === 0 && arrivals.length === 0) return [];
  const matches = (code: string | null) => code !== null && ERRORS[code] === row.error;
  if (ends.some(({ code, stands }) => stands && matches(code))) return [];
  const sent = countSent(attemptsOf(row, view.snapshot));
  if (sent === 0 && arrivals.length === 0 && denied.some(matches)) return [];
  const rejection = arrivals.findLast(({ answered }) => answered === 'REJECTED');
  // The rejection of a resend says nothing about earlier sends: it counts only if the rail does not know the order.
  const conclusive =
    sent === 1 || answers.some(({ seq, status }) => seq > (rejection?.seq ?? 0) && status === 'NOT_FOUND');
  if (taken === null && rejection && matches(rejection.code) && conclusive) return [];
  return [{ invariant: 'decline_requires_rejection', about: { row, ends, arrivals, answers, denied } }];
}

/** Its resolution expired while the order was in flight and time was shifted; only the rail could detect that. */
function isLate(taken: Arrival | null, { facts }: View): boolean {
  const carried = facts.orders.resolutions.get(taken?.resolutionId ?? '');
  return taken !== null && carried !== undefined && taken.atMs - carried.atMs > RESOLUTION_VALID_MS;
}
