import type { SystemDeps } from '../deps.ts';
import { type DepositOutcome, deposit } from '../flows/ledger/deposit.ts';
import { type Verification, verifyLedger } from '../flows/ledger/verify-ledger.ts';
import { isUuid } from '../kit/ids.ts';
import { type Cents, cents, decimalPesos } from '../kit/money.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function ledgerDeposit(deps: SystemDeps, options: Options): Promise<Output> {
  const organizationId = organizationOf(options);
  const amount = amountOf(options.required('amount'));
  const reference = options.required('reference');
  if (reference.length > 255) throw new UsageError('--reference must be at most 255 letters');
  const outcome = await deposit(deps, { organizationId, amount, reference, operator: options.by });
  const { available, transferId } = bookedOf(outcome, reference);
  const booked = outcome.kind === 'booked';
  const deed = booked
    ? `Booked COP ${decimalPesos(amount)}`
    : `A deposit "${reference}" of COP ${decimalPesos(amount)} was booked before; nothing was booked now`;
  return {
    json: {
      booked,
      transferId,
      amountInCents: Number(amount),
      availableInCents: available.toString(),
    },
    text: `${deed}. Available: COP ${decimalPesos(available)}.`,
  };
}

function bookedOf(outcome: DepositOutcome, reference: string) {
  if (outcome.kind === 'organization_not_found')
    throw new Error('there is no such organization (org list shows them)');
  if (outcome.kind === 'amount_mismatch') {
    const amount = decimalPesos(outcome.bookedAmount);
    throw new Error(`a deposit "${reference}" was booked before, of COP ${amount}: nothing was booked now`);
  }
  if (outcome.kind === 'already_reversed')
    throw new Error(
      `a deposit "${reference}" was booked and COP ${decimalPesos(outcome.amount)} of it reversed: nothing was booked now. A new deposit needs another --reference`,
    );
  return outcome;
}

/** @throws UsageError */
export function organizationOf(options: Options): string {
  const id = options.required('org');
  if (!isUuid(id)) throw new UsageError('--org must be the id of an organization (org list shows them)');
  return id;
}

/** Digits to digits: no float is made of it. Less than the largest amount of a payin, times a thousand. */
export function amountOf(pesos: string): Cents {
  const [, whole, decimals = ''] = /^(\d{1,13})(?:\.(\d{1,2}))?$/.exec(pesos) ?? [];
  const amount = whole === undefined ? 0n : BigInt(whole + decimals.padEnd(2, '0'));
  if (amount === 0n)
    throw new UsageError('--amount must be pesos above zero, such as 10000000 or 10000000.50');
  return cents(amount);
}

export async function ledgerVerify(deps: SystemDeps): Promise<Output> {
  const verification = await verifyLedger(deps);
  const { accounts, transfers, balances, broken, more } = verification;
  const sums = [...accounts].map(
    ([account, amount]) => `${account.padEnd(16)}${signedPesos(amount).padStart(24)}`,
  );
  return {
    json: {
      accountsInCents: Object.fromEntries(
        [...accounts].map(([account, amount]) => [account, amount.toString()]),
      ),
      transfers: transfers.toString(),
      balances,
      broken,
      more,
    },
    text: [...sums, '', ...verdict(verification)].join('\n'),
    bad: broken.length > 0,
  };
}

function verdict({ transfers, balances, broken, more }: Verification): string[] {
  const counts = `${transfers} transfers, ${balances} balances checked`;
  if (broken.length === 0) return [`${counts}, all sums to zero`];
  return [
    `${counts}, ${more ? 'more than ' : ''}${broken.length} broken:`,
    ...broken.map(
      (row) =>
        `${row.table}  ${row.organizationId ?? 'all organizations'}  ${row.id}: expected ${row.expected}, found ${row.found}`,
    ),
  ];
}

function signedPesos(amount: bigint): string {
  return amount < 0n ? `-${decimalPesos(cents(-amount))}` : decimalPesos(cents(amount));
}
