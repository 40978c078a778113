import type { SystemDeps } from '../deps.ts';
import { type DepositOutcome, deposit } from '../flows/ledger/deposit.system.ts';
import { keepVerification, type Verification, verifyLedger } from '../flows/ledger/verify-ledger.system.ts';
import { isUuid } from '../kit/ids.ts';
import { type Cents, cents, decimalPesos } from '../kit/money.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function ledgerDeposit(deps: SystemDeps, options: Options): Promise<Output> {
  const organizationId = readOrganizationOption(options);
  const amount = parsePesos(options.required('amount'));
  const reference = options.required('reference');
  if (reference.length > 255) throw new UsageError('--reference must be at most 255 characters');
  const outcome = await deposit(deps, { organizationId, amount, reference, operator: options.by });
  const { available, transferId } = requirePosted(outcome, reference);
  const booked = outcome.kind === 'booked';
  const result = booked
    ? `Posted a deposit of COP ${decimalPesos(amount)}`
    : `A deposit "${reference}" of COP ${decimalPesos(amount)} was posted before; nothing was posted now`;
  return {
    json: {
      booked,
      transferId,
      amountInCents: Number(amount),
      availableInCents: available.toString(),
    },
    text: `${result}. Available: COP ${decimalPesos(available)}.`,
  };
}

function requirePosted(outcome: DepositOutcome, reference: string) {
  if (outcome.kind === 'organization_not_found')
    throw new Error('there is no such organization (see org list)');
  if (outcome.kind === 'amount_mismatch') {
    const amount = decimalPesos(outcome.bookedAmount);
    throw new Error(
      `a deposit "${reference}" of COP ${amount} was posted before; nothing was posted now. Use another --reference for a new deposit`,
    );
  }
  if (outcome.kind === 'already_reversed')
    throw new Error(
      `a deposit "${reference}" was posted and COP ${decimalPesos(outcome.amount)} of it reversed; nothing was posted now. A new deposit needs another --reference`,
    );
  return outcome;
}

/** @throws UsageError */
export function readOrganizationOption(options: Options): string {
  const id = options.required('org');
  if (!isUuid(id)) throw new UsageError('--org must be the id of an organization (see org list)');
  return id;
}

/** Parses digits without floating point. The maximum is a thousand times the largest amount of a payin. */
export function parsePesos(pesos: string): Cents {
  const [, whole, decimals = ''] = /^(\d{1,13})(?:\.(\d{1,2}))?$/.exec(pesos) ?? [];
  const amount = whole === undefined ? 0n : BigInt(whole + decimals.padEnd(2, '0'));
  if (amount === 0n)
    throw new UsageError('--amount must be pesos above zero, such as 10000000 or 10000000.50');
  return cents(amount);
}

export async function ledgerVerify(deps: SystemDeps): Promise<Output> {
  const verification = await verifyLedger(deps);
  // A result that cannot be kept, as on a standby, is still worth printing.
  const unkept = await keepVerification(deps, verification, 'command').then(
    () => [],
    (error: unknown) => [
      `The result was not kept for metrics and doctor: ${error instanceof Error ? error.message : String(error)}`,
    ],
  );
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
    text: [...sums, '', ...verdict(verification), ...unkept].join('\n'),
    bad: broken.length > 0,
  };
}

function verdict({ transfers, balances, broken, more }: Verification): string[] {
  const counts = `${transfers} transfers, ${balances} balances checked`;
  if (broken.length === 0) return [`${counts}, sum of all accounts is zero`];
  return [
    `${counts}, ${more ? 'more than ' : ''}${broken.length} inconsistent:`,
    ...broken.map(
      (row) =>
        `${row.table}  ${row.organizationId ?? 'all organizations'}  ${row.id}: expected ${row.expected}, found ${row.found}`,
    ),
  ];
}

function signedPesos(amount: bigint): string {
  return amount < 0n ? `-${decimalPesos(cents(-amount))}` : decimalPesos(cents(amount));
}
