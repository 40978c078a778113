import { lockAnomaly, openAnomalies, recentAnomalies, resolveAnomaly } from '../anomalies/anomaly.store.ts';
import type { Anomaly, Resolution } from '../anomalies/anomaly.ts';
import { recordAction } from '../audit/operator-action.store.ts';
import { isDatabaseError } from '../db/failures.ts';
import type { Tx } from '../db/tx.ts';
import type { SystemDeps } from '../deps.ts';
import { uuidv7 } from '../kit/ids.ts';
import { cents } from '../kit/money.ts';
import { post } from '../ledger/ledger.store.ts';
import type { Account } from '../ledger/transfer.ts';
import { organizationExists } from '../organizations/organization.store.ts';
import { HOUSE_ID } from '../organizations/organization.ts';

export function listAnomalies(deps: SystemDeps, all: boolean, most: number): Promise<Anomaly[]> {
  return deps.system.transaction('read', (tx) => (all ? recentAnomalies(tx, most) : openAnomalies(tx, most)));
}

export type ResolveOutcome =
  | {
      readonly kind: 'resolved';
      readonly anomaly: Anomaly;
      readonly organizationId: string;
      readonly returnPayoutId: string | null;
    }
  | { readonly kind: 'no such anomaly' }
  | { readonly kind: 'resolved before'; readonly anomaly: Anomaly }
  /** A credit or return needs money that came, a charge or writing off money that left, a dismissal must not lose any. */
  | { readonly kind: 'no money' }
  | { readonly kind: 'holds money' }
  | { readonly kind: 'money came' }
  | { readonly kind: 'money left' }
  | { readonly kind: 'whose money' }
  | { readonly kind: 'other organization' }
  | { readonly kind: 'no such organization' }
  | { readonly kind: 'not covered' };

export interface Resolving {
  readonly how: Resolution;
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
      return { kind: 'not covered' };
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
  if (!anomaly) return { kind: 'no such anomaly' };
  if (anomaly.resolvedAt) return { kind: 'resolved before', anomaly };
  const refusal = unfit(anomaly, resolving.how);
  if (refusal) return refusal;
  const owner = await ownerOf(tx, anomaly, resolving);
  if (typeof owner !== 'string') return owner;
  const freshId = () => uuidv7(deps.clock.now(), deps.cell);
  const returnPayoutId = (await resolving.makeReturn?.(tx, anomaly)) ?? null;
  await resolveAnomaly(tx, anomaly, resolving, returnPayoutId);
  await recordAction(tx, {
    id: freshId(),
    organizationId: owner,
    operator: resolving.by,
    action: `anomaly ${resolving.how.replace('_', ' ')}`,
    resourceId: id,
    note: resolving.note,
  });
  const way = WAYS[resolving.how];
  if (way !== null && anomaly.amount !== null) {
    const amount = cents(anomaly.amount < 0n ? -anomaly.amount : anomaly.amount);
    const cause = { kind: 'anomaly', id } as const;
    await post(tx, [{ id: freshId(), organizationId: owner, ...way, amount, cause, resourceId: id }]);
  }
  return { kind: 'resolved', anomaly, organizationId: owner, returnPayoutId };
}

/** Where the money goes. A return leaves suspense only when its payout is confirmed. */
const WAYS: Readonly<Record<Resolution, { readonly debit: Account; readonly credit: Account } | null>> = {
  credit: { debit: 'suspense', credit: 'available' },
  return: null,
  charge: { debit: 'available', credit: 'suspense' },
  write_off: { debit: 'treasury', credit: 'suspense' },
  dismiss: null,
};

function unfit({ amount }: Anomaly, how: Resolution): ResolveOutcome | null {
  if (how === 'dismiss') return amount === null ? null : { kind: 'holds money' };
  if (amount === null) return { kind: 'no money' };
  if (how === 'credit' || how === 'return') return amount > 0n ? null : { kind: 'money left' };
  return amount < 0n ? null : { kind: 'money came' };
}

/** Whose business it is: the anomaly's owner, or, for what is nobody's, whom the operator names. */
async function ownerOf(
  tx: Tx,
  anomaly: Anomaly,
  { how, organizationId }: Resolving,
): Promise<string | ResolveOutcome> {
  if (anomaly.organizationId !== HOUSE_ID) {
    return organizationId === null || organizationId === anomaly.organizationId
      ? anomaly.organizationId
      : { kind: 'other organization' };
  }
  // Only what moves a merchant's own balance needs to know which.
  if (how !== 'credit' && how !== 'charge') return HOUSE_ID;
  if (organizationId === null) return { kind: 'whose money' };
  return organizationId !== HOUSE_ID && (await organizationExists(tx, organizationId))
    ? organizationId
    : { kind: 'no such organization' };
}
