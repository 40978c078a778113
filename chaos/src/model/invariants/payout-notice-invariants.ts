import type { Breach } from '../invariant-violation.ts';
import type { OrderExecution } from '../order-facts.ts';
import { isFinal, type View } from '../view.ts';

/** Once work has come to rest: whatever the rail told of money that goes out has been taken up. */
export function heardPayoutBreaches(view: View, confirmedSince: ReadonlyMap<string, number>): Breach[] {
  return [...executionsHeard(view), ...endsHeard(view), ...contradictionsHeard(view, confirmedSince)];
}

/** The executions that a payout or the suspense account answers for. */
function booked({ books }: View): Set<string | null> {
  const inSuspense = books.transfers.filter(({ kind }) => kind === 'execution');
  return new Set([
    ...books.payouts.map(({ execution }) => execution),
    ...inSuspense.map(({ cause }) => cause.split(':')[1] ?? null),
  ]);
}

function executionsHeard(view: View): Breach[] {
  const known = booked(view);
  const told = new Set(
    view.facts
      .noticesOf('payout')
      .flatMap(({ noticeId, executionId }) => (view.heard.has(noticeId) ? [executionId] : [])),
  );
  return view.facts.orders.executions
    .filter(({ executionId }) => told.has(executionId) && !known.has(executionId))
    .map((execution) => ({ promise: 'heard', about: { notBooked: execution } }));
}

/** A payout whose order has ended is final when any word of it has come: what is doubtful was asked about. */
function endsHeard(view: View): Breach[] {
  const { facts } = view;
  return view.books.payouts.flatMap((row): Breach[] => {
    if (isFinal(row.status)) return [];
    const [first] = facts.orders.of(row.end_to_end_id).ends;
    if (!first) return [];
    const word = facts
      .noticesAbout(row.end_to_end_id)
      .find(({ seq, noticeId }) => seq > first.seq && view.heard.has(noticeId));
    return word ? [{ promise: 'heard', about: { stillOpen: row, word } }] : [];
  });
}

/** The rail denies an order that it has settled. */
function contradictionsHeard(view: View, confirmedSince: ReadonlyMap<string, number>): Breach[] {
  return view.payouts.flatMap(({ id, endToEndId }): Breach[] => {
    const since = confirmedSince.get(id);
    if (since === undefined) return [];
    const against = view.facts
      .noticesAbout(endToEndId)
      .find(
        ({ seq, executionId, noticeId }) => seq > since && executionId === null && view.heard.has(noticeId),
      );
    const isTold = view.books.anomalies.some(({ payout, kind }) => payout === id && kind === 'contradiction');
    return against && !isTold ? [{ promise: 'detectedAnomalies', about: { contradicts: id, against } }] : [];
  });
}

/**
 * At the end of a history: every payout is final, and every execution is somebody's. The one exception is money that left
 * after the last question about a rejection, of which the rail told nobody: only a reconciliation with the rail's own list
 * could find it.
 */
export function lastPayoutBreaches(view: View): Breach[] {
  const known = booked(view);
  return [
    ...view.books.payouts
      .filter(({ status }) => !isFinal(status))
      .map((row): Breach => ({ promise: 'ends', about: row })),
    ...view.facts.orders.executions
      .filter((execution) => !known.has(execution.executionId) && !isUnheard(view, execution))
      .map((execution): Breach => ({ promise: 'booked', about: { notBooked: execution } })),
  ];
}

/** The rejection itself is asked about, and once more a minute after it was believed. */
const POLLS_AFTER_REJECTION = 2;

function isUnheard({ facts }: View, { seq, endToEndId, executionId, anyway }: OrderExecution): boolean {
  const { ends, answers } = facts.orders.of(endToEndId);
  const isTold = facts.noticesOf('payout').some((notice) => notice.executionId === executionId);
  const asked = answers.filter((answer) => answer.seq > (ends[0]?.seq ?? 0));
  const wasAsked = asked.length >= POLLS_AFTER_REJECTION && asked.every((answer) => answer.seq < seq);
  return anyway && !isTold && (wasAsked || facts.orders.losesAnswers);
}
