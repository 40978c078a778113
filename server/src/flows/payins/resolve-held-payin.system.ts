import { findAnomaly, lockAnomaly, resolveAnomaly } from '../../anomalies/anomaly.store.ts';
import type { Anomaly } from '../../anomalies/anomaly.ts';
import { recordAction } from '../../audit/operator-action.store.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { operatorActor } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { type Cents, cents } from '../../kit/money.ts';
import { post } from '../../ledger/ledger.store.ts';
import { bookedPayment } from '../../ledger/payment.store.ts';
import { releaseSettlement, reverseSettlement } from '../../payins/payin-hold.store.ts';
import { type LockedPayin, lockPayins } from '../../payins/payin-outcome.store.ts';

export interface HeldDecision {
  /** `release`: the operator confirms the payment, and it settles. `reverse`: its posting is reversed. */
  readonly how: 'release' | 'reverse';
  readonly by: string;
  readonly note: string | null;
}

export type HeldOutcome =
  | { readonly kind: 'decided'; readonly anomaly: Anomaly; readonly amount: Cents }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'already_resolved'; readonly anomaly: Anomaly }
  | { readonly kind: 'not_held' };

/**
 * Ends the hold on the settlement of a payin whose payment the rail does not list. Payin, anomaly, audit row and the
 * transfer of a reversal commit together. Locks the payin first, like every transaction that decides a payin: a status that
 * lists the payment is applied before or after this transaction.
 */
export function resolveHeldPayin(
  deps: SystemDeps,
  anomalyId: string,
  decision: HeldDecision,
): Promise<HeldOutcome> {
  return deps.system.transaction('resolve anomaly', async (tx) => {
    const found = await findAnomaly(tx, anomalyId);
    if (!found) return { kind: 'not_found' };
    if (found.kind !== 'payment_not_listed' || found.payinId === null) return { kind: 'not_held' };
    const [payin] = await lockPayins(tx, [{ organizationId: found.organizationId, id: found.payinId }]);
    const anomaly = await lockAnomaly(tx, anomalyId);
    if (!payin || !anomaly) throw new Error(`anomaly ${anomalyId} refers to a payin that does not exist`);
    if (anomaly.resolvedAt) return { kind: 'already_resolved', anomaly };
    const amount = await decide(deps, tx, payin, decision);
    if (amount === null) return { kind: 'not_held' };
    await resolveAnomaly(tx, anomaly, decision);
    await recordAction(tx, {
      operator: decision.by,
      action: 'anomalies.resolve',
      organizationId: anomaly.organizationId,
      resource: anomalyId,
      details: { resolution: decision.how, payinId: payin.id, amountInCents: amount.toString() },
      note: decision.note,
    });
    return { kind: 'decided', anomaly, amount };
  });
}

/** @returns the released or reversed amount; null when the payin is not held */
async function decide(
  deps: SystemDeps,
  tx: Tx,
  payin: LockedPayin,
  { how, by }: HeldDecision,
): Promise<Cents | null> {
  const rowId = { organizationId: payin.organization_id, id: payin.id };
  const payment = await bookedPayment(tx, { ...rowId, since: payin.created_at });
  if (!payment) throw new Error(`payin ${payin.id} has no payment in the ledger`);
  const held = how === 'release' ? await releaseSettlement(tx, rowId) : await reverseSettlement(tx, rowId);
  if (!held) return null;
  const amount = cents(payment.amount);
  if (how === 'reverse')
    await post(tx, [
      {
        id: uuidv7(deps.clock.now(), deps.cell),
        organizationId: rowId.organizationId,
        debit: 'pending',
        credit: payment.clearing,
        amount,
        cause: { kind: 'payment_reversal', id: payment.causeId },
        resourceId: payin.id,
        createdBy: operatorActor(by),
      },
    ]);
  return amount;
}
