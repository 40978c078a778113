import type { PayoutRow } from '../books.ts';
import type { Breach } from '../invariant-violation.ts';
import type { KnownPayout } from '../known-payout.ts';
import type { Arrival } from '../order-facts.ts';
import type { View } from '../view.ts';

/** Of payouts and what the rail knows of them, at any moment, also in the middle of work. */
export function orderBreaches(view: View): Breach[] {
  const rows = new Map(view.books.payouts.map((row) => [row.id, row]));
  return view.payouts.flatMap((payout) => {
    const row = rows.get(payout.id);
    if (!row) return [];
    const arrivals = view.facts.orders.arrivalsOf(payout.id);
    return [
      ...executedOnce(payout, arrivals, view),
      ...arrivals.flatMap((arrival) => arrivalBreaches(payout, arrival, view)),
      ...attemptBreaches(row, view),
      ...endBreaches(row, payout, arrivals, view),
    ];
  });
}

/** Under whichever end-to-end id: the rail would take two for two payments. */
function executedOnce({ id }: KnownPayout, arrivals: readonly Arrival[], { facts }: View): Breach[] {
  const names = new Set(arrivals.map(({ endToEndId }) => endToEndId));
  const executions = facts.orders.executions.filter(({ endToEndId }) => names.has(endToEndId));
  return executions.length <= 1 ? [] : [{ promise: 'sentOnce', about: { payout: id, executions } }];
}

/** For so long an order may go by what the directory promised (rails.md). */
const PROMISE_MS = 600_000;
/** The rail's clock is moved a moment before the database's. */
const CLOCKS_DIFFER_MS = 50;

function arrivalBreaches(payout: KnownPayout, arrival: Arrival, view: View): Breach[] {
  const { endToEndId, cents, key, resolutionId } = arrival;
  const about = { payout, arrival };
  if (endToEndId !== payout.endToEndId || cents !== BigInt(payout.cents) || key !== payout.key)
    return [{ promise: 'sentAs', about }];
  const first = view.promised.get(payout.id);
  if (first === undefined) return resolutionId === null ? [] : [{ promise: 'receiver', about }];
  const { resolutions } = view.facts.orders;
  const carried = resolutions.get(resolutionId ?? '');
  const wanted = resolutions.get(first);
  // One that an earlier history looked up: of a key that never changes hands.
  if (!wanted || (!carried && resolutionId === first)) return [];
  const ofThem = carried?.key === key && carried.person === wanted.person;
  const leftMs = leftAt(payout, arrival, view);
  // What had left before goes out under a promise that the rail no longer honours, for the rail to refuse it.
  const kept =
    ofThem &&
    (leftMs === null || leftMs - carried.atMs <= PROMISE_MS || denials(payout, view, arrival.seq).length > 0);
  return kept ? [] : [{ promise: 'receiver', about: { ...about, wanted, carried: carried ?? null } }];
}

/**
 * When its attempt was committed: time may have been moved by an hour while the order was on its way. Null when that is
 * not in the books yet.
 */
function leftAt({ id }: KnownPayout, { atMs }: Arrival, { books }: View): number | null {
  const times = books.attempts.filter(({ payout }) => payout === id).map(({ seconds }) => seconds * 1000);
  return times.findLast((ms) => ms <= atMs + CLOCKS_DIFFER_MS) ?? null;
}

/** What the directory said against a payout's receiver since it was looked up, as codes of the rail. */
function denials(
  { id, key }: KnownPayout,
  { facts, promised }: View,
  before = Number.POSITIVE_INFINITY,
): string[] {
  const { refusedKeys, resolutions } = facts.orders;
  const wanted = resolutions.get(promised.get(id) ?? '');
  const since = ({ seq }: { readonly seq: number }) => seq > (wanted?.seq ?? 0) && seq < before;
  const others = [...resolutions.values()].filter(
    (found) => found.key === key && since(found) && wanted && found.person !== wanted.person,
  );
  const refused = refusedKeys.filter((said) => since(said) && (said.key ?? key) === key);
  return [...others.map(() => '4008'), ...refused.map(({ code }) => code)];
}

/**
 * The rail takes twenty seconds at most, and whoever committed an attempt may take twenty until it leaves. A millisecond
 * less, for the rounding of floats.
 */
const NOTHING_UNDER_WAY_SECONDS = 39.999;

function attemptBreaches(row: PayoutRow, { books, facts, arrived }: View): Breach[] {
  const attempts = books.attempts.filter(({ payout }) => payout === row.id);
  const about = { row, attempts };
  const breaches: Breach[] = [];
  if (attempts.length !== row.attempts || (arrived.get(row.id) ?? 0) > attempts.length)
    breaches.push({ promise: 'committedFirst', about: { ...about, arrived: arrived.get(row.id) } });
  const none = facts.orders.of(row.end_to_end_id).answers.filter(({ status }) => status === 'NOT_FOUND');
  const hasty = attempts.some(({ seconds }, index) => {
    const next = attempts[index + 1];
    return next !== undefined && next.seconds - seconds < NOTHING_UNDER_WAY_SECONDS;
  });
  if (hasty || none.length < attempts.length - 1)
    breaches.push({ promise: 'patience', about: { ...about, answers: none } });
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
      const sound = execution?.endToEndId === payout.endToEndId && String(execution.cents) === row.cents;
      return sound ? [] : [{ promise: 'outcome', about: { row, execution: execution ?? null } }];
    }
    case 'CANCELED':
      return row.attempts === 0 && arrivals.length === 0
        ? []
        : [{ promise: 'unsent', about: { row, arrivals } }];
    case 'DECLINED':
      return declineBreaches(row, payout, arrivals, view);
  }
}

/** Codes of the rail (rails.md) that a history can bring about, as a merchant is to see them. */
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

/** By whose word: the rail's about the order, its door's, the directory's before anything was sent, or the balance's. */
function declineBreaches(
  row: PayoutRow,
  payout: KnownPayout,
  arrivals: readonly Arrival[],
  view: View,
): Breach[] {
  const { orders } = view.facts;
  const { taken, ends, answers } = orders.of(row.end_to_end_id);
  const denied = view.promised.has(row.id) ? denials(payout, view) : [];
  const changed =
    denied.length > 0 || orders.changes.some(({ key }) => key === payout.key) || isLate(taken, view);
  if (row.error === 'RECEIVER_MISMATCH' && !changed)
    return [{ promise: 'receiver', about: { row, theKeyNeverChangedHands: payout.key } }];
  if (row.error === 'INSUFFICIENT_FUNDS' && row.attempts === 0 && arrivals.length === 0) return [];
  const says = (code: string | null) => code !== null && ERRORS[code] === row.error;
  if (ends.some(({ code, stands }) => stands && says(code))) return [];
  if (row.attempts === 0 && arrivals.length === 0 && denied.some(says)) return [];
  const refusal = arrivals.findLast(({ answered }) => answered === 'REJECTED');
  // The refusal of a repeat says nothing of the sends before it: only with the rail's word that it has none of them.
  const asked =
    row.attempts === 1 ||
    answers.some(({ seq, status }) => seq > (refusal?.seq ?? 0) && status === 'NOT_FOUND');
  if (taken === null && refusal && says(refusal.code) && asked) return [];
  return [{ promise: 'clearNo', about: { row, ends, arrivals, answers, denied } }];
}

/** Its promise grew old on the way, while time was moved: nobody but the rail could tell. */
function isLate(taken: Arrival | null, { facts }: View): boolean {
  const carried = facts.orders.resolutions.get(taken?.resolutionId ?? '');
  return taken !== null && carried !== undefined && taken.atMs - carried.atMs > PROMISE_MS;
}
