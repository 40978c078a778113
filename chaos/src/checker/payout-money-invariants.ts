import type { PayoutRow } from './payout-rows.ts';
import type { AnomalyRow, TransferRow } from './rows.ts';
import type { Violation, World } from './world.ts';

const CLEARING = 'clearing_bre_b';
const TRANSFERS = "a payout's transfers are as its state says";
const SUSPENSE = 'money that left unasked has its anomaly';
const OF_PAYOUTS: ReadonlySet<string> = new Set(['payout_hold', 'payout_release', 'payout']);

const KIND: Readonly<Record<string, string>> = {
  CONFIRMED: 'sent_again',
  DECLINED: 'sent_late',
  CANCELED: 'sent_late',
};

/** What is set aside is what is open, and each payout's money went where its state says. */
export function payoutMoneyViolations(world: World): Violation[] {
  return [...transferViolations(world), ...heldViolations(world), ...leftViolations(world)];
}

interface Expected {
  readonly causeKind: string;
  readonly organizationId: string;
  readonly debit: string;
  readonly credit: string;
}

function expectedOf(payout: PayoutRow): Expected[] {
  const { organizationId, status, errorCode, attempts, anomalyOrganizationId } = payout;
  const sent = { causeKind: 'payout', credit: CLEARING };
  // A return: its money waits in suspense until it leaves.
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
      const expected = expectedOf(payout).map((way) => name(way, payout.amount));
      const booked = transfers.map((transfer) => name(transfer, transfer.amount));
      const same = expected.toSorted().join('\n') === booked.toSorted().join('\n');
      const ours = transfers.every(({ resourceId }) => resourceId === payout.id);
      return same && ours
        ? []
        : [{ promise: TRANSFERS, what: `${payout.status} by other transfers`, row: { payout, transfers } }];
    }),
    ...[...found]
      .filter(([payoutId]) => !rows.payouts.byId.has(payoutId))
      .map(([, row]) => ({ promise: TRANSFERS, what: 'transfers of no payout', row })),
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
    .map((organizationId) => ({
      promise: 'held is what is open',
      what: 'another sum is held',
      row: { organizationId, open: open.get(organizationId), held: held.get(organizationId) },
    }));
}

/** Money that left and that no payout answers for: by the rail's journal, once, with an anomaly over the same sum. */
function leftViolations({ rows, rail }: World): Violation[] {
  const executions = new Map(rail.payouts.sentMoney.map((money) => [`BRE_B:${money.executionId}`, money]));
  const confirmed = new Set(rows.payouts.all.map(({ executionId }) => `BRE_B:${executionId}`));
  const left = rows.transfers.filter(({ causeKind }) => causeKind === 'execution');
  const anomalies = new Map(
    rows.anomalies
      .filter(({ amount }) => amount !== null && amount < 0n)
      .map((anomaly) => [`${anomaly.rail}:${anomaly.executionId}`, anomaly]),
  );
  const booked = new Set(left.map(({ causeId }) => causeId));
  const kindOf = ({ payoutId }: AnomalyRow) =>
    payoutId === null ? 'unmatched' : KIND[rows.payouts.byId.get(payoutId)?.status ?? ''];
  const fits = (transfer: TransferRow, anomaly: AnomalyRow | undefined) =>
    transfer.debit === 'suspense' &&
    transfer.credit === CLEARING &&
    transfer.amount === executions.get(transfer.causeId)?.cents &&
    anomaly?.amount === -transfer.amount &&
    transfer.resourceId === anomaly.id &&
    anomaly.kind === kindOf(anomaly) &&
    !confirmed.has(transfer.causeId);
  return [
    ...left
      .filter((transfer) => !fits(transfer, anomalies.get(transfer.causeId)))
      .map((transfer) => ({
        promise: SUSPENSE,
        what: 'booked without an execution or an anomaly that tells of it',
        row: { transfer, anomaly: anomalies.get(transfer.causeId) },
      })),
    ...[...anomalies]
      .filter(([causeId]) => !booked.has(causeId))
      .map(([, row]) => ({ promise: SUSPENSE, what: 'an anomaly tells of money that is not booked', row })),
  ];
}
