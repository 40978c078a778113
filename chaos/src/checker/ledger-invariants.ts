import type { PayinRow, TransferRow } from './rows.ts';
import type { Violation, World } from './world.ts';

/** Every transfer has its one cause, and every cause that is no payment is a known act. */
export function ledgerViolations(world: World): Violation[] {
  return [
    ...causeViolations(world),
    ...settlementViolations(world),
    ...verificationViolations(world),
    ...operatorViolations(world),
    ...doneViolations(world),
  ];
}

function causeViolations({ rows }: World): Violation[] {
  const promise = 'one transfer per cause';
  const name = (kind: string, id: string, transferId: string) => `${kind} ${id} ${transferId}`;
  const causes = new Set(rows.causes.map((cause) => name(cause.kind, cause.id, cause.transferId)));
  const transfers = new Set(rows.transfers.map((row) => name(row.causeKind, row.causeId, row.id)));
  return [
    ...rows.transfers
      .filter((row) => !causes.has(name(row.causeKind, row.causeId, row.id)))
      .map((row) => ({ promise, what: 'a transfer without its cause', row })),
    ...rows.causes
      .filter((cause) => !transfers.has(name(cause.kind, cause.id, cause.transferId)))
      .map((row) => ({ promise, what: 'a cause without its transfer', row })),
  ];
}

function settlementViolations({ rows }: World): Violation[] {
  const promise = 'settlements add up';
  const settled = Map.groupBy(
    rows.payins.filter(({ settlementId }) => settlementId !== null),
    ({ settlementId }) => settlementId ?? '',
  );
  const moved = new Map(
    rows.transfers.filter(({ causeKind }) => causeKind === 'settlement').map((row) => [row.causeId, row]),
  );
  const known = new Set(rows.settlements.map(({ id }) => id));
  const pending = new Map<string, bigint>();
  for (const payin of rows.payins)
    if (payin.settlement === 'PENDING_SETTLEMENT')
      pending.set(payin.organizationId, (pending.get(payin.organizationId) ?? 0n) + settling(payin));
  return [
    ...rows.settlements.flatMap((settlement) => {
      const payins = settled.get(settlement.id) ?? [];
      const sum = payins.reduce((total, payin) => total + settling(payin), 0n);
      const transfer = moved.get(settlement.id);
      const right =
        sum === settlement.amount &&
        payins.length === settlement.payins &&
        isSettling(transfer, settlement.amount);
      return right
        ? []
        : [
            {
              promise,
              what: 'a settlement is not the sum of its payins',
              row: { settlement, sum, transfer },
            },
          ];
    }),
    ...[...settled.keys(), ...moved.keys()]
      .filter((id) => !known.has(id))
      .map((id) => ({ promise, what: 'settled by no settlement', row: { id } })),
    ...rows.payins
      .filter((payin) => (payin.status === 'CONFIRMED' && !isShort(payin)) !== (payin.settlement !== null))
      .map((row) => ({ promise, what: `${row.status} with settlement ${row.settlement}`, row })),
    ...rows.balances
      .filter(
        ({ account, organizationId, balance }) =>
          account === 'pending' && balance !== (pending.get(organizationId) ?? 0n),
      )
      .map((row) => ({ promise, what: 'pending is not what waits for settlement', row })),
  ];
}

/** A notification alone settles nothing: the rail must have been queried after the payment. */
function verificationViolations({ rows, rail, ownerOf }: World): Violation[] {
  const listed = new Set(
    rail.executions
      .filter(({ reference, seq }) => (rail.asked.get(reference) ?? 0) > seq)
      .map((execution) => ownerOf(execution.rail, execution.reference)?.id),
  );
  return rows.payins
    .filter(({ id, settlement, verified }) => settlement === 'SETTLED' && !(verified && listed.has(id)))
    .map((row) => ({
      promise: 'a payment settles after the rail listed it',
      what: row.verified ? 'the rail was never queried about it' : 'its payment is not verified',
      row,
    }));
}

/** A link asks for its amount: what is beyond it is in suspense. */
function settling({ linkId, amount, confirmed }: PayinRow): bigint {
  return linkId !== null && (confirmed ?? 0n) > amount ? amount : (confirmed ?? 0n);
}

/** Less than the requested amount is in suspense as a whole; a direct payin is declined for it. */
export function isShort({ linkId, amount, confirmed, status, errorCode }: PayinRow): boolean {
  const ended = linkId === null ? status === 'DECLINED' && errorCode === 'UNDERPAID' : status === 'CONFIRMED';
  return ended && confirmed !== null && confirmed < amount;
}

function isSettling(transfer: TransferRow | undefined, amount: bigint): boolean {
  return transfer?.debit === 'pending' && transfer.credit === 'available' && transfer.amount === amount;
}

function operatorViolations({ rows, told }: World): Violation[] {
  const promise = 'nothing from nowhere';
  const deposits = new Map(
    told.acts
      .filter(({ act }) => act === 'deposit')
      .map(({ organizationId, about, amountInCents }) => [
        `${organizationId}:${about}`,
        BigInt(amountInCents ?? 0),
      ]),
  );
  const reversals = new Map(
    told.acts
      .filter(({ act }) => act === 'reverse')
      .map(({ organizationId, about, amountInCents }) => [
        `${organizationId}:${about}`,
        BigInt(amountInCents ?? 0),
      ]),
  );
  const resolved = new Set(
    told.acts.filter(({ act }) => act === 'resolve' || act === 'accept').map(({ about }) => about),
  );
  const accepted = new Set(told.acts.filter(({ act }) => act === 'accept').map(({ about }) => about));
  const anomalies = new Map(rows.anomalies.map((anomaly) => [anomaly.id, anomaly]));
  const credited = new Map(
    rows.transfers.filter(({ causeKind }) => causeKind === 'anomaly').map((row) => [row.causeId, row]),
  );
  return [
    ...rows.transfers
      .filter(({ causeKind, causeId, amount }) => causeKind === 'deposit' && deposits.get(causeId) !== amount)
      .map((row) => ({ promise, what: 'a deposit that no operator made', row })),
    ...rows.transfers
      .filter(({ causeKind }) => causeKind === 'reversal')
      .filter((row) => reversals.get(reversedDeposit(rows, row) ?? '') !== row.amount)
      .map((row) => ({ promise, what: 'a reversal that no operator made', row })),
    ...[...credited.values()]
      .filter(({ causeId, amount }) => magnitude(anomalies.get(causeId)?.amount) !== amount)
      .map((row) => ({ promise, what: 'money out of suspense for no anomaly', row })),
    ...rows.anomalies
      // The rail itself ends the hold of a payment that it lists after all.
      .filter(({ id, resolution }) => resolution !== null && resolution !== 'listed' && !resolved.has(id))
      .map((row) => ({ promise, what: 'an anomaly that no operator resolved', row })),
    ...rows.anomalies
      .filter((anomaly) => anomaly.accepted && !accepted.has(anomaly.id))
      .map((row) => ({ promise, what: 'an acceptance that no merchant made', row })),
    ...rows.anomalies
      .filter(({ id, resolution }) => MOVES_MONEY.has(resolution) !== credited.has(id))
      .map((row) => ({ promise, what: 'a resolution and its transfer are not together', row })),
  ];
}

/** The act of its reversal, where a transfer reverses a deposit between the same accounts; else null. */
function reversedDeposit(rows: World['rows'], reversal: TransferRow): string | null {
  const deposit = rows.transfers.find(
    ({ id, causeKind }) => id === reversal.causeId && causeKind === 'deposit',
  );
  if (!deposit || deposit.debit !== reversal.credit || deposit.credit !== reversal.debit) return null;
  const { organizationId, causeId } = deposit;
  return `${organizationId}:reversal of ${causeId.slice(organizationId.length + 1)}`;
}

/** A return moves its money by its payout, and a dismissal has none. */
const MOVES_MONEY: ReadonlySet<string | null> = new Set(['credit', 'charge', 'write_off']);

function magnitude(amount: bigint | null | undefined): bigint | null {
  if (amount === null || amount === undefined) return null;
  return amount < 0n ? -amount : amount;
}

/**
 * A deposit or its reversal is booked; a resolved anomaly is resolved, or its return was declined and it is open again; an accepted one is
 * accepted, and credited when all has come to its end.
 */
function doneViolations({ rows, told, drained }: World): Violation[] {
  const deposits = new Set(
    rows.transfers.filter(({ causeKind }) => causeKind === 'deposit').map(({ causeId }) => causeId),
  );
  const accepted = new Set(rows.anomalies.filter((each) => each.accepted).map(({ id }) => id));
  const reversals = new Set(
    rows.transfers
      .filter(({ causeKind }) => causeKind === 'reversal')
      .map((row) => reversedDeposit(rows, row)),
  );
  const resolved = new Set([
    ...rows.anomalies.filter(({ resolution }) => resolution !== null).map(({ id }) => id),
    ...rows.payouts.all.map(({ anomalyId }) => anomalyId),
  ]);
  return told.acts
    .filter(({ about }) => told.done.has(about))
    .filter(({ act, about, organizationId }) => {
      if (act === 'deposit') return !deposits.has(`${organizationId}:${about}`);
      if (act === 'reverse') return !reversals.has(`${organizationId}:${about}`);
      return act === 'accept' && !drained ? !accepted.has(about) : !resolved.has(about);
    })
    .map((row) => ({ promise: 'what an operator was told is done', what: 'it is not in the books', row }));
}
