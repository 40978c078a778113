import type { InvariantCode } from './invariants.ts';
import type { PayinRow, TransferRow } from './rows.ts';
import type { Violation, World } from './world.ts';

/** Every transfer has one cause, and every cause other than a payment is a known command. */
export function ledgerViolations(world: World): Violation[] {
  return [
    ...causeViolations(world),
    ...settlementViolations(world),
    ...verificationViolations(world),
    ...operatorViolations(world),
    ...acknowledgedCommandViolations(world),
  ];
}

function causeViolations({ rows }: World): Violation[] {
  const invariant: InvariantCode = 'one_transfer_per_cause';
  const name = (kind: string, id: string, transferId: string) => `${kind} ${id} ${transferId}`;
  const causes = new Set(rows.causes.map((cause) => name(cause.kind, cause.id, cause.transferId)));
  const transfers = new Set(rows.transfers.map((row) => name(row.causeKind, row.causeId, row.id)));
  return [
    ...rows.transfers
      .filter((row) => !causes.has(name(row.causeKind, row.causeId, row.id)))
      .map((row) => ({ invariant, detail: 'a transfer without its cause', row })),
    ...rows.causes
      .filter((cause) => !transfers.has(name(cause.kind, cause.id, cause.transferId)))
      .map((row) => ({ invariant, detail: 'a cause without its transfer', row })),
  ];
}

function settlementViolations(world: World): Violation[] {
  const { rows } = world;
  const invariant: InvariantCode = 'settlements_match_payins';
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
              invariant,
              detail: 'a settlement differs from the sum of its payins',
              row: { settlement, sum, transfer },
            },
          ];
    }),
    ...[...settled.keys(), ...moved.keys()]
      .filter((id) => !known.has(id))
      .map((id) => ({ invariant, detail: 'the settlement is missing', row: { id } })),
    ...rows.payins
      .filter(
        (payin) =>
          (payin.status === 'CONFIRMED' && !isSecondPayment(world, payin)) !== (payin.settlement !== null),
      )
      .map((row) => ({ invariant, detail: `${row.status} with settlement ${row.settlement}`, row })),
    ...rows.balances
      .filter(
        ({ account, organizationId, balance }) =>
          account === 'pending' && balance !== (pending.get(organizationId) ?? 0n),
      )
      .map((row) => ({ invariant, detail: 'the pending balance differs from the unsettled payins', row })),
  ];
}

/** A notification alone settles nothing: the rail must have been queried after the payment. */
function verificationViolations({ rows, rail, findOwner }: World): Violation[] {
  const listed = new Set(
    rail.executions
      .filter(({ reference, seq }) => (rail.lastQueried.get(reference) ?? 0) > seq)
      .map((execution) => findOwner(execution.rail, execution.reference)?.id),
  );
  return rows.payins
    .filter(({ id, settlement, verified }) => settlement === 'SETTLED' && !(verified && listed.has(id)))
    .map(
      (row): Violation => ({
        invariant: 'settlement_requires_verification',
        detail: row.verified ? 'the rail was not queried after the payment' : 'the payment is not verified',
        row,
      }),
    );
}

/** The payin that completes a link settles with what earlier attempts received. */
function settling({ confirmed, earlierParts }: PayinRow): bigint {
  return (confirmed ?? 0n) + (earlierParts ?? 0n);
}

/** An underpayment declines the payin; its money is in suspense. */
export function isUnderpaid({ amount, confirmed, status, errorCode }: PayinRow): boolean {
  return status === 'DECLINED' && errorCode === 'UNDERPAID' && confirmed !== null && confirmed < amount;
}

/** A payment on a link that another attempt had completed: its money is in suspense. */
export function isSecondPayment({ rows }: World, { id, linkId, status }: PayinRow): boolean {
  const link = linkId === null ? undefined : rows.links.byId.get(linkId);
  return status === 'CONFIRMED' && link?.status === 'COMPLETED' && link.payinId !== id;
}

function isSettling(transfer: TransferRow | undefined, amount: bigint): boolean {
  return transfer?.debit === 'pending' && transfer.credit === 'available' && transfer.amount === amount;
}

function operatorViolations({ rows, client }: World): Violation[] {
  const invariant: InvariantCode = 'no_unexplained_records';
  const deposits = new Map(
    client.acts
      .filter(({ act }) => act === 'deposit')
      .map(({ organizationId, about, amountInCents }) => [
        `${organizationId}:${about}`,
        BigInt(amountInCents ?? 0),
      ]),
  );
  const reversals = new Map(
    client.acts
      .filter(({ act }) => act === 'reverse')
      .map(({ organizationId, about, amountInCents }) => [
        `${organizationId}:${about}`,
        BigInt(amountInCents ?? 0),
      ]),
  );
  const resolved = new Set(
    client.acts.filter(({ act }) => act === 'resolve' || act === 'accept').map(({ about }) => about),
  );
  const accepted = new Set(client.acts.filter(({ act }) => act === 'accept').map(({ about }) => about));
  const anomalies = new Map(rows.anomalies.map((anomaly) => [anomaly.id, anomaly]));
  const credited = new Map(
    rows.transfers.filter(({ causeKind }) => causeKind === 'anomaly').map((row) => [row.causeId, row]),
  );
  return [
    ...rows.transfers
      .filter(({ causeKind, causeId, amount }) => causeKind === 'deposit' && deposits.get(causeId) !== amount)
      .map((row) => ({ invariant, detail: 'a deposit that no operator made', row })),
    ...rows.transfers
      .filter(({ causeKind }) => causeKind === 'reversal')
      .filter((row) => reversals.get(reversedDeposit(rows, row) ?? '') !== row.amount)
      .map((row) => ({ invariant, detail: 'a reversal that no operator made', row })),
    ...[...credited.values()]
      .filter(({ causeId, amount }) => magnitude(anomalies.get(causeId)?.amount) !== amount)
      .map((row) => ({ invariant, detail: 'a transfer out of suspense without an anomaly', row })),
    ...rows.anomalies
      // The rail resolves the anomaly of an unlisted payment when it lists the payment later.
      .filter(({ id, resolution }) => resolution !== null && resolution !== 'listed' && !resolved.has(id))
      .map((row) => ({ invariant, detail: 'an anomaly resolved by no operator', row })),
    ...rows.anomalies
      .filter((anomaly) => anomaly.accepted && !accepted.has(anomaly.id))
      .map((row) => ({ invariant, detail: 'an acceptance that no merchant made', row })),
    ...rows.anomalies
      .filter(({ id, resolution }) => MOVES_MONEY.has(resolution) !== credited.has(id))
      .map((row) => ({ invariant, detail: 'a resolution without its transfer, or the reverse', row })),
  ];
}

/** @returns the journal name of the reversal if the transfer reverses a deposit, else null */
function reversedDeposit(rows: World['rows'], reversal: TransferRow): string | null {
  const deposit = rows.transfers.find(
    ({ id, causeKind }) => id === reversal.causeId && causeKind === 'deposit',
  );
  if (!deposit || deposit.debit !== reversal.credit || deposit.credit !== reversal.debit) return null;
  const { organizationId, causeId } = deposit;
  return `${organizationId}:reversal of ${causeId.slice(organizationId.length + 1)}`;
}

/** A return moves its money with its payout, and a dismissal moves none. */
const MOVES_MONEY: ReadonlySet<string | null> = new Set(['credit', 'charge', 'write_off']);

function magnitude(amount: bigint | null | undefined): bigint | null {
  if (amount === null || amount === undefined) return null;
  return amount < 0n ? -amount : amount;
}

/**
 * Acknowledged commands took effect: a deposit or reversal is posted; an anomaly is resolved, or is open again because its
 * return was declined; an acceptance is recorded, and credited after draining.
 */
function acknowledgedCommandViolations({ rows, client, drained }: World): Violation[] {
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
  return client.acts
    .filter(({ about }) => client.done.has(about))
    .filter(({ act, about, organizationId }) => {
      if (act === 'deposit') return !deposits.has(`${organizationId}:${about}`);
      if (act === 'reverse') return !reversals.has(`${organizationId}:${about}`);
      return act === 'accept' && !drained ? !accepted.has(about) : !resolved.has(about);
    })
    .map(
      (row): Violation => ({
        invariant: 'acknowledged_command_applied',
        detail: 'the command is not in the database',
        row,
      }),
    );
}
