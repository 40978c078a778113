import type { Breach } from '../invariant-violation.ts';
import type { Collection, Execution } from '../rail-facts.ts';
import { isFinal, type View } from '../view.ts';

/** When idle, every delivered notice about payins has been applied. */
export function noticeBreaches(view: View, confirmedSince: ReadonlyMap<string, number>): Breach[] {
  return [
    ...unpostedExecutions(view),
    ...payinsStillOpen(view),
    ...unmatchedNotices(view),
    ...missedContradictions(view, confirmedSince),
  ];
}

function postedExecutions({ snapshot }: View): Set<string> {
  return new Set(snapshot.transfers.filter(({ kind }) => kind === 'payment').map(({ cause }) => cause));
}

function unpostedExecutions(view: View): Breach[] {
  const posted = postedExecutions(view);
  const reported = new Set(
    view.facts
      .noticesFor('payin')
      .flatMap(({ noticeId, executionId }) =>
        view.deliveredNotices.has(noticeId) && executionId !== null ? [executionId] : [],
      ),
  );
  return view.facts.executions
    .filter(({ rail, executionId }) => reported.has(executionId) && !posted.has(`${rail}:${executionId}`))
    .map((execution) => ({ invariant: 'delivered_notice_applied', about: { notPosted: execution } }));
}

/** The event, an applied fault, and a false notice before the true one. */
const MAX_LINES_TO_NOTICE = 3;

/** A payin is final once a delivered notice reported its payment, or an end that is the rail's own status. */
function payinsStillOpen(view: View): Breach[] {
  const { facts } = view;
  return view.payins.flatMap((payin): Breach[] => {
    const row = view.snapshot.payins.find(({ id }) => id === payin.id);
    if (!row || isFinal(row.status)) return [];
    const rail = facts.of(payin.railReference);
    const real = new Set(rail.executions.map(({ executionId }) => executionId));
    // The journal has a notice right after the event that it reports.
    const reportsEnd = (seq: number) =>
      rail.ends.some((end) => end.stands && seq > end.seq && seq - end.seq <= MAX_LINES_TO_NOTICE);
    const notice = facts
      .noticesAbout(payin.railReference)
      .find(
        ({ seq, noticeId, executionId }) =>
          view.deliveredNotices.has(noticeId) &&
          (executionId === null ? reportsEnd(seq) : real.has(executionId)),
      );
    return notice ? [{ invariant: 'delivered_notice_applied', about: { stillOpen: row, notice } }] : [];
  });
}

function unmatchedNotices(view: View): Breach[] {
  const ours = new Set([
    ...view.payins.map(({ railReference }) => railReference),
    ...view.payouts.map(({ endToEndId }) => endToEndId),
  ]);
  return [...view.facts.notices.values()].flatMap((notice): Breach[] => {
    if (!view.deliveredNotices.has(notice.noticeId) || ours.has(notice.reference)) return [];
    const rows = view.snapshot.anomalies.filter(({ reference }) => reference === notice.reference);
    if (rows.some(({ kind }) => kind === 'unmatched')) return [];
    return [{ invariant: 'anomalies_justified', about: { withoutAnomaly: notice } }];
  });
}

function missedContradictions(view: View, confirmedSince: ReadonlyMap<string, number>): Breach[] {
  return view.payins.flatMap((payin): Breach[] => {
    const since = confirmedSince.get(payin.id);
    if (since === undefined) return [];
    const against = view.facts
      .noticesAbout(payin.railReference)
      .find(
        ({ seq, executionId, noticeId }) =>
          seq > since && executionId === null && view.deliveredNotices.has(noticeId),
      );
    const hasAnomaly = view.snapshot.anomalies.some(
      (anomaly) => anomaly.payin === payin.id && anomaly.kind === 'contradiction',
    );
    return against && !hasAnomaly
      ? [{ invariant: 'anomalies_justified', about: { contradicts: payin.id, against } }]
      : [];
  });
}

/**
 * At the end of a history, with nothing open and no poll due, the ledger matches the rail. The one exception is a payment
 * without a notice after the last poll: only reconciliation with the rail's statement could find it.
 */
export function finalBreaches(view: View): Breach[] {
  const posted = postedExecutions(view);
  const breaches: Breach[] = view.snapshot.payins
    .filter(({ status }) => !isFinal(status))
    .map((row) => ({ invariant: 'everything_final', about: row }));
  for (const execution of view.facts.executions) {
    const { rail, executionId } = execution;
    if (posted.has(`${rail}:${executionId}`)) continue;
    if (isUndetectable(view, view.facts.of(execution.reference), execution)) continue;
    breaches.push({ invariant: 'ledger_matches_rail', about: { notPosted: execution } });
  }
  return breaches;
}

function isUndetectable(
  { facts }: View,
  collection: Collection,
  { seq, rail, executionId }: Execution,
): boolean {
  const isNotified = [...facts.notices.values()].some((notice) => notice.executionId === executionId);
  const isPolled = collection.polled.some((position) => position > seq) && !facts.lostAnswers.has(rail);
  return !isNotified && !isPolled;
}
