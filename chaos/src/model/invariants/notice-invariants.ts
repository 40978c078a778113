import type { Breach } from '../invariant-violation.ts';
import type { Collection, Execution } from '../rail-facts.ts';
import { isFinal, type View } from '../view.ts';

/** Once work has come to rest: whatever the rail's messages told has been taken up. */
export function heardBreaches(view: View, confirmedSince: ReadonlyMap<string, number>): Breach[] {
  return [
    ...executionsHeard(view),
    ...payinsHeard(view),
    ...strangersHeard(view),
    ...contradictionsHeard(view, confirmedSince),
  ];
}

function bookedExecutions({ books }: View): Set<string> {
  return new Set(books.transfers.filter(({ kind }) => kind === 'payment').map(({ cause }) => cause));
}

function executionsHeard(view: View): Breach[] {
  const booked = bookedExecutions(view);
  const told = new Set(
    view.facts
      .noticesOf('payin')
      .flatMap(({ noticeId, executionId }) =>
        view.heard.has(noticeId) && executionId !== null ? [executionId] : [],
      ),
  );
  return view.facts.executions
    .filter(({ rail, executionId }) => told.has(executionId) && !booked.has(`${rail}:${executionId}`))
    .map((execution) => ({ promise: 'heard', about: { notBooked: execution } }));
}

/** What happened, the fault that struck, a false notice before the true one. */
const LINES_OF_A_NOTICE = 3;

/** A payin is not open any more when its rail has told of money, or of an end by which it stands. */
function payinsHeard(view: View): Breach[] {
  const { facts } = view;
  return view.payins.flatMap((payin): Breach[] => {
    const row = view.books.payins.find(({ id }) => id === payin.id);
    if (!row || isFinal(row.status)) return [];
    const rail = facts.of(payin.railReference);
    const real = new Set(rail.executions.map(({ executionId }) => executionId));
    // A notice stands in the journal right behind what it tells of.
    const tellsAnEnd = (seq: number) =>
      rail.ends.some((end) => end.stands && seq > end.seq && seq - end.seq <= LINES_OF_A_NOTICE);
    const word = facts
      .noticesAbout(payin.railReference)
      .find(
        ({ seq, noticeId, executionId }) =>
          view.heard.has(noticeId) && (executionId === null ? tellsAnEnd(seq) : real.has(executionId)),
      );
    return word ? [{ promise: 'heard', about: { stillOpen: row, word } }] : [];
  });
}

function strangersHeard(view: View): Breach[] {
  const ours = new Set([
    ...view.payins.map(({ railReference }) => railReference),
    ...view.payouts.map(({ endToEndId }) => endToEndId),
  ]);
  return [...view.facts.notices.values()].flatMap((notice): Breach[] => {
    if (!view.heard.has(notice.noticeId) || ours.has(notice.reference)) return [];
    const rows = view.books.anomalies.filter(({ reference }) => reference === notice.reference);
    if (rows.some(({ kind }) => kind === 'unmatched')) return [];
    return [{ promise: 'detectedAnomalies', about: { nobodyWasTold: notice } }];
  });
}

function contradictionsHeard(view: View, confirmedSince: ReadonlyMap<string, number>): Breach[] {
  return view.payins.flatMap((payin): Breach[] => {
    const since = confirmedSince.get(payin.id);
    if (since === undefined) return [];
    const against = view.facts
      .noticesAbout(payin.railReference)
      .find(
        ({ seq, executionId, noticeId }) => seq > since && executionId === null && view.heard.has(noticeId),
      );
    const isTold = view.books.anomalies.some(
      (anomaly) => anomaly.payin === payin.id && anomaly.kind === 'contradiction',
    );
    return against && !isTold
      ? [{ promise: 'detectedAnomalies', about: { contradicts: payin.id, against } }]
      : [];
  });
}

/**
 * At the end of a history, when nothing is open and nothing left to be asked: the books are the rail's. The one exception
 * is money of which the rail told nobody and that came after the last question: only a reconciliation with the rail's own
 * list could find it.
 */
export function lastBreaches(view: View): Breach[] {
  const booked = bookedExecutions(view);
  const breaches: Breach[] = view.books.payins
    .filter(({ status }) => !isFinal(status))
    .map((row) => ({ promise: 'ends', about: row }));
  for (const execution of view.facts.executions) {
    const { rail, executionId } = execution;
    if (booked.has(`${rail}:${executionId}`)) continue;
    if (isUnheard(view, view.facts.of(execution.reference), execution)) continue;
    breaches.push({ promise: 'booked', about: { notBooked: execution } });
  }
  return breaches;
}

function isUnheard({ facts }: View, collection: Collection, { seq, rail, executionId }: Execution): boolean {
  const isTold = [...facts.notices.values()].some((notice) => notice.executionId === executionId);
  const isAsked = collection.asked.some((asked) => asked > seq) && !facts.lostAnswers.has(rail);
  return !isTold && !isAsked;
}
