import type { Breach } from '../invariant-violation.ts';
import type { Execution } from '../rail-facts.ts';
import type { TransferRow } from '../snapshot.ts';
import type { View } from '../view.ts';

/** Ledger invariants, which hold at any time. */
export function ledgerBreaches(view: View): Breach[] {
  const { transfers } = view.snapshot;
  return [
    ...transfers
      .filter(({ id, caused }) => caused !== id)
      .map((transfer): Breach => ({ invariant: 'one_transfer_per_cause', about: transfer })),
    ...executionBreaches(view),
    ...confirmationBreaches(view),
    ...verificationBreaches(view),
    ...balanceBreaches(view),
  ];
}

/** The excess of an overpayment is posted separately, under the same execution. */
const PAYMENT_KINDS = new Set(['payment', 'payment_excess']);

function findPayments({ snapshot }: View): readonly TransferRow[] {
  return snapshot.transfers.filter(({ kind }) => PAYMENT_KINDS.has(kind));
}

const CLEARING = { BRE_B: 'clearing_bre_b', PSE: 'clearing_pse' } as const;

/** Each posting belongs to one execution and its payin; the postings of an execution sum to its amount. */
function executionBreaches(view: View): Breach[] {
  const executions = new Map(
    view.facts.executions.map((execution) => [`${execution.rail}:${execution.executionId}`, execution]),
  );
  const byReference = new Map(view.payins.map((payin) => [payin.railReference, payin]));
  const seen = new Set<string>();
  const posted = new Map<string, bigint>();
  const breaches: Breach[] = [];
  for (const transfer of findPayments(view)) {
    const [rail = '', executionId = ''] = transfer.cause.split(':');
    const name = `${rail}:${executionId}`;
    const execution = executions.get(name);
    const about = { transfer, execution: execution ?? null };
    if (seen.has(`${transfer.kind} ${name}`)) breaches.push({ invariant: 'execution_posted_once', about });
    seen.add(`${transfer.kind} ${name}`);
    posted.set(name, (posted.get(name) ?? 0n) + BigInt(transfer.cents));
    if (!execution || !isPostingFor(transfer, execution))
      breaches.push({ invariant: 'ledger_matches_rail', about });
    else if ((byReference.get(execution.reference)?.id ?? null) !== transfer.resource)
      breaches.push({ invariant: 'ledger_matches_rail', about });
  }
  for (const [name, cents] of posted)
    if (executions.get(name)?.cents !== cents)
      breaches.push({
        invariant: 'ledger_matches_rail',
        about: { execution: executions.get(name) ?? name, cents },
      });
  return breaches;
}

function isPostingFor(transfer: TransferRow, { rail }: Execution): boolean {
  return (
    transfer.debit === CLEARING[rail] &&
    (transfer.credit === 'suspense' || (transfer.credit === 'pending' && transfer.kind === 'payment'))
  );
}

/**
 * The organizations here accept only exact amounts. An underpayment declines the payin and goes to suspense. An attempt
 * that is paid after its link was completed by another is confirmed, but does not settle.
 */
function confirmationBreaches(view: View): Breach[] {
  return view.snapshot.payins.flatMap((row): Breach[] => {
    const payments = findPayments(view).filter(({ resource }) => resource === row.id);
    const toMerchant = payments.filter(({ credit }) => credit === 'pending');
    const suspended = payments.some(({ credit, cents }) => credit === 'suspense' && cents === row.confirmed);
    const isConfirmed = row.status === 'CONFIRMED';
    const isSecond = isConfirmed && row.link !== null && row.settlement === null;
    // An attempt may complete its link with less than it requested; the invariants of links check the amount.
    const isRequested = row.link !== null || row.confirmed === row.cents;
    const valid =
      isConfirmed && !isSecond
        ? toMerchant.length === 1 && toMerchant[0]?.cents === row.confirmed && isRequested
        : toMerchant.length === 0 &&
          (isSecond || row.error === 'UNDERPAID' ? suspended : row.confirmed === null);
    return valid ? [] : [{ invariant: 'one_execution_confirms', about: { row, toMerchant } }];
  });
}

/** A notification confirms a payin; its money settles only after a query lists the payment. */
function verificationBreaches({ snapshot, payins, facts }: View): Breach[] {
  const references = new Map(payins.map((payin) => [payin.id, payin.railReference]));
  return snapshot.payins
    .filter(({ settlement }) => settlement === 'SETTLED')
    .flatMap((row): Breach[] => {
      const { executions, queried } = facts.of(references.get(row.id) ?? '');
      const listed = executions.some(({ seq }) => queried.some((query) => query > seq));
      return listed && row.verified
        ? []
        : [{ invariant: 'settlement_requires_verification', about: { row, executions, queried } }];
    });
}

function balanceBreaches({ snapshot, organizationId }: View): Breach[] {
  const breaches: Breach[] = snapshot.balances
    .filter(({ stored, sum }) => stored !== sum || BigInt(stored) < 0n)
    .map((balance) => ({ invariant: 'balances_match_transfers', about: { organizationId, ...balance } }));
  const sumOf = (account: string) => snapshot.balances.find((balance) => balance.account === account)?.sum;
  const { confirmed, funds } = snapshot;
  const { pending, settled, settlements } = confirmed;
  const received = BigInt(settled) + BigInt(funds.deposits) + BigInt(funds.accepted);
  const available = received - BigInt(funds.open) - BigInt(funds.paid);
  if (sumOf('pending') !== pending || sumOf('available') !== String(available) || settlements !== settled)
    breaches.push({
      invariant: 'funds_add_up',
      about: { payins: confirmed, funds, accounts: snapshot.balances },
    });
  if (sumOf('held') !== funds.open)
    breaches.push({
      invariant: 'held_equals_open_payouts',
      about: { payouts: funds, accounts: snapshot.balances },
    });
  return breaches;
}
