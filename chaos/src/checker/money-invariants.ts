import type { InvariantCode } from './invariants.ts';
import { isSecondPayment, isUnderpaid } from './ledger-invariants.ts';
import type { Execution } from './rail-facts.ts';
import type { AnomalyRow, PayinRow, TransferRow } from './rows.ts';
import { FINAL, type Violation, type World } from './world.ts';

const CLEARING: Readonly<Record<string, string>> = { BRE_B: 'clearing_bre_b', PSE: 'clearing_pse' };
const OWN: ReadonlySet<string> = new Set(['pending', 'available', 'held']);
const LEDGER_MATCHES: InvariantCode = 'ledger_matches_rail';
/** The excess of an overpayment is posted separately. */
const EXCESS = 'payment_excess';
const ONE_CREDITED: InvariantCode = 'one_payment_credited';

/** Every execution at a rail is posted once to the right accounts, and nothing else is posted. */
export function moneyViolations(world: World): Violation[] {
  const { rows, findOwner } = world;
  const payments = rows.transfers.filter(({ causeKind }) => causeKind === 'payment' || causeKind === EXCESS);
  const pending = Map.groupBy(
    payments.filter(({ credit }) => credit === 'pending'),
    ({ resourceId }) => resourceId ?? '',
  );
  const executions = new Map(world.rail.executions.map((e) => [`${e.rail}:${e.executionId}`, e]));
  return [
    ...payments.flatMap((payment) => postingViolations(payment, executions.get(payment.causeId), findOwner)),
    ...amountViolations(payments, executions),
    ...postedTwice(payments),
    ...missingViolations(world, new Set(payments.map(({ causeId }) => causeId))),
    ...rows.payins.flatMap((payin) => shareViolations(world, payin, pending.get(payin.id) ?? [])),
    ...underpaymentViolations(world),
    ...suspenseViolations(rows.anomalies, payments, world),
    ...contradictionViolations(world),
  ];
}

function postingViolations(
  payment: TransferRow,
  execution: Execution | undefined,
  findOwner: World['findOwner'],
): Violation[] {
  if (!execution)
    return [{ invariant: LEDGER_MATCHES, detail: 'posted without an execution at the rail', row: payment }];
  const row = { payment, execution };
  if (payment.debit !== CLEARING[execution.rail])
    return [{ invariant: LEDGER_MATCHES, detail: 'posted from another rail', row }];
  const owner = findOwner(execution.rail, execution.reference);
  const right =
    payment.resourceId === (owner?.id ?? null) && (!owner || owner.organizationId === payment.organizationId);
  if (!right) return [{ invariant: LEDGER_MATCHES, detail: 'posted to another payin', row }];
  if (payment.causeKind === EXCESS && (payment.credit !== 'suspense' || owner === null))
    return [{ invariant: ONE_CREDITED, detail: `an excess went to ${payment.credit}`, row }];
  return payment.credit === 'pending' || payment.credit === 'suspense'
    ? []
    : [{ invariant: ONE_CREDITED, detail: `a payment went to ${payment.credit}`, row }];
}

/** An execution is posted in one transfer, or as the requested amount and the excess; the sum equals the execution. */
function amountViolations(
  payments: readonly TransferRow[],
  executions: ReadonlyMap<string, Execution>,
): Violation[] {
  return [...Map.groupBy(payments, ({ causeId }) => causeId)]
    .filter(([causeId, pieces]) => {
      const execution = executions.get(causeId);
      return execution && pieces.reduce((sum, { amount }) => sum + amount, 0n) !== execution.cents;
    })
    .map(([, row]) => ({ invariant: LEDGER_MATCHES, detail: 'posted with another amount', row }));
}

function postedTwice(payments: readonly TransferRow[]): Violation[] {
  return [...Map.groupBy(payments, ({ causeKind, causeId }) => `${causeKind} ${causeId}`).values()]
    .filter((same) => same.length > 1)
    .map((row) => ({ invariant: LEDGER_MATCHES, detail: 'an execution is posted twice', row }));
}

/** After draining, every execution is posted, except one that the rail never notified and made after its last poll. */
function missingViolations({ rail, drained, findOwner }: World, posted: ReadonlySet<string>): Violation[] {
  if (!drained) return [];
  const notified = new Set([...rail.queued.values()].map(({ executionId }) => executionId));
  const mustBeKnown = ({ executionId, rail: name, reference, seq }: Execution) => {
    const owner = findOwner(name, reference);
    const closed = rail.closed.get(reference);
    return (
      notified.has(executionId) ||
      (owner !== null && !FINAL.has(owner.status)) ||
      (rail.lastQueried.get(reference) ?? 0) > seq ||
      // The server polls after it closes a key, so it knows every payment before the closing.
      (owner?.status === 'CONFIRMED' && closed !== undefined && seq < closed.seq)
    );
  };
  return rail.executions
    .filter(
      (execution) => !posted.has(`${execution.rail}:${execution.executionId}`) && mustBeKnown(execution),
    )
    .map((row) => ({ invariant: LEDGER_MATCHES, detail: 'an execution is not posted', row }));
}

function shareViolations(world: World, payin: PayinRow, pending: readonly TransferRow[]): Violation[] {
  const row = { payin, pending };
  if (payin.status !== 'CONFIRMED') {
    if (payin.confirmed !== null && !isUnderpaid(payin))
      return [{ invariant: ONE_CREDITED, detail: `${payin.status} with a confirmed amount`, row }];
    return pending.length === 0
      ? []
      : [{ invariant: ONE_CREDITED, detail: `${payin.status}, but money was credited to the merchant`, row }];
  }
  if (isSecondPayment(world, payin))
    return pending.length === 0
      ? []
      : [{ invariant: ONE_CREDITED, detail: 'a second payment was credited to the merchant', row }];
  // The organizations of a run accept only exact amounts.
  if (payin.linkId === null && payin.confirmed !== payin.amount)
    return [{ invariant: 'confirmed_by_exact_amount', detail: 'confirmed with another amount', row }];
  if (pending.length !== 1)
    return [{ invariant: ONE_CREDITED, detail: `confirmed by ${pending.length} payments`, row }];
  return pending[0]?.amount === payin.confirmed
    ? []
    : [
        {
          invariant: 'confirmed_amount_posted',
          detail: 'the confirmed amount differs from the posted amount',
          row,
        },
      ];
}

/** The part of a link that is open or completed waits for the other parts, or belongs to the merchant: it is no anomaly. */
function isPartOfLink({ rows }: World, { linkId }: PayinRow): boolean {
  return linkId !== null && rows.links.byId.get(linkId)?.status !== 'EXPIRED';
}

/** An underpaid payin has one anomaly with the received amount, unless it is a part of its link. */
function underpaymentViolations(world: World): Violation[] {
  const { rows } = world;
  const invariant: InvariantCode = 'suspense_has_anomaly';
  const underpaid = Map.groupBy(
    rows.anomalies.filter(({ kind }) => kind === 'underpaid'),
    ({ payinId }) => payinId ?? '',
  );
  return rows.payins.flatMap((payin) => {
    const found = underpaid.get(payin.id) ?? [];
    const right =
      isUnderpaid(payin) && !isPartOfLink(world, payin)
        ? found.length === 1 && found[0]?.amount === payin.confirmed
        : found.length === 0;
    return right
      ? []
      : [{ invariant, detail: 'an underpayment has no matching anomaly', row: { payin, anomalies: found } }];
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
  world: World,
): Violation[] {
  const { rows } = world;
  const invariant: InvariantCode = 'suspense_has_anomaly';
  const withMoney = anomalies.filter(({ amount }) => amount !== null && amount > 0n);
  const byCause = new Map(withMoney.map((anomaly) => [`${anomaly.rail}:${anomaly.executionId}`, anomaly]));
  const suspended = payments.filter(({ credit }) => credit === 'suspense');
  const causes = new Set(suspended.map(({ causeId }) => causeId));
  return [
    ...suspended.flatMap((payment) => {
      const anomaly = byCause.get(payment.causeId);
      const payin = rows.payinById.get(payment.resourceId ?? '');
      // Of several payments to one attempt only the rail knows which one is its part.
      if (
        !anomaly &&
        payin &&
        isUnderpaid(payin) &&
        isPartOfLink(world, payin) &&
        payment.amount === payin.confirmed
      )
        return [];
      const kinds = expectedKinds(payment, rows.payinById);
      const fits =
        anomaly?.amount === payment.amount &&
        anomaly.payinId === payment.resourceId &&
        kinds.includes(anomaly.kind);
      const detail = `no matching ${kinds.join(' or ')} anomaly`;
      return fits ? [] : [{ invariant, detail, row: { payment, anomaly } }];
    }),
    ...withMoney
      .filter(({ rail, executionId }) => !causes.has(`${rail}:${executionId}`))
      .map((row) => ({ invariant, detail: 'an anomaly without money in suspense', row })),
  ];
}

function expectedKinds(
  { resourceId, causeKind }: TransferRow,
  payins: ReadonlyMap<string, PayinRow>,
): readonly (string | undefined)[] {
  if (resourceId === null) return ['unmatched'];
  if (causeKind === EXCESS) return ['overpaid'];
  const payin = payins.get(resourceId);
  const kind = KIND[payin?.status ?? ''];
  // Only the rail knows which of several payments came first; underpaymentViolations checks that one is marked underpaid.
  return payin && isUnderpaid(payin) ? ['underpaid', kind] : [kind];
}

/** A notice that contradicts a posted payment, or that matches no resource, creates an anomaly for an operator. */
function contradictionViolations({ rail, rows, drained, findOwner }: World): Violation[] {
  if (!drained) return [];
  const invariant: InvariantCode = 'inconsistent_notice_has_anomaly';
  const recorded = new Set(
    rows.anomalies.map(({ kind, reference, executionId }) => `${kind} ${executionId ?? reference}`),
  );
  const paidAt = new Map(rail.executions.toReversed().map(({ reference, seq }) => [reference, seq]));
  // The rail may lose a notice; then there is nothing to detect.
  const notified = new Set(
    [...rail.queued.values()]
      .filter((notice) => notice.executionId === null)
      .map(({ reference }) => reference),
  );
  const denied = rail.ends.filter(
    ({ reference, seq, rail: name }) =>
      findOwner(name, reference)?.status === 'CONFIRMED' &&
      seq > (paidAt.get(reference) ?? seq) &&
      notified.has(reference),
  );
  return [
    ...denied
      .filter(({ reference }) => !recorded.has(`contradiction ${reference}`))
      .map((row) => ({ invariant, detail: 'a rail denied a received payment', row })),
    ...[...rail.queued.values()]
      .filter(
        ({ fault, reference, executionId }) =>
          fault === 'unknown-id' && !recorded.has(`unmatched ${executionId ?? reference}`),
      )
      .map((row) => ({ invariant, detail: 'a notice that matches no resource', row })),
  ];
}

/** Each balance equals the sum of its transfers, no balance is negative, and all accounts sum to zero. */
export function balanceViolations({ rows }: World): Violation[] {
  const invariant: InvariantCode = 'balances_match_transfers';
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
        invariant,
        detail: 'a balance differs from the sum of its transfers',
        row: { account, expected: sums.get(account) ?? 0n, found: balances.get(account) },
      })),
    ...rows.balances
      .filter(({ balance }) => balance < 0n)
      .map((row) => ({ invariant, detail: 'a balance is negative', row })),
    ...(total === 0n ? [] : [{ invariant, detail: 'the accounts do not sum to zero', row: { total } }]),
  ];
}
