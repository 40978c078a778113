import { recordAction } from '../../audit/operator-action.store.ts';
import type { RowId } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { isFinal, type PayinStatus } from '../../payins/payin.states.ts';
import { type DetailedPayin, payinDetails } from '../../payins/payin-details.store.ts';
import { lockPayins } from '../../payins/payin-outcome.store.ts';
import { payinsById } from '../../payins/payin-search.store.ts';
import { type CollectionStatus, failureCause } from '../../rails/contract.ts';
import { applyPayinUpdates } from './apply-payin-updates.system.ts';
import { queryRailStatus, toRailReference } from './show-payin.system.ts';

export type EndPayinRejection =
  | { readonly kind: 'no_such_payin' }
  | { readonly kind: 'ended_before'; readonly status: PayinStatus }
  /** Before its expiry, or before the rail's processing time has passed since. */
  | { readonly kind: 'too_early'; readonly afterMs: number }
  | { readonly kind: 'rail_unreachable'; readonly cause: string }
  | { readonly kind: 'payment_listed'; readonly status: PayinStatus };

export type EndPayinOutcome =
  | { readonly kind: 'ended'; readonly status: PayinStatus; readonly decidedBy: 'operator' | 'rail' }
  | EndPayinRejection;

interface Decision {
  readonly by: string;
  readonly reason: string;
}

/**
 * Ends a payin that its rail never ends. First queries the rail, after the payin's expiry plus the rail's processing time.
 * The payin ends only if the status lists no payment, or only payments posted to other payins. A conclusive status takes
 * precedence over the operator's decision. State, history, event, link attempt and audit row commit together.
 */
export async function endPayin(deps: SystemDeps, id: string, decision: Decision): Promise<EndPayinOutcome> {
  const payin = await deps.system.transaction('read', async (tx) => {
    const [found] = await payinDetails(tx, await payinsById(tx, id));
    return found ?? null;
  });
  if (!payin) return { kind: 'no_such_payin' };
  if (isFinal(payin.status)) return { kind: 'ended_before', status: payin.status };
  const waitMs = remainingWaitMs(deps, payin);
  if (waitMs > 0) return { kind: 'too_early', afterMs: waitMs };
  const reference = toRailReference(payin);
  // Closing first ensures that no payment arrives between the query and the end. The result of the close is ignored: after
  // an operator's end the payin is due to be closed again, until the rail has closed it.
  const connector = deps.rails[payin.rail];
  if (connector.capabilities.maxCloseBatch > 0) await connector.close([reference]);
  const answer = await queryRailStatus(deps, payin, reference);
  if (answer.kind !== 'yes') return { kind: 'rail_unreachable', cause: failureCause(answer) };
  return deps.system.transaction('apply statuses', (tx) =>
    endInTransaction(deps, tx, payin, answer.value, decision),
  );
}

async function endInTransaction(
  deps: SystemDeps,
  tx: Tx,
  queried: DetailedPayin,
  railStatus: CollectionStatus,
  decision: Decision,
): Promise<EndPayinOutcome> {
  const rowId: RowId = { organizationId: queried.organization_id, id: queried.id };
  const [before] = await lockPayins(tx, [rowId]);
  if (!before) return { kind: 'no_such_payin' };
  if (isFinal(before.status)) return { kind: 'ended_before', status: before.status };
  // An order may have been sent to the rail after the query, whose status does not cover it.
  const { maxProcessingMs } = deps.rails[before.rail].capabilities;
  if (before.sent_ms_ago !== null && before.sent_ms_ago < maxProcessingMs)
    return { kind: 'too_early', afterMs: maxProcessingMs - before.sent_ms_ago };
  const reference = toRailReference(queried);
  const update = {
    rail: before.rail,
    reference,
    notification: null,
    railStatus,
    pastProcessingWindow: false,
    operatorEnds: true,
  };
  await applyPayinUpdates(deps, new DataKeys(deps.system, deps.masterKeys), tx, [update]);
  const [after] = await payinDetails(tx, [rowId]);
  const status = after?.status ?? before.status;
  const paid = railStatus.payments.length > 0;
  const undecided = railStatus.state === 'open' || railStatus.state === 'not_found';
  // Payments listed for a payin that ends without money are posted to other payins: the rail has decided nothing.
  const decidedBy = paid || undecided ? 'operator' : 'rail';
  if (status !== before.status)
    await recordAction(tx, {
      operator: decision.by,
      action: 'payins.end',
      organizationId: rowId.organizationId,
      resource: rowId.id,
      details: { status, railState: railStatus.state, decidedBy },
      note: decision.reason,
    });
  if (paid && status !== 'CANCELED') return { kind: 'payment_listed', status };
  // The database clock was set back since the query: the payin has not expired by it.
  if (!isFinal(status)) return { kind: 'too_early', afterMs: maxProcessingMs };
  return { kind: 'ended', status, decidedBy };
}

/** Until the rail's maximum processing time has passed since the expiry and since the last order; negative after it. */
function remainingWaitMs(deps: SystemDeps, payin: DetailedPayin): number {
  const { maxProcessingMs } = deps.rails[payin.rail].capabilities;
  return maxProcessingMs - Math.min(payin.expired_ms_ago, payin.sent_ms_ago ?? Number.POSITIVE_INFINITY);
}
