import type { Breach } from '../invariant-violation.ts';
import type { AnomalyRow, PayinRow, PayoutRow } from '../snapshot.ts';
import type { View } from '../view.ts';
import { isPart } from './link-attempts.ts';

/** At any time, every anomaly has a cause, and money in suspense has an anomaly. */
export function anomalyBreaches(view: View): Breach[] {
  const { anomalies, transfers, payins } = view.snapshot;
  const rows = new Map(payins.map((row) => [row.id, row]));
  const suspended = transfers.filter(({ credit }) => credit === 'suspense');
  const breaches: Breach[] = [];
  for (const transfer of suspended) {
    const executionId = transfer.cause.split(':')[1] ?? '';
    const matching = anomalies.filter(
      ({ execution, cents, payin }) =>
        execution === executionId && cents === transfer.cents && payin === transfer.resource,
    );
    const row = rows.get(transfer.resource ?? '');
    if (matching.length !== (row && isWaitingPart(view, row, executionId) ? 0 : 1))
      breaches.push({ invariant: 'suspense_has_anomaly', about: { transfer, anomalies: matching } });
  }
  const names = anomalies.map(({ kind, reference, execution }) => `${kind} ${execution ?? reference}`);
  if (new Set(names).size !== names.length)
    breaches.push({ invariant: 'anomalies_justified', about: { twice: names } });
  const outgoing = new Set(view.facts.noticesFor('payout').map(({ reference }) => reference));
  const isOutgoing = ({ payout, reference }: AnomalyRow) => payout !== null || outgoing.has(reference);
  for (const anomaly of anomalies.filter(isOutgoing)) {
    const row = view.snapshot.payouts.find(({ id }) => id === anomaly.payout) ?? null;
    if (!isOutgoingJustified(view, anomaly, row))
      breaches.push({ invariant: 'anomalies_justified', about: { anomaly, row } });
  }
  for (const anomaly of anomalies.filter((each) => !isOutgoing(each))) {
    const row = anomaly.payin === null ? null : (rows.get(anomaly.payin) ?? null);
    const money = suspended.find(({ cause }) => cause.split(':')[1] === anomaly.execution);
    const justified =
      anomaly.cents === null
        ? isJustified(view, anomaly, row)
        : money !== undefined && kindFits(anomaly, row, money.kind === 'payment_excess');
    if (!justified) breaches.push({ invariant: 'anomalies_justified', about: { anomaly, row } });
  }
  return breaches;
}

/** A part of a link has no anomaly unless the link expires: it waits for the other parts, or was credited with them. */
function isWaitingPart({ snapshot }: View, row: PayinRow, executionId: string): boolean {
  const link = snapshot.links.find(({ id }) => id === row.link);
  return isPart(row) && row.execution === executionId && link?.status !== 'EXPIRED';
}

/** Whether the kind fits the payin; the received amount of an underpaid payin has kind `underpaid`. */
function kindFits({ kind, cents, execution }: AnomalyRow, row: PayinRow | null, isExcess: boolean): boolean {
  if (row === null) return kind === 'unmatched';
  if (isExcess) return kind === 'overpaid' && row.status === 'CONFIRMED';
  if (kind === 'underpaid')
    return row.error === 'UNDERPAID' && cents === row.confirmed && execution === row.execution;
  return kind === (row.status === 'CONFIRMED' ? 'paid_again' : 'paid_late');
}

/** Anomalies without money: an unmatched notice, or one that contradicts a paid payin. These rails never revoke a payment. */
function isJustified({ facts }: View, { kind, reference }: AnomalyRow, row: PayinRow | null): boolean {
  const notices = facts.noticesAbout(reference);
  if (kind === 'unmatched') return row === null && notices.length > 0;
  return (
    kind === 'contradiction' &&
    row?.status === 'CONFIRMED' &&
    notices.some(({ executionId }) => executionId === null)
  );
}

/**
 * Outgoing anomalies: an execution after the payout ended without one, an unmatched notice, or the denial of a confirmed
 * payout. The simulated rail never executes an order twice and never revokes a settlement, so other kinds are wrong.
 */
function isOutgoingJustified(
  { facts, snapshot }: View,
  { kind, reference, execution, cents }: AnomalyRow,
  row: PayoutRow | null,
): boolean {
  if (kind === 'sent_late') {
    const posted = snapshot.transfers.some(
      (each) => each.kind === 'execution' && each.cause.endsWith(`:${execution}`),
    );
    return row !== null && row.status !== 'CONFIRMED' && cents === `-${row.cents}` && posted;
  }
  const notices = facts.noticesAbout(reference);
  if (cents !== null) return false;
  if (kind === 'unmatched') return row === null && notices.length > 0;
  return (
    kind === 'contradiction' &&
    row?.status === 'CONFIRMED' &&
    notices.some(({ executionId }) => executionId === null)
  );
}
