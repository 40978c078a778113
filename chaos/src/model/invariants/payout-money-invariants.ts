import type { PayoutRow, TransferRow } from '../books.ts';
import type { Breach } from '../invariant-violation.ts';
import type { View } from '../view.ts';

const KINDS: ReadonlySet<string> = new Set(['payout_hold', 'payout_release', 'payout']);

/** Of the money of payouts, at any moment: state and books change together. */
export function payoutMoneyBreaches(view: View): Breach[] {
  const { books, organizationId } = view;
  const found = books.transfers.filter(({ kind }) => KINDS.has(kind));
  const known = new Set(books.payouts.map(({ id }) => id));
  const strange = found.filter(({ resource }) => !known.has(resource ?? ''));
  return [
    ...strange.map((transfer): Breach => ({ promise: 'payoutMoney', about: { ofNobody: transfer } })),
    ...books.payouts.flatMap((row): Breach[] => {
      const transfers = found.filter(({ resource }) => resource === row.id);
      const says = transfers.map((transfer) => told(transfer)).toSorted();
      const wanted = expected(row, organizationId).toSorted();
      if (says.join() === wanted.join()) return [];
      return [{ promise: 'payoutMoney', about: { row, transfers, wanted } }];
    }),
    ...executionBreaches(view),
  ];
}

function told({ organization, kind, cause, debit, credit, cents }: TransferRow): string {
  return `${organization} ${kind}/${cause}: ${cents} from ${debit} to ${credit}`;
}

/** Set aside when it was created, unless nothing covered it; then gone, or back. */
function expected({ id, status, error, attempts, cents }: PayoutRow, organizationId: string): string[] {
  const unfunded = status === 'DECLINED' && error === 'INSUFFICIENT_FUNDS' && attempts === 0;
  if (unfunded) return [];
  const of = (kind: string, debit: string, credit: string) =>
    `${organizationId} ${kind}/${id}: ${cents} from ${debit} to ${credit}`;
  const hold = of('payout_hold', 'available', 'held');
  if (status === 'PROCESSING') return [hold];
  return [
    hold,
    status === 'CONFIRMED'
      ? of('payout', 'held', 'clearing_bre_b')
      : of('payout_release', 'held', 'available'),
  ];
}

/** Money that left and that no payout answers for: booked once, of its amount, and told by an anomaly. */
function executionBreaches({ books, facts, payouts }: View): Breach[] {
  const byReference = new Map(payouts.map((payout) => [payout.endToEndId, payout]));
  const confirmed = new Set(books.payouts.map(({ execution }) => execution));
  const seen = new Set<string>();
  return books.transfers
    .filter(({ kind }) => kind === 'execution')
    .flatMap((transfer): Breach[] => {
      const executionId = transfer.cause.split(':')[1] ?? '';
      const execution = facts.orders.executions.find((each) => each.executionId === executionId);
      const again = seen.has(executionId) || confirmed.has(executionId);
      seen.add(executionId);
      if (again) return [{ promise: 'bookedOnce', about: transfer }];
      const sound =
        execution !== undefined &&
        transfer.cents === String(execution.cents) &&
        transfer.debit === 'suspense' &&
        transfer.credit === 'clearing_bre_b';
      if (!sound) return [{ promise: 'booked', about: { transfer, execution: execution ?? null } }];
      const payoutId = byReference.get(execution.endToEndId)?.id ?? null;
      const anomalies = books.anomalies.filter(
        ({ execution: of, cents, payout }) =>
          of === executionId && cents === `-${transfer.cents}` && payout === payoutId,
      );
      return anomalies.length === 1 ? [] : [{ promise: 'suspense', about: { transfer, anomalies } }];
    });
}
