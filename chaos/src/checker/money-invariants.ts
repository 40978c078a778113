import { isShort } from './ledger-invariants.ts';
import type { Execution } from './rail-facts.ts';
import type { AnomalyRow, PayinRow, TransferRow } from './rows.ts';
import { FINAL, type Violation, type World } from './world.ts';

const CLEARING: Readonly<Record<string, string>> = { BRE_B: 'clearing_bre_b', PSE: 'clearing_pse' };
const OWN: ReadonlySet<string> = new Set(['pending', 'available', 'held']);
const BOOKS = "the books equal the rail's";
/** What arrived beyond the requested amount, apart from the amount itself. */
const EXCESS = 'payment_excess';
const SHARE = 'one payment to the merchant, the rest in suspense';

/** Every peso that moved at a rail is in the books once, where it belongs, and no other is. */
export function moneyViolations(world: World): Violation[] {
  const { rows, ownerOf } = world;
  const payments = rows.transfers.filter(({ causeKind }) => causeKind === 'payment' || causeKind === EXCESS);
  const pending = Map.groupBy(
    payments.filter(({ credit }) => credit === 'pending'),
    ({ resourceId }) => resourceId ?? '',
  );
  const executions = new Map(world.rail.executions.map((e) => [`${e.rail}:${e.executionId}`, e]));
  return [
    ...payments.flatMap((payment) => bookingViolations(payment, executions.get(payment.causeId), ownerOf)),
    ...amountViolations(payments, executions),
    ...bookedTwice(payments),
    ...missingViolations(world, new Set(payments.map(({ causeId }) => causeId))),
    ...rows.payins.flatMap((payin) => shareViolations(payin, pending.get(payin.id) ?? [])),
    ...shortViolations(world),
    ...suspenseViolations(rows.anomalies, payments, world),
    ...contradictionViolations(world),
  ];
}

function bookingViolations(
  payment: TransferRow,
  execution: Execution | undefined,
  ownerOf: World['ownerOf'],
): Violation[] {
  if (!execution)
    return [{ promise: BOOKS, what: 'money in the books that never moved at a rail', row: payment }];
  const row = { payment, execution };
  if (payment.debit !== CLEARING[execution.rail])
    return [{ promise: BOOKS, what: 'booked from another rail', row }];
  const owner = ownerOf(execution.rail, execution.reference);
  const right =
    payment.resourceId === (owner?.id ?? null) && (!owner || owner.organizationId === payment.organizationId);
  if (!right) return [{ promise: BOOKS, what: "booked to somebody else's payin", row }];
  if (payment.causeKind === EXCESS && (payment.credit !== 'suspense' || owner === null))
    return [{ promise: SHARE, what: `an excess went to ${payment.credit}`, row }];
  return payment.credit === 'pending' || payment.credit === 'suspense'
    ? []
    : [{ promise: SHARE, what: `a payment went to ${payment.credit}`, row }];
}

/** Booked in one piece, or as the requested amount and what is beyond it: together it is what moved. */
function amountViolations(
  payments: readonly TransferRow[],
  executions: ReadonlyMap<string, Execution>,
): Violation[] {
  return [...Map.groupBy(payments, ({ causeId }) => causeId)]
    .filter(([causeId, pieces]) => {
      const execution = executions.get(causeId);
      return execution && pieces.reduce((sum, { amount }) => sum + amount, 0n) !== execution.cents;
    })
    .map(([, row]) => ({ promise: BOOKS, what: 'booked with another amount', row }));
}

function bookedTwice(payments: readonly TransferRow[]): Violation[] {
  return [...Map.groupBy(payments, ({ causeKind, causeId }) => `${causeKind} ${causeId}`).values()]
    .filter((same) => same.length > 1)
    .map((row) => ({ promise: BOOKS, what: 'an execution is booked twice', row }));
}

/**
 * When all has come to its end every execution is booked, but for money that the rail never told of and that came after
 * it was last asked.
 */
function missingViolations({ rail, drained, ownerOf }: World, booked: ReadonlySet<string>): Violation[] {
  if (!drained) return [];
  const toldOf = new Set([...rail.queued.values()].map(({ executionId }) => executionId));
  const mustBeKnown = ({ executionId, rail: name, reference, seq }: Execution) => {
    const owner = ownerOf(name, reference);
    const closed = rail.closed.get(reference);
    return (
      toldOf.has(executionId) ||
      (owner !== null && !FINAL.has(owner.status)) ||
      (rail.asked.get(reference) ?? 0) > seq ||
      // Closing a key is followed by a question, so what was paid before that is heard of.
      (owner?.status === 'CONFIRMED' && closed !== undefined && seq < closed.seq)
    );
  };
  return rail.executions
    .filter(
      (execution) => !booked.has(`${execution.rail}:${execution.executionId}`) && mustBeKnown(execution),
    )
    .map((row) => ({ promise: BOOKS, what: 'money that moved at a rail is not in the books', row }));
}

function shareViolations(payin: PayinRow, pending: readonly TransferRow[]): Violation[] {
  const row = { payin, pending };
  if (payin.status !== 'CONFIRMED') {
    if (payin.confirmed !== null && !isShort(payin))
      return [{ promise: SHARE, what: `${payin.status} with a confirmed amount`, row }];
    return pending.length === 0
      ? []
      : [{ promise: SHARE, what: `${payin.status}, and money went to the merchant`, row }];
  }
  if (isShort(payin))
    return pending.length === 0
      ? []
      : [{ promise: SHARE, what: 'less than its link asks for went to the merchant', row }];
  // The organizations of a run take exact amounts only.
  if (payin.linkId === null && payin.confirmed !== payin.amount)
    return [{ promise: 'confirmed by the exact amount', what: 'confirmed with another amount', row }];
  if (pending.length !== 1) return [{ promise: SHARE, what: `confirmed by ${pending.length} payments`, row }];
  const over = payin.linkId !== null && (payin.confirmed ?? 0n) > payin.amount;
  return pending[0]?.amount === (over ? payin.amount : payin.confirmed)
    ? []
    : [{ promise: 'confirmed with what arrived', what: 'the confirmed amount is not what was booked', row }];
}

/** Of a payin that received less than its amount there is one anomaly, with what arrived. */
function shortViolations({ rows }: World): Violation[] {
  const promise = 'money in suspense has its anomaly';
  const underpaid = Map.groupBy(
    rows.anomalies.filter(({ kind }) => kind === 'underpaid'),
    ({ payinId }) => payinId ?? '',
  );
  return rows.payins.flatMap((payin) => {
    const told = underpaid.get(payin.id) ?? [];
    const right = isShort(payin)
      ? told.length === 1 && told[0]?.amount === payin.confirmed
      : told.length === 0;
    return right ? [] : [{ promise, what: 'underpaid is not told as it is', row: { payin, told } }];
  });
}

const KIND: Readonly<Record<string, string>> = {
  CONFIRMED: 'paid_again',
  DECLINED: 'paid_late',
  CANCELED: 'paid_late',
};

function suspenseViolations(
  anomalies: readonly AnomalyRow[],
  payments: readonly TransferRow[],
  { rows }: World,
): Violation[] {
  const promise = 'money in suspense has its anomaly';
  const withMoney = anomalies.filter(({ amount }) => amount !== null && amount > 0n);
  const byCause = new Map(withMoney.map((anomaly) => [`${anomaly.rail}:${anomaly.executionId}`, anomaly]));
  const suspended = payments.filter(({ credit }) => credit === 'suspense');
  const causes = new Set(suspended.map(({ causeId }) => causeId));
  return [
    ...suspended.flatMap((payment) => {
      const anomaly = byCause.get(payment.causeId);
      const kinds = kindsOf(payment, rows.payinById);
      const fits =
        anomaly?.amount === payment.amount &&
        anomaly.payinId === payment.resourceId &&
        kinds.includes(anomaly.kind);
      const what = `no anomaly ${kinds.join(' or ')} tells of it`;
      return fits ? [] : [{ promise, what, row: { payment, anomaly } }];
    }),
    ...withMoney
      .filter(({ rail, executionId }) => !causes.has(`${rail}:${executionId}`))
      .map((row) => ({ promise, what: 'an anomaly tells of money that is not there', row })),
  ];
}

function kindsOf(
  { resourceId, causeKind }: TransferRow,
  payins: ReadonlyMap<string, PayinRow>,
): readonly (string | undefined)[] {
  if (resourceId === null) return ['unmatched'];
  if (causeKind === EXCESS) return ['overpaid'];
  const payin = payins.get(resourceId);
  const kind = KIND[payin?.status ?? ''];
  // Which of several payments came first the rail knows; that one of them is told as such is looked at apart.
  return payin && isShort(payin) ? ['underpaid', kind] : [kind];
}

/** A word against money that was booked, and a word of what nobody knows, are kept for an operator. */
function contradictionViolations({ rail, rows, drained, ownerOf }: World): Violation[] {
  if (!drained) return [];
  const promise = 'what fits nothing is kept as an anomaly';
  const kept = new Set(
    rows.anomalies.map(({ kind, reference, executionId }) => `${kind} ${executionId ?? reference}`),
  );
  const paidAt = new Map(rail.executions.toReversed().map(({ reference, seq }) => [reference, seq]));
  // A notice can be lost at the rail: then there is nothing to keep.
  const told = new Set(
    [...rail.queued.values()]
      .filter((notice) => notice.executionId === null)
      .map(({ reference }) => reference),
  );
  const denied = rail.ends.filter(
    ({ reference, seq, rail: name }) =>
      ownerOf(name, reference)?.status === 'CONFIRMED' &&
      seq > (paidAt.get(reference) ?? seq) &&
      told.has(reference),
  );
  return [
    ...denied
      .filter(({ reference }) => !kept.has(`contradiction ${reference}`))
      .map((row) => ({ promise, what: 'a denial of money that came', row })),
    ...[...rail.queued.values()]
      .filter(
        ({ fault, reference, executionId }) =>
          fault === 'unknown-id' && !kept.has(`unmatched ${executionId ?? reference}`),
      )
      .map((row) => ({ promise, what: 'a notice about nothing of ours', row })),
  ];
}

/** Balances are the sum of their transfers, nothing is below zero, and all accounts together are zero. */
export function balanceViolations({ rows }: World): Violation[] {
  const promise = 'balances add up';
  const sums = new Map<string, bigint>();
  let shared = 0n;
  const add = (organizationId: string, account: string, amount: bigint) => {
    if (!OWN.has(account)) shared += amount;
    else sums.set(`${organizationId} ${account}`, (sums.get(`${organizationId} ${account}`) ?? 0n) + amount);
  };
  for (const { organizationId, debit, credit, amount } of rows.transfers) {
    add(organizationId, credit, amount);
    add(organizationId, debit, -amount);
  }
  const balances = new Map(rows.balances.map((row) => [`${row.organizationId} ${row.account}`, row.balance]));
  const accounts = new Set([...sums.keys(), ...balances.keys()]);
  const total = rows.balances.reduce((sum, { balance }) => sum + balance, shared);
  return [
    ...[...accounts]
      .filter((account) => (sums.get(account) ?? 0n) !== balances.get(account))
      .map((account) => ({
        promise,
        what: 'a balance is not the sum of its transfers',
        row: { account, expected: sums.get(account) ?? 0n, found: balances.get(account) },
      })),
    ...rows.balances
      .filter(({ balance }) => balance < 0n)
      .map((row) => ({ promise, what: 'below zero', row })),
    ...(total === 0n ? [] : [{ promise, what: 'all accounts together are not zero', row: { total } }]),
  ];
}
