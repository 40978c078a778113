import type { AnomalyRow, PayinRow, PayoutRow } from '../books.ts';
import type { Breach } from '../invariant-violation.ts';
import type { View } from '../view.ts';

/** Of what is odd, at any moment: what an anomaly says is founded, and money in suspense has one. */
export function anomalyBreaches(view: View): Breach[] {
  const { anomalies, transfers, payins } = view.books;
  const rows = new Map(payins.map((row) => [row.id, row]));
  const suspended = transfers.filter(({ credit }) => credit === 'suspense');
  const breaches: Breach[] = [];
  for (const transfer of suspended) {
    const executionId = transfer.cause.split(':')[1] ?? '';
    const told = anomalies.filter(
      ({ execution, cents, payin }) =>
        execution === executionId && cents === transfer.cents && payin === transfer.resource,
    );
    if (told.length !== 1) breaches.push({ promise: 'suspense', about: { transfer, anomalies: told } });
  }
  const names = anomalies.map(({ kind, reference, execution }) => `${kind} ${execution ?? reference}`);
  if (new Set(names).size !== names.length)
    breaches.push({ promise: 'detectedAnomalies', about: { twice: names } });
  const outgoing = new Set(view.facts.noticesOf('payout').map(({ reference }) => reference));
  const isOutgoing = ({ payout, reference }: AnomalyRow) => payout !== null || outgoing.has(reference);
  for (const anomaly of anomalies.filter(isOutgoing)) {
    const row = view.books.payouts.find(({ id }) => id === anomaly.payout) ?? null;
    if (!isFoundedOut(view, anomaly, row))
      breaches.push({ promise: 'detectedAnomalies', about: { anomaly, row } });
  }
  for (const anomaly of anomalies.filter((each) => !isOutgoing(each))) {
    const row = anomaly.payin === null ? null : (rows.get(anomaly.payin) ?? null);
    const money = suspended.find(({ cause }) => cause.split(':')[1] === anomaly.execution);
    const founded =
      anomaly.cents === null
        ? isFounded(view, anomaly, row)
        : money !== undefined && kindFits(anomaly, row, money.kind === 'payment_excess');
    if (!founded) breaches.push({ promise: 'detectedAnomalies', about: { anomaly, row } });
  }
  return breaches;
}

/** Money too much, or too little: what an underpaid payin says arrived is told as such, once. */
function kindFits({ kind, cents }: AnomalyRow, row: PayinRow | null, isExcess: boolean): boolean {
  if (row === null) return kind === 'unmatched';
  if (isExcess) return kind === 'overpaid' && row.status === 'CONFIRMED';
  if (kind === 'underpaid') return row.error === 'UNDERPAID' && cents === row.confirmed;
  return kind === (row.status === 'CONFIRMED' ? 'paid_again' : 'paid_late');
}

/** Words without money: of nobody's payin, or against a payin that is paid. The rails here never take a payment back. */
function isFounded({ facts }: View, { kind, reference }: AnomalyRow, row: PayinRow | null): boolean {
  const words = facts.noticesAbout(reference);
  if (kind === 'unmatched') return row === null && words.length > 0;
  return (
    kind === 'contradiction' &&
    row?.status === 'CONFIRMED' &&
    words.some(({ executionId }) => executionId === null)
  );
}

/**
 * Money that left after its payout had ended without, words about nobody's payout, and a denial of what is paid. The rail
 * here executes no order twice and settles nothing that it does not stand by: that is never said rightly.
 */
function isFoundedOut(
  { facts, books }: View,
  { kind, reference, execution, cents }: AnomalyRow,
  row: PayoutRow | null,
): boolean {
  if (kind === 'sent_late') {
    const booked = books.transfers.some(
      (each) => each.kind === 'execution' && each.cause.endsWith(`:${execution}`),
    );
    return row !== null && row.status !== 'CONFIRMED' && cents === `-${row.cents}` && booked;
  }
  const words = facts.noticesAbout(reference);
  if (cents !== null) return false;
  if (kind === 'unmatched') return row === null && words.length > 0;
  return (
    kind === 'contradiction' &&
    row?.status === 'CONFIRMED' &&
    words.some(({ executionId }) => executionId === null)
  );
}
