import {
  lockAnomaly,
  openAnomalies,
  recentAnomalies,
  resolveAnomaly,
} from '../../anomalies/anomaly.store.ts';
import { type Anomaly, anomalyCause, type Resolution } from '../../anomalies/anomaly.ts';
import { recordAction } from '../../audit/operator-action.store.ts';
import { isDatabaseError } from '../../db/failures.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { operatorActor } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import { post } from '../../ledger/ledger.store.ts';
import type { Account } from '../../ledger/transfer.ts';
import { organizationExists } from '../../organizations/organization.store.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';

export function listAnomalies(deps: SystemDeps, all: boolean, limit: number): Promise<Anomaly[]> {
  return deps.system.transaction('read', (tx) =>
    all ? recentAnomalies(tx, limit) : openAnomalies(tx, limit),
  );
}

export type ResolveOutcome =
  | {
      readonly kind: 'resolved';
      readonly anomaly: Anomaly;
      readonly organizationId: string;
      readonly returnPayoutId: string | null;
    }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'already_resolved'; readonly anomaly: Anomaly }
  | { readonly kind: 'accepted'; readonly anomaly: Anomaly }
  /** A credit or return requires received money, a charge or write-off requires sent money, a dismissal requires none. */
  | { readonly kind: 'no_money' }
  | { readonly kind: 'holds_money' }
  | { readonly kind: 'is_incoming' }
  | { readonly kind: 'is_outgoing' }
  /** A held settlement: it must be released or reversed (`resolve-held-payin.system.ts`). */
  | { readonly kind: 'settlement_held' }
  | { readonly kind: 'organization_required' }
  | { readonly kind: 'organization_mismatch' }
  | { readonly kind: 'organization_not_found' }
  | { readonly kind: 'insufficient_balance' };

/** The resolutions of money in suspense and of anomalies without money. */
type SuspenseResolution = Exclude<Resolution, 'release' | 'reverse' | 'listed'>;

export interface Resolving {
  readonly how: SuspenseResolution;
  readonly by: string;
  readonly note: string | null;
  /** The owner of money that matches no payin or payout. */
  readonly organizationId: string | null;
  /** For a return: creates the payout that returns the money, and returns its id. */
  readonly makeReturn: ((tx: Tx, anomaly: Anomaly) => Promise<string>) | null;
}

/**
 * Resolves an anomaly: moves its money from suspense to the account chosen by the operator, or dismisses an anomaly without
 * money. Anomaly, transfer, audit row and the payout of a return commit together; the ledger cause ensures it happens once.
 */
export async function resolve(deps: SystemDeps, id: string, resolving: Resolving): Promise<ResolveOutcome> {
  try {
    return await deps.system.transaction('resolve anomaly', (tx) =>
      resolveInTransaction(deps, tx, id, resolving),
    );
  } catch (error) {
    if (isDatabaseError(error) && error.constraint === 'balance_not_below_zero')
      return { kind: 'insufficient_balance' };
    throw error;
  }
}

/** Like `resolve`, in the caller's transaction. */
export async function resolveInTransaction(
  deps: SystemDeps,
  tx: Tx,
  id: string,
  resolving: Resolving,
): Promise<ResolveOutcome> {
  const anomaly = await lockAnomaly(tx, id);
  if (!anomaly) return { kind: 'not_found' };
  if (anomaly.resolvedAt) return { kind: 'already_resolved', anomaly };
  if (anomaly.acceptedAt) return { kind: 'accepted', anomaly };
  const rejection = validateResolution(anomaly, resolving.how);
  if (rejection) return rejection;
  const owner = await findOwner(tx, anomaly, resolving);
  if (typeof owner !== 'string') return owner;
  const accounts = ACCOUNTS[resolving.how];
  const transferId = accounts === null ? null : uuidv7(deps.clock.now(), deps.cell);
  const returnPayoutId = (await resolving.makeReturn?.(tx, anomaly)) ?? null;
  await resolveAnomaly(tx, anomaly, resolving, returnPayoutId);
  await recordAction(tx, {
    operator: resolving.by,
    action: 'anomalies.resolve',
    organizationId: owner,
    resource: id,
    details: {
      resolution: resolving.how,
      amountInCents: anomaly.amount?.toString() ?? null,
      transferId,
      returnPayoutId,
    },
    note: resolving.note,
  });
  if (accounts !== null && transferId !== null && anomaly.amount !== null) {
    const amount = cents(anomaly.amount < 0n ? -anomaly.amount : anomaly.amount);
    const cause = anomalyCause(anomaly);
    const createdBy = operatorActor(resolving.by);
    await post(tx, [
      { id: transferId, organizationId: owner, ...accounts, amount, cause, resourceId: id, createdBy },
    ]);
  }
  return { kind: 'resolved', anomaly, organizationId: owner, returnPayoutId };
}

/** The accounts of the transfer. The money of a return leaves suspense only when its payout is confirmed. */
const ACCOUNTS: Readonly<
  Record<SuspenseResolution, { readonly debit: Account; readonly credit: Account } | null>
> = {
  credit: { debit: 'suspense', credit: 'available' },
  return: null,
  charge: { debit: 'available', credit: 'suspense' },
  write_off: { debit: 'treasury', credit: 'suspense' },
  dismiss: null,
};

function validateResolution({ kind, amount }: Anomaly, how: SuspenseResolution): ResolveOutcome | null {
  if (kind === 'payment_not_listed') return { kind: 'settlement_held' };
  if (how === 'dismiss') return amount === null ? null : { kind: 'holds_money' };
  if (amount === null) return { kind: 'no_money' };
  if (how === 'credit' || how === 'return') return amount > 0n ? null : { kind: 'is_outgoing' };
  return amount < 0n ? null : { kind: 'is_incoming' };
}

/** The owner of the anomaly, or, for unmatched money, the organization given by the operator. */
async function findOwner(
  tx: Tx,
  anomaly: Anomaly,
  { how, organizationId }: Resolving,
): Promise<string | ResolveOutcome> {
  if (anomaly.organizationId !== OPERATOR_ORGANIZATION_ID) {
    return organizationId === null || organizationId === anomaly.organizationId
      ? anomaly.organizationId
      : { kind: 'organization_mismatch' };
  }
  // Only a credit or charge changes a merchant's balance and requires the organization.
  if (how !== 'credit' && how !== 'charge') return OPERATOR_ORGANIZATION_ID;
  if (organizationId === null) return { kind: 'organization_required' };
  return organizationId !== OPERATOR_ORGANIZATION_ID && (await organizationExists(tx, organizationId))
    ? organizationId
    : { kind: 'organization_not_found' };
}
