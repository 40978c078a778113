import type { RowId } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { type LockedPayout, lockPayouts } from '../../payouts/payout-outcome.store.ts';
import { receiverIndex } from '../../payouts/receiver.encryption.ts';
import { readReceiverKey } from '../../payouts/receiver-key.ts';
import {
  markSent,
  pollInstead,
  type RestoredOrder,
  recordRestoredOrders,
} from '../../payouts/restored-order.store.ts';
import type { ListedOrder } from '../../rails/contract.ts';
import { applyPayoutUpdates, type PayoutUpdate } from '../payouts/apply-payout-updates.system.ts';
import { distinctRows, findByReference } from '../shared/rail-update.ts';
import type { Difference } from './restore-difference.ts';

export interface OrderComparison {
  readonly keys: DataKeys;
  /** The time to which the database was restored. */
  readonly restoredTo: Date;
  /** Changes nothing. */
  readonly dryRun: boolean;
}

/**
 * Compares orders that the rail lists with the payouts of the database, in one transaction. A payout that the rail has an order
 * of gets the rail's outcome in the normal way. An order without a payout is recorded, so that a repeated request waits for an
 * operator; its money is booked in suspense.
 */
export async function reconcileOrders(
  deps: SystemDeps,
  orders: readonly ListedOrder[],
  { keys, restoredTo, dryRun }: OrderComparison,
): Promise<Difference[]> {
  if (orders.length === 0) return [];
  return deps.system.transaction(dryRun ? 'read' : 'apply payout statuses', async (tx) => {
    const owners = await findByReference(
      tx,
      orders.map(({ endToEndId }) => endToEndId),
    );
    const locked = await lockPayouts(tx, distinctRows(owners.values()));
    const payouts = new Map(locked.map((payout) => [payout.end_to_end_id, payout]));
    const unknown = orders.filter(({ endToEndId }) => !payouts.has(endToEndId));
    const differences = orders.flatMap((order) => toDifference(order, payouts.get(order.endToEndId) ?? null));
    if (dryRun) return differences;
    await markSent(
      tx,
      openRows(locked, (payout) => payout.sent_attempts === 0),
    );
    await pollInstead(
      tx,
      openRows(locked, (payout) => payout.sent_attempts > 0),
    );
    await applyPayoutUpdates(deps, keys, tx, orders.filter(hasOutcome).map(toUpdate));
    const indexed = await indexReceivers(tx, keys, unknown, owners);
    await recordRestoredOrders(
      tx,
      unknown.map((order) => ({ ...toRestoredOrder(order, indexed), restoredTo })),
    );
    return differences;
  });
}

function openRows(locked: readonly LockedPayout[], accepts: (payout: LockedPayout) => boolean): RowId[] {
  return locked
    .filter((payout) => payout.status === 'PROCESSING' && accepts(payout))
    .map(({ organization_id: organizationId, id }) => ({ organizationId, id }));
}

function hasOutcome({ state }: ListedOrder): boolean {
  return state !== 'processing';
}

function toUpdate({ endToEndId, state, executionId, amount, errorCode }: ListedOrder): PayoutUpdate {
  return {
    rail: 'BRE_B',
    reference: endToEndId,
    notification: null,
    railStatus: { endToEndId, state, executionId, amount: state === 'settled' ? amount : null, errorCode },
    pastProcessingWindow: false,
  };
}

function toDifference(
  { endToEndId: reference, state, amount }: ListedOrder,
  payout: LockedPayout | null,
): Difference[] {
  const about = { rail: 'BRE_B', reference, amount } as const;
  if (payout === null)
    // A rejected order moved no money: the merchant may repeat it.
    return state === 'rejected' ? [] : [{ ...about, kind: 'unknown_order', resourceId: null }];
  const resourceId = payout.id;
  if (payout.status === 'PROCESSING' && state !== 'processing')
    return [{ ...about, kind: state === 'settled' ? 'payout_executed' : 'payout_rejected', resourceId }];
  if (payout.status === 'PROCESSING' && payout.sent_attempts === 0)
    return [{ ...about, kind: 'payout_in_progress', resourceId }];
  const contradicts = payout.status === 'CONFIRMED' ? state === 'rejected' : state === 'settled';
  return contradicts ? [{ ...about, kind: 'contradiction', resourceId }] : [];
}

/** The organization of each order, and the keyed hash of its receiver; the operator's if its organization was lost. */
async function indexReceivers(
  tx: Tx,
  keys: DataKeys,
  orders: readonly ListedOrder[],
  owners: ReadonlyMap<string, RowId>,
): Promise<ReadonlyMap<string, Pick<RestoredOrder, 'organizationId' | 'receiverIndex'>>> {
  const organizationIds = new Set(
    orders.flatMap(({ endToEndId }) => owners.get(endToEndId)?.organizationId ?? []),
  );
  const secrets = await keys.loadInTransaction(tx, organizationIds);
  return new Map(
    orders.flatMap(({ endToEndId, key }) => {
      const organizationId = owners.get(endToEndId)?.organizationId;
      if (organizationId === undefined) return [];
      const { hashKey } = secrets(organizationId);
      const index = receiverIndex(hashKey, readReceiverKey(key)?.key ?? key);
      return [[endToEndId, { organizationId, receiverIndex: index }] as const];
    }),
  );
}

function toRestoredOrder(
  { endToEndId, amount, state: railStatus, executionId, orderedAt }: ListedOrder,
  indexed: Awaited<ReturnType<typeof indexReceivers>>,
): Omit<RestoredOrder, 'restoredTo'> {
  const owner = indexed.get(endToEndId) ?? { organizationId: OPERATOR_ORGANIZATION_ID, receiverIndex: null };
  return { endToEndId, ...owner, amount, railStatus, executionId, orderedAt };
}
