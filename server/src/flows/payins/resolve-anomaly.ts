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
  /** A credit or return needs money that came, a charge or writing off money that left, a dismissal must not lose any. */
  | { readonly kind: 'no_money' }
  | { readonly kind: 'holds_money' }
  | { readonly kind: 'is_incoming' }
  | { readonly kind: 'is_outgoing' }
  /** What is held about a payin: it is released or reversed (`flows/payins/resolve-held-payin.ts`). */
  | { readonly kind: 'settlement_held' }
  | { readonly kind: 'organization_required' }
  | { readonly kind: 'organization_mismatch' }
  | { readonly kind: 'organization_not_found' }
  | { readonly kind: 'insufficient_balance' };

/** The ways in which money in suspense, or an anomaly without money, ends. */
type SuspenseResolution = Exclude<Resolution, 'release' | 'reverse' | 'listed'>;

export interface Resolving {
  readonly how: SuspenseResolution;
  readonly by: string;
  readonly note: string | null;
  /** For money that belongs to no payin or payout of ours: whose it is. */
  readonly organizationId: string | null;
  /** For a return: writes the payout that gives the money back, and says which it is. */
  readonly makeReturn: ((tx: Tx, anomaly: Anomaly) => Promise<string>) | null;
}

/**
 * Ends an anomaly: its money goes from suspense to where the operator says, or, where none came, it is put away. Row,
 * transfer, audit and, for a return, the payout commit together; its cause lets it happen once.
 */
export async function resolve(deps: SystemDeps, id: string, resolving: Resolving): Promise<ResolveOutcome> {
  try {
    return await deps.system.transaction('resolve anomaly', (tx) => resolveIn(deps, tx, id, resolving));
  } catch (error) {
    if (isDatabaseError(error) && error.constraint === 'balance_not_below_zero')
      return { kind: 'insufficient_balance' };
    throw error;
  }
}

async function resolveIn(
  deps: SystemDeps,
  tx: Tx,
  id: string,
  resolving: Resolving,
): Promise<ResolveOutcome> {
  const anomaly = await lockAnomaly(tx, id);
  if (!anomaly) return { kind: 'not_found' };
  if (anomaly.resolvedAt) return { kind: 'already_resolved', anomaly };
  if (anomaly.acceptedAt) return { kind: 'accepted', anomaly };
  const refusal = unfit(anomaly, resolving.how);
  if (refusal) return refusal;
  const owner = await ownerOf(tx, anomaly, resolving);
  if (typeof owner !== 'string') return owner;
  const way = WAYS[resolving.how];
  const transferId = way === null ? null : uuidv7(deps.clock.now(), deps.cell);
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
  if (way !== null && transferId !== null && anomaly.amount !== null) {
    const amount = cents(anomaly.amount < 0n ? -anomaly.amount : anomaly.amount);
    const cause = anomalyCause(anomaly);
    await post(tx, [{ id: transferId, organizationId: owner, ...way, amount, cause, resourceId: id }]);
  }
  return { kind: 'resolved', anomaly, organizationId: owner, returnPayoutId };
}

/** Where the money goes. A return leaves suspense only when its payout is confirmed. */
const WAYS: Readonly<
  Record<SuspenseResolution, { readonly debit: Account; readonly credit: Account } | null>
> = {
  credit: { debit: 'suspense', credit: 'available' },
  return: null,
  charge: { debit: 'available', credit: 'suspense' },
  write_off: { debit: 'treasury', credit: 'suspense' },
  dismiss: null,
};

function unfit({ kind, amount }: Anomaly, how: SuspenseResolution): ResolveOutcome | null {
  if (kind === 'payment_not_listed') return { kind: 'settlement_held' };
  if (how === 'dismiss') return amount === null ? null : { kind: 'holds_money' };
  if (amount === null) return { kind: 'no_money' };
  if (how === 'credit' || how === 'return') return amount > 0n ? null : { kind: 'is_outgoing' };
  return amount < 0n ? null : { kind: 'is_incoming' };
}

/** Whose business it is: the anomaly's owner, or, for what is nobody's, whom the operator names. */
async function ownerOf(
  tx: Tx,
  anomaly: Anomaly,
  { how, organizationId }: Resolving,
): Promise<string | ResolveOutcome> {
  if (anomaly.organizationId !== OPERATOR_ORGANIZATION_ID) {
    return organizationId === null || organizationId === anomaly.organizationId
      ? anomaly.organizationId
      : { kind: 'organization_mismatch' };
  }
  // Only what moves a merchant's own balance needs to know which.
  if (how !== 'credit' && how !== 'charge') return OPERATOR_ORGANIZATION_ID;
  if (organizationId === null) return { kind: 'organization_required' };
  return organizationId !== OPERATOR_ORGANIZATION_ID && (await organizationExists(tx, organizationId))
    ? organizationId
    : { kind: 'organization_not_found' };
}
