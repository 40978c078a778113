import type { TransferRow } from '../books.ts';
import type { Breach } from '../invariant-violation.ts';
import type { Execution } from '../rail-facts.ts';
import type { View } from '../view.ts';

/** Of money, at any moment, also in the middle of work. */
export function ledgerBreaches(view: View): Breach[] {
  const { transfers } = view.books;
  return [
    ...transfers
      .filter(({ id, caused }) => caused !== id)
      .map((transfer): Breach => ({ promise: 'causes', about: transfer })),
    ...executionBreaches(view),
    ...confirmationBreaches(view),
    ...verificationBreaches(view),
    ...balanceBreaches(view),
  ];
}

/** What arrived beyond the requested amount is booked apart from it, under the same execution. */
const PAYMENT_KINDS = new Set(['payment', 'payment_excess']);

function paymentsOf({ books }: View): readonly TransferRow[] {
  return books.transfers.filter(({ kind }) => PAYMENT_KINDS.has(kind));
}

const CLEARING = { BRE_B: 'clearing_bre_b', PSE: 'clearing_pse' } as const;

/** Each is of one execution of the rail, of the payin it was paid to; together they are of its amount. */
function executionBreaches(view: View): Breach[] {
  const executions = new Map(
    view.facts.executions.map((execution) => [`${execution.rail}:${execution.executionId}`, execution]),
  );
  const byReference = new Map(view.payins.map((payin) => [payin.railReference, payin]));
  const seen = new Set<string>();
  const booked = new Map<string, bigint>();
  const breaches: Breach[] = [];
  for (const transfer of paymentsOf(view)) {
    const [rail = '', executionId = ''] = transfer.cause.split(':');
    const name = `${rail}:${executionId}`;
    const execution = executions.get(name);
    const about = { transfer, execution: execution ?? null };
    if (seen.has(`${transfer.kind} ${name}`)) breaches.push({ promise: 'bookedOnce', about });
    seen.add(`${transfer.kind} ${name}`);
    booked.set(name, (booked.get(name) ?? 0n) + BigInt(transfer.cents));
    if (!execution || !isPostingFor(transfer, execution)) breaches.push({ promise: 'booked', about });
    else if ((byReference.get(execution.reference)?.id ?? null) !== transfer.resource)
      breaches.push({ promise: 'booked', about });
  }
  for (const [name, cents] of booked)
    if (executions.get(name)?.cents !== cents)
      breaches.push({ promise: 'booked', about: { execution: executions.get(name) ?? name, cents } });
  return breaches;
}

function isPostingFor(transfer: TransferRow, { rail }: Execution): boolean {
  return (
    transfer.debit === CLEARING[rail] &&
    (transfer.credit === 'suspense' || (transfer.credit === 'pending' && transfer.kind === 'payment'))
  );
}

/**
 * Only the exact amount confirms a payin, for the organizations here take no other. Less declines it and is in suspense.
 */
function confirmationBreaches(view: View): Breach[] {
  return view.books.payins.flatMap((row): Breach[] => {
    const payments = paymentsOf(view).filter(({ resource }) => resource === row.id);
    const toMerchant = payments.filter(({ credit }) => credit === 'pending');
    const suspended = payments.some(({ credit, cents }) => credit === 'suspense' && cents === row.confirmed);
    const sound =
      row.status === 'CONFIRMED'
        ? toMerchant.length === 1 && toMerchant[0]?.cents === row.confirmed && row.confirmed === row.cents
        : toMerchant.length === 0 && (row.error === 'UNDERPAID' ? suspended : row.confirmed === null);
    return sound ? [] : [{ promise: 'confirms', about: { row, toMerchant } }];
  });
}

/** A notification confirms a payin; only a queried status lets its money settle. */
function verificationBreaches({ books, payins, facts }: View): Breach[] {
  const references = new Map(payins.map((payin) => [payin.id, payin.railReference]));
  return books.payins
    .filter(({ settlement }) => settlement === 'SETTLED')
    .flatMap((row): Breach[] => {
      const { executions, queried } = facts.of(references.get(row.id) ?? '');
      const listed = executions.some(({ seq }) => queried.some((query) => query > seq));
      return listed && row.verified ? [] : [{ promise: 'verified', about: { row, executions, queried } }];
    });
}

function balanceBreaches({ books, organizationId }: View): Breach[] {
  const breaches: Breach[] = books.balances
    .filter(({ says, sum }) => says !== sum || BigInt(says) < 0n)
    .map((balance) => ({ promise: 'balances', about: { organizationId, ...balance } }));
  const of = (account: string) => books.balances.find((balance) => balance.account === account)?.sum;
  const { confirmed, funds } = books;
  const { pending, settled, settlements } = confirmed;
  const came = BigInt(settled) + BigInt(funds.deposits) + BigInt(funds.accepted);
  const available = came - BigInt(funds.open) - BigInt(funds.paid);
  if (of('pending') !== pending || of('available') !== String(available) || settlements !== settled)
    breaches.push({ promise: 'settled', about: { payins: confirmed, funds, accounts: books.balances } });
  if (of('held') !== funds.open)
    breaches.push({ promise: 'held', about: { payouts: funds, accounts: books.balances } });
  return breaches;
}
