import type { Breach } from '../invariant-violation.ts';
import type { OrderExecution } from '../order-facts.ts';
import { isFinal, type View } from '../view.ts';

/** When idle, every delivered notice about payouts has been applied. */
export function payoutNoticeBreaches(view: View, confirmedSince: ReadonlyMap<string, number>): Breach[] {
  return [
    ...unpostedExecutions(view),
    ...payoutsStillOpen(view),
    ...missedContradictions(view, confirmedSince),
  ];
}

/** Executions posted to a payout or to suspense. */
function posted({ snapshot }: View): Set<string | null> {
  const inSuspense = snapshot.transfers.filter(({ kind }) => kind === 'execution');
  return new Set([
    ...snapshot.payouts.map(({ execution }) => execution),
    ...inSuspense.map(({ cause }) => cause.split(':')[1] ?? null),
  ]);
}

function unpostedExecutions(view: View): Breach[] {
  const known = posted(view);
  const reported = new Set(
    view.facts
      .noticesFor('payout')
      .flatMap(({ noticeId, executionId }) => (view.deliveredNotices.has(noticeId) ? [executionId] : [])),
  );
  return view.facts.orders.executions
    .filter(({ executionId }) => reported.has(executionId) && !known.has(executionId))
    .map((execution) => ({ invariant: 'delivered_notice_applied', about: { notPosted: execution } }));
}

/** A payout is final once any notice after its order's end was delivered: the server polls if the notice is unclear. */
function payoutsStillOpen(view: View): Breach[] {
  const { facts } = view;
  return view.snapshot.payouts.flatMap((row): Breach[] => {
    if (isFinal(row.status)) return [];
    const [first] = facts.orders.of(row.end_to_end_id).ends;
    if (!first) return [];
    const notice = facts
      .noticesAbout(row.end_to_end_id)
      .find(({ seq, noticeId }) => seq > first.seq && view.deliveredNotices.has(noticeId));
    return notice ? [{ invariant: 'delivered_notice_applied', about: { stillOpen: row, notice } }] : [];
  });
}

/** A notice that denies a settled order creates an anomaly. */
function missedContradictions(view: View, confirmedSince: ReadonlyMap<string, number>): Breach[] {
  return view.payouts.flatMap(({ id, endToEndId }): Breach[] => {
    const since = confirmedSince.get(id);
    if (since === undefined) return [];
    const against = view.facts
      .noticesAbout(endToEndId)
      .find(
        ({ seq, executionId, noticeId }) =>
          seq > since && executionId === null && view.deliveredNotices.has(noticeId),
      );
    const hasAnomaly = view.snapshot.anomalies.some(
      ({ payout, kind }) => payout === id && kind === 'contradiction',
    );
    return against && !hasAnomaly
      ? [{ invariant: 'anomalies_justified', about: { contradicts: id, against } }]
      : [];
  });
}

/**
 * At the end of a history, every payout is final and every execution is posted. The one exception is an execution without a
 * notice after the last poll of a rejection: only reconciliation with the rail's statement could find it.
 */
export function finalPayoutBreaches(view: View): Breach[] {
  const known = posted(view);
  return [
    ...view.snapshot.payouts
      .filter(({ status }) => !isFinal(status))
      .map((row): Breach => ({ invariant: 'everything_final', about: row })),
    ...view.facts.orders.executions
      .filter((execution) => !known.has(execution.executionId) && !isUndetectable(view, execution))
      .map((execution): Breach => ({ invariant: 'ledger_matches_rail', about: { notPosted: execution } })),
  ];
}

/** The server polls to verify a rejection, and again a minute after it declined the payout. */
const POLLS_AFTER_REJECTION = 2;

function isUndetectable({ facts }: View, { seq, endToEndId, executionId, anyway }: OrderExecution): boolean {
  const { ends, answers } = facts.orders.of(endToEndId);
  const isNotified = facts.noticesFor('payout').some((notice) => notice.executionId === executionId);
  const polls = answers.filter((answer) => answer.seq > (ends[0]?.seq ?? 0));
  const pollsDone = polls.length >= POLLS_AFTER_REJECTION && polls.every((answer) => answer.seq < seq);
  return anyway && !isNotified && (pollsDone || facts.orders.answerLost);
}
