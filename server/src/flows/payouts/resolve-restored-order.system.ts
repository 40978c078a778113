import { findUnmatchedExecution } from '../../anomalies/anomaly.store.ts';
import { recordAction } from '../../audit/operator-action.store.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { operatorActor } from '../../kit/actor.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { findPayoutOwner, lockPayouts } from '../../payouts/payout-outcome.store.ts';
import {
  closeRestoredOrder,
  type HoldingOrder,
  lockHoldingOrder,
  type OpenRestoredOrder,
  openRestoredOrders,
  releasePayout,
} from '../../payouts/restored-order.store.ts';
import { resolveInTransaction } from '../payins/resolve-anomaly.system.ts';
import { endPayouts, postEnded } from './end-payouts.ts';

export function listRestoredOrders(deps: SystemDeps, limit: number): Promise<OpenRestoredOrder[]> {
  return deps.system.transaction('read', (tx) => openRestoredOrders(tx, limit));
}

type RestoredOrderResolution =
  | { readonly kind: 'released' }
  | { readonly kind: 'canceled'; readonly endToEndId: string }
  | { readonly kind: 'not_found' | 'not_held' }
  /** The execution is not booked yet: the rail still processes the order, or its outcome has not been applied. */
  | { readonly kind: 'not_executed'; readonly endToEndId: string };

interface Decision {
  /** `repeat`: the same payment as the order that the rail already has. `new`: another payment. */
  readonly as: 'repeat' | 'new';
  readonly operator: string;
  readonly note: string;
}

/**
 * Decides about a payout that may repeat an order which only the rail has. Another payment is sent. A repeated one is canceled,
 * and the merchant is charged for the order that the rail executed; both commit together.
 */
export async function resolveRestoredOrder(
  deps: SystemDeps,
  payoutId: string,
  decision: Decision,
): Promise<RestoredOrderResolution> {
  return deps.system.transaction('resolve payout', async (tx): Promise<RestoredOrderResolution> => {
    const rowId = await findPayoutOwner(tx, payoutId);
    const [payout] = rowId ? await lockPayouts(tx, [rowId]) : [];
    if (!rowId || !payout) return { kind: 'not_found' };
    const order = await lockHoldingOrder(tx, rowId);
    if (!order || payout.status !== 'PROCESSING' || payout.sent_attempts > 0) return { kind: 'not_held' };
    const { operator, note, as } = decision;
    const action = {
      operator,
      action: 'restored.resolve',
      organizationId: rowId.organizationId,
      resource: payoutId,
      details: { as, endToEndId: order.endToEndId },
      note,
    } as const;
    if (as === 'new') {
      await releasePayout(tx, rowId);
      await recordAction(tx, action);
      return { kind: 'released' };
    }
    const anomaly = await findExecution(tx, order);
    if (!anomaly) return { kind: 'not_executed', endToEndId: order.endToEndId };
    const transition = {
      to: 'CANCELED',
      errorCode: null,
      executionId: null,
      cause: 'canceled_by_operator',
    } as const;
    const dataKeys = new DataKeys(deps.system, deps.masterKeys);
    const transfers = await endPayouts(
      deps,
      dataKeys,
      tx,
      [{ ...rowId, ...transition }],
      operatorActor(operator),
    );
    await closeRestoredOrder(tx, order.endToEndId, payoutId);
    await recordAction(tx, action);
    // The held money of the canceled payout covers the charge.
    await postEnded(tx, transfers);
    if (anomaly.resolvedAt === null)
      await resolveInTransaction(deps, tx, anomaly.id, {
        how: 'charge',
        by: operator,
        note,
        organizationId: rowId.organizationId,
        makeReturn: null,
      });
    return { kind: 'canceled', endToEndId: order.endToEndId };
  });
}

function findExecution(tx: Tx, { executionId }: HoldingOrder) {
  return executionId === null
    ? Promise.resolve(null)
    : findUnmatchedExecution(tx, OPERATOR_ORGANIZATION_ID, executionId);
}
