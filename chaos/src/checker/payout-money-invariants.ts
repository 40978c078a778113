import type { InvariantCode } from './invariants.ts';
import type { PayoutRow } from './payout-rows.ts';
import type { AnomalyRow, TransferRow } from './rows.ts';
import type { Violation, World } from './world.ts';

const CLEARING = 'clearing_bre_b';
const TRANSFERS: InvariantCode = 'payout_transfers_match_status';
const SUSPENSE: InvariantCode = 'unexpected_execution_has_anomaly';
const OF_PAYOUTS: ReadonlySet<string> = new Set(['payout_hold', 'payout_release', 'payout']);

const KIND: Readonly<Record<string, string>> = {
  CONFIRMED: 'sent_again',
  DECLINED: 'sent_late',
  CANCELED: 'sent_late',
};

/** The held balance equals the open payouts, and each payout's transfers match its status. */
export function payoutMoneyViolations(world: World): Violation[] {
  return [...transferViolations(world), ...heldViolations(world), ...unexpectedExecutionViolations(world)];
}

interface Expected {
  readonly causeKind: string;
  readonly organizationId: string;
  readonly debit: string;
  readonly credit: string;
}

function expectedTransfers(payout: PayoutRow): Expected[] {
  const { organizationId, status, errorCode, attempts, anomalyOrganizationId } = payout;
  const sent = { causeKind: 'payout', credit: CLEARING };
  // The money of a return stays in suspense until it is sent.
  if (anomalyOrganizationId !== null)
    return status === 'CONFIRMED'
      ? [{ ...sent, organizationId: anomalyOrganizationId, debit: 'suspense' }]
      : [];
  if (status === 'DECLINED' && errorCode === 'INSUFFICIENT_FUNDS' && attempts === 0) return [];
  const hold = { causeKind: 'payout_hold', organizationId, debit: 'available', credit: 'held' };
  if (status === 'PROCESSING') return [hold];
  if (status === 'CONFIRMED') return [hold, { ...sent, organizationId, debit: 'held' }];
  return [hold, { causeKind: 'payout_release', organizationId, debit: 'held', credit: 'available' }];
}

function transferViolations({ rows }: World): Violation[] {
  const found = Map.groupBy(
    rows.transfers.filter(({ causeKind }) => OF_PAYOUTS.has(causeKind)),
    ({ causeId }) => causeId,
  );
  const name = (way: Expected, amount: bigint) =>
    `${way.causeKind} ${way.organizationId} ${way.debit} ${way.credit} ${amount}`;
  return [
    ...rows.payouts.all.flatMap((payout) => {
      const transfers = found.get(payout.id) ?? [];
      const expected = expectedTransfers(payout).map((way) => name(way, payout.amount));
      const posted = transfers.map((transfer) => name(transfer, transfer.amount));
      const same = expected.toSorted().join('\n') === posted.toSorted().join('\n');
      const ours = transfers.every(({ resourceId }) => resourceId === payout.id);
      return same && ours
        ? []
        : [
            {
              invariant: TRANSFERS,
              detail: `${payout.status} with unexpected transfers`,
              row: { payout, transfers },
            },
          ];
    }),
    ...[...found]
      .filter(([payoutId]) => !rows.payouts.byId.has(payoutId))
      .map(([, row]) => ({ invariant: TRANSFERS, detail: 'transfers without a payout', row })),
  ];
}

function heldViolations({ rows }: World): Violation[] {
  const open = new Map<string, bigint>();
  for (const { organizationId, status, amount, anomalyId } of rows.payouts.all)
    if (status === 'PROCESSING' && anomalyId === null)
      open.set(organizationId, (open.get(organizationId) ?? 0n) + amount);
  const held = new Map(
    rows.balances
      .filter(({ account }) => account === 'held')
      .map(({ organizationId, balance }) => [organizationId, balance]),
  );
  return [...new Set([...open.keys(), ...held.keys()])]
    .filter((organizationId) => (open.get(organizationId) ?? 0n) !== (held.get(organizationId) ?? 0n))
    .map(
      (organizationId): Violation => ({
        invariant: 'held_equals_open_payouts',
        detail: 'the held balance differs from the open payouts',
        row: { organizationId, open: open.get(organizationId), held: held.get(organizationId) },
      }),
    );
}

/** An execution without a confirmed payout is in the rail's journal, posted once, and has an anomaly of the same amount. */
function unexpectedExecutionViolations({ rows, rail }: World): Violation[] {
  const executions = new Map(rail.payouts.sentMoney.map((money) => [`BRE_B:${money.executionId}`, money]));
  const confirmed = new Set(rows.payouts.all.map(({ executionId }) => `BRE_B:${executionId}`));
  const unexpected = rows.transfers.filter(({ causeKind }) => causeKind === 'execution');
  const anomalies = new Map(
    rows.anomalies
      .filter(({ amount }) => amount !== null && amount < 0n)
      .map((anomaly) => [`${anomaly.rail}:${anomaly.executionId}`, anomaly]),
  );
  const posted = new Set(unexpected.map(({ causeId }) => causeId));
  const expectedKind = ({ payoutId }: AnomalyRow) =>
    payoutId === null ? 'unmatched' : KIND[rows.payouts.byId.get(payoutId)?.status ?? ''];
  const fits = (transfer: TransferRow, anomaly: AnomalyRow | undefined) =>
    transfer.debit === 'suspense' &&
    transfer.credit === CLEARING &&
    transfer.amount === executions.get(transfer.causeId)?.cents &&
    anomaly?.amount === -transfer.amount &&
    transfer.resourceId === anomaly.id &&
    anomaly.kind === expectedKind(anomaly) &&
    !confirmed.has(transfer.causeId);
  return [
    ...unexpected
      .filter((transfer) => !fits(transfer, anomalies.get(transfer.causeId)))
      .map((transfer) => ({
        invariant: SUSPENSE,
        detail: 'posted without a matching execution and anomaly',
        row: { transfer, anomaly: anomalies.get(transfer.causeId) },
      })),
    ...[...anomalies]
      .filter(([causeId]) => !posted.has(causeId))
      .map(([, row]) => ({ invariant: SUSPENSE, detail: 'an anomaly without a posting', row })),
  ];
}
