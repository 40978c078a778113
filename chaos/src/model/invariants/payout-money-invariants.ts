import type { Breach } from '../invariant-violation.ts';
import type { PayoutRow, TransferRow } from '../snapshot.ts';
import type { View } from '../view.ts';

const KINDS: ReadonlySet<string> = new Set(['payout_hold', 'payout_release', 'payout']);

/** At any time, the transfers of a payout match its status: both change in one transaction. */
export function payoutMoneyBreaches(view: View): Breach[] {
  const { snapshot, organizationId } = view;
  const found = snapshot.transfers.filter(({ kind }) => KINDS.has(kind));
  const known = new Set(snapshot.payouts.map(({ id }) => id));
  const unmatched = found.filter(({ resource }) => !known.has(resource ?? ''));
  return [
    ...unmatched.map(
      (transfer): Breach => ({
        invariant: 'payout_transfers_match_status',
        about: { withoutPayout: transfer },
      }),
    ),
    ...snapshot.payouts.flatMap((row): Breach[] => {
      const transfers = found.filter(({ resource }) => resource === row.id);
      const actual = transfers.map((transfer) => describe(transfer)).toSorted();
      const wanted = expected(row, organizationId).toSorted();
      if (actual.join() === wanted.join()) return [];
      return [{ invariant: 'payout_transfers_match_status', about: { row, transfers, wanted } }];
    }),
    ...executionBreaches(view),
  ];
}

function describe({ organization, kind, cause, debit, credit, cents }: TransferRow): string {
  return `${organization} ${kind}/${cause}: ${cents} from ${debit} to ${credit}`;
}

/** A funded payout is held at creation, then sent or released. */
function expected({ id, status, error, attempts, cents }: PayoutRow, organizationId: string): string[] {
  const unfunded = status === 'DECLINED' && error === 'INSUFFICIENT_FUNDS' && attempts === 0;
  if (unfunded) return [];
  const line = (kind: string, debit: string, credit: string) =>
    `${organizationId} ${kind}/${id}: ${cents} from ${debit} to ${credit}`;
  const hold = line('payout_hold', 'available', 'held');
  if (status === 'PROCESSING') return [hold];
  return [
    hold,
    status === 'CONFIRMED'
      ? line('payout', 'held', 'clearing_bre_b')
      : line('payout_release', 'held', 'available'),
  ];
}

/** An execution without a confirmed payout is posted once with its amount and has an anomaly. */
function executionBreaches({ snapshot, facts, payouts }: View): Breach[] {
  const byReference = new Map(payouts.map((payout) => [payout.endToEndId, payout]));
  const confirmed = new Set(snapshot.payouts.map(({ execution }) => execution));
  const seen = new Set<string>();
  return snapshot.transfers
    .filter(({ kind }) => kind === 'execution')
    .flatMap((transfer): Breach[] => {
      const executionId = transfer.cause.split(':')[1] ?? '';
      const execution = facts.orders.executions.find((each) => each.executionId === executionId);
      const again = seen.has(executionId) || confirmed.has(executionId);
      seen.add(executionId);
      if (again) return [{ invariant: 'execution_posted_once', about: transfer }];
      const valid =
        execution !== undefined &&
        transfer.cents === String(execution.cents) &&
        transfer.debit === 'suspense' &&
        transfer.credit === 'clearing_bre_b';
      if (!valid)
        return [{ invariant: 'ledger_matches_rail', about: { transfer, execution: execution ?? null } }];
      const payoutId = byReference.get(execution.endToEndId)?.id ?? null;
      const anomalies = snapshot.anomalies.filter(
        ({ execution: of, cents, payout }) =>
          of === executionId && cents === `-${transfer.cents}` && payout === payoutId,
      );
      return anomalies.length === 1
        ? []
        : [{ invariant: 'suspense_has_anomaly', about: { transfer, anomalies } }];
    });
}
