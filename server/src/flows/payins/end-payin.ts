import { recordAction } from '../../audit/operator-action.store.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { isFinal, type PayinStatus } from '../../payins/payin.states.ts';
import { type DetailedPayin, payinDetails } from '../../payins/payin-details.store.ts';
import { lockPayins, type PayinKey } from '../../payins/payin-outcome.store.ts';
import { payinsById } from '../../payins/payin-search.store.ts';
import type { CollectionStatus } from '../../rails/contract.ts';
import { applyPayinUpdates } from './apply-payin-updates.ts';
import { railReferenceOf, railStatusOf } from './show-payin.ts';

export type EndPayinRefusal =
  | { readonly kind: 'no_such_payin' }
  | { readonly kind: 'ended_before'; readonly status: PayinStatus }
  /** Before its expiry, or before the rail's processing time has passed since. */
  | { readonly kind: 'too_early'; readonly afterMs: number }
  | { readonly kind: 'rail_unreachable'; readonly cause: string }
  | { readonly kind: 'payment_listed'; readonly status: PayinStatus };

export type EndPayinOutcome =
  | { readonly kind: 'ended'; readonly status: PayinStatus; readonly decidedBy: 'operator' | 'rail' }
  | EndPayinRefusal;

interface Decision {
  readonly by: string;
  readonly reason: string;
}

/**
 * Ends a payin that its rail never ends. The rail is queried first, past the expiry of the payin and the rail's
 * processing time: only an answer without a payment, or with payments that are all booked for other payins, lets it end.
 * A clear answer of the rail counts before the
 * operator's decision. State, history, event, the link's attempt and the audit row commit together.
 */
export async function endPayin(deps: SystemDeps, id: string, decision: Decision): Promise<EndPayinOutcome> {
  const payin = await deps.system.transaction('read', async (tx) => {
    const [found] = await payinDetails(tx, await payinsById(tx, id));
    return found ?? null;
  });
  if (!payin) return { kind: 'no_such_payin' };
  if (isFinal(payin.status)) return { kind: 'ended_before', status: payin.status };
  const early = earlyBy(deps, payin);
  if (early > 0) return { kind: 'too_early', afterMs: early };
  const reference = railReferenceOf(payin);
  // Where the rail can close, no payment may come between the query and the end. What it lists decides, not the closing:
  // ended by an operator, the payin is due to be closed again, until the rail has done it.
  const connector = deps.rails[payin.rail];
  if (connector.capabilities.maxCloseBatch > 0) await connector.close([reference]);
  const answer = await railStatusOf(deps, payin, reference);
  if (answer.kind !== 'yes')
    return { kind: 'rail_unreachable', cause: answer.kind === 'no' ? answer.railCode : answer.cause };
  return deps.system.transaction('apply statuses', (tx) => endIn(deps, tx, payin, answer.value, decision));
}

async function endIn(
  deps: SystemDeps,
  tx: Tx,
  queried: DetailedPayin,
  railStatus: CollectionStatus,
  decision: Decision,
): Promise<EndPayinOutcome> {
  const key: PayinKey = { organizationId: queried.organization_id, id: queried.id };
  const [before] = await lockPayins(tx, [key]);
  if (!before) return { kind: 'no_such_payin' };
  if (isFinal(before.status)) return { kind: 'ended_before', status: before.status };
  // An order may have left for the rail after the query: its answer does not cover it.
  const { maxProcessingMs } = deps.rails[before.rail].capabilities;
  if (before.sent_ms_ago !== null && before.sent_ms_ago < maxProcessingMs)
    return { kind: 'too_early', afterMs: maxProcessingMs - before.sent_ms_ago };
  const reference = railReferenceOf(queried);
  const update = {
    rail: before.rail,
    reference,
    notification: null,
    railStatus,
    pastProcessingWindow: false,
    operatorEnds: true,
  };
  await applyPayinUpdates(deps, new DataKeys(deps.system, deps.masterKeys), tx, [update], {
    leaseToken: null,
    conclude: async () => undefined,
  });
  const [after] = await payinDetails(tx, [key]);
  const status = after?.status ?? before.status;
  const paid = railStatus.payments.length > 0;
  const undecided = railStatus.state === 'open' || railStatus.state === 'not_found';
  // What it lists under a payin that ends without money is booked for other payins: the rail has decided nothing.
  const decidedBy = paid || undecided ? 'operator' : 'rail';
  if (status !== before.status)
    await recordAction(tx, {
      operator: decision.by,
      action: 'payins.end',
      organizationId: key.organizationId,
      resource: key.id,
      details: { status, railState: railStatus.state, decidedBy },
      note: decision.reason,
    });
  if (paid && status !== 'CANCELED') return { kind: 'payment_listed', status };
  // The database's clock was set back since the query: by its time the payin has not expired.
  if (!isFinal(status)) return { kind: 'too_early', afterMs: maxProcessingMs };
  return { kind: 'ended', status, decidedBy };
}

/** How long it is too early by: past its expiry, and past the last order, by the longest time the rail takes. */
function earlyBy(deps: SystemDeps, payin: DetailedPayin): number {
  const { maxProcessingMs } = deps.rails[payin.rail].capabilities;
  return maxProcessingMs - Math.min(payin.expired_ms_ago, payin.sent_ms_ago ?? Number.POSITIVE_INFINITY);
}
