import { statement, type Tx } from '../db/tx.ts';
import { type Cents, cents } from '../kit/money.ts';
import { OWN_ACCOUNTS, type OwnAccount } from './transfer.ts';

const OPEN = statement(
  'balance.open',
  `insert into caudal.ledger_balances (organization_id, account, updated_at)
   select $1, account, caudal.now() from unnest($2::text[]) as own (account)`,
);

/** Creates the accounts of a new organization with zero balances. Without them no transfer can be posted for it. */
export async function openAccounts(tx: Tx, organizationId: string): Promise<void> {
  await tx.query(OPEN, [organizationId, OWN_ACCOUNTS]);
}

export interface Balances {
  readonly amounts: Readonly<Record<OwnAccount, Cents>>;
  /** When the most recent of them changed. */
  readonly updatedAt: Date;
}

const READ = statement(
  'balance.read',
  `select account, balance_in_cents, updated_at from caudal.ledger_balances
   where organization_id = $1 and account = any($2::text[])`,
);

interface BalanceRow {
  account: OwnAccount;
  balance_in_cents: bigint;
  updated_at: Date;
}

export async function readBalances(tx: Tx, organizationId: string): Promise<Balances> {
  const rows = await tx.query<BalanceRow>(READ, [organizationId, OWN_ACCOUNTS]);
  const amountIn = (account: OwnAccount): Cents => {
    const row = rows.find((each) => each.account === account);
    // A missing row is not a zero balance: zero would be an unverified statement about money.
    if (!row) throw new Error(`organization ${organizationId} has no account ${account}`);
    return cents(row.balance_in_cents);
  };
  return {
    amounts: { pending: amountIn('pending'), available: amountIn('available'), held: amountIn('held') },
    updatedAt: new Date(Math.max(...rows.map((row) => row.updated_at.getTime()))),
  };
}

const LOCK_FOR_HOLDS = statement(
  'balance.lock-for-holds',
  // Both accounts that a hold moves, in the order in which every transaction locks them.
  `select organization_id, account, balance_in_cents from caudal.ledger_balances
   where organization_id = any ($1::uuid[]) and account in ('available', 'held') order by organization_id, account for update`,
);

/**
 * Locks and returns the available balance of each organization. No other transaction can hold its money until this one
 * ends.
 */
export async function lockAvailable(
  tx: Tx,
  organizationIds: readonly string[],
): Promise<Map<string, bigint>> {
  const rows = await tx.query<BalanceRow & { organization_id: string }>(LOCK_FOR_HOLDS, [organizationIds]);
  return new Map(
    rows
      .filter((row) => row.account === 'available')
      .map((row) => [row.organization_id, row.balance_in_cents]),
  );
}

const LOCK = statement(
  'balance.lock',
  'select balance_in_cents from caudal.ledger_balances where organization_id = $1 and account = $2 for update',
);

/**
 * Locks and returns a balance, including this transaction's own transfers. Taking the lock is a write, and only a
 * transaction that wrote waits for the synchronous standby: a response about an earlier posting must be durable too.
 */
export async function lockBalance(tx: Tx, organizationId: string, account: OwnAccount): Promise<Cents> {
  const [row] = await tx.query<{ balance_in_cents: bigint }>(LOCK, [organizationId, account]);
  if (!row) throw new Error(`organization ${organizationId} has no account ${account}`);
  return cents(row.balance_in_cents);
}
