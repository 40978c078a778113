import type { TransferRow } from '../books.ts';
import type { Breach } from '../broken-promise.ts';
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
    ...balanceBreaches(view),
  ];
}

function paymentsOf({ books }: View): readonly TransferRow[] {
  return books.transfers.filter(({ kind }) => kind === 'payment');
}

const CLEARING = { BRE_B: 'clearing_bre_b', PSE: 'clearing_pse' } as const;

/** Each is of one execution of the rail, of its amount, and of whoever it was paid to. */
function executionBreaches(view: View): Breach[] {
  const executions = new Map(
    view.facts.executions.map((execution) => [`${execution.rail}:${execution.executionId}`, execution]),
  );
  const byReference = new Map(view.payins.map((payin) => [payin.railReference, payin]));
  const seen = new Set<string>();
  const breaches: Breach[] = [];
  for (const transfer of paymentsOf(view)) {
    const [rail = '', executionId = ''] = transfer.cause.split(':');
    const name = `${rail}:${executionId}`;
    const execution = executions.get(name);
    const about = { transfer, execution: execution ?? null };
    if (seen.has(name)) breaches.push({ promise: 'bookedOnce', about });
    seen.add(name);
    if (!execution || !isBookingOf(transfer, execution)) breaches.push({ promise: 'booked', about });
    else if ((byReference.get(execution.reference)?.id ?? null) !== transfer.resource)
      breaches.push({ promise: 'booked', about });
  }
  return breaches;
}

function isBookingOf(transfer: TransferRow, { rail, cents }: Execution): boolean {
  return (
    transfer.cents === String(cents) &&
    transfer.debit === CLEARING[rail] &&
    (transfer.credit === 'pending' || (transfer.credit === 'suspense' && transfer.kind === 'payment'))
  );
}

function confirmationBreaches(view: View): Breach[] {
  return view.books.payins.flatMap((row): Breach[] => {
    const toMerchant = paymentsOf(view).filter(
      ({ resource, credit }) => resource === row.id && credit === 'pending',
    );
    const sound =
      row.status === 'CONFIRMED'
        ? toMerchant.length === 1 && toMerchant[0]?.cents === row.confirmed
        : toMerchant.length === 0 && row.confirmed === null;
    return sound ? [] : [{ promise: 'confirms', about: { row, toMerchant } }];
  });
}

function balanceBreaches({ books, organizationId }: View): Breach[] {
  const breaches: Breach[] = books.balances
    .filter(({ says, sum }) => says !== sum || BigInt(says) < 0n)
    .map((balance) => ({ promise: 'balances', about: { organizationId, ...balance } }));
  const of = (account: string) => books.balances.find((balance) => balance.account === account)?.sum;
  const { confirmed, funds } = books;
  const { pending, settled, settlements } = confirmed;
  const available = BigInt(settled) + BigInt(funds.deposits) - BigInt(funds.open) - BigInt(funds.paid);
  if (of('pending') !== pending || of('available') !== String(available) || settlements !== settled)
    breaches.push({ promise: 'settled', about: { payins: confirmed, funds, accounts: books.balances } });
  if (of('held') !== funds.open)
    breaches.push({ promise: 'held', about: { payouts: funds, accounts: books.balances } });
  return breaches;
}
