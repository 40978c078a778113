import { lockAnomaly, openAnomalies, recentAnomalies, resolveAnomaly } from '../anomalies/anomaly.store.ts';
import type { Anomaly } from '../anomalies/anomaly.ts';
import type { SystemDeps } from '../deps.ts';
import { uuidv7 } from '../kit/ids.ts';
import { post } from '../ledger/ledger.store.ts';
import { organizationExists } from '../organizations/organization.store.ts';
import { HOUSE_ID } from '../organizations/organization.ts';

export function listAnomalies(deps: SystemDeps, all: boolean, most: number): Promise<Anomaly[]> {
  return deps.system.transaction('read', (tx) => (all ? recentAnomalies(tx, most) : openAnomalies(tx, most)));
}

export type ResolveOutcome =
  | { readonly kind: 'resolved'; readonly anomaly: Anomaly; readonly organizationId: string }
  | { readonly kind: 'no such anomaly' }
  | { readonly kind: 'resolved before'; readonly anomaly: Anomaly }
  /** A credit needs money, a dismissal must not lose any. */
  | { readonly kind: 'no money' }
  | { readonly kind: 'holds money' }
  | { readonly kind: 'whose money' }
  | { readonly kind: 'other organization' }
  | { readonly kind: 'no such organization' };

/**
 * Ends an anomaly: its money goes from suspense to the merchant's available balance, or, where no money came, it is put
 * away. Row and transfer commit together; its cause lets it happen once.
 * @param organizationId for money that belongs to no payin of ours: who gets it
 */
export async function resolve(
  deps: SystemDeps,
  id: string,
  resolution: {
    readonly how: 'credit' | 'dismiss';
    readonly by: string;
    readonly note: string | null;
    readonly organizationId: string | null;
  },
): Promise<ResolveOutcome> {
  return deps.system.transaction('resolve anomaly', async (tx): Promise<ResolveOutcome> => {
    const anomaly = await lockAnomaly(tx, id);
    if (!anomaly) return { kind: 'no such anomaly' };
    if (anomaly.resolvedAt) return { kind: 'resolved before', anomaly };
    const unowned = anomaly.organizationId === HOUSE_ID;
    const receiver = unowned ? resolution.organizationId : anomaly.organizationId;
    if (resolution.how === 'dismiss' && anomaly.amount !== null) return { kind: 'holds money' };
    if (resolution.how === 'credit') {
      if (anomaly.amount === null) return { kind: 'no money' };
      if (receiver === null) return { kind: 'whose money' };
      if (resolution.organizationId !== null && resolution.organizationId !== receiver)
        return { kind: 'other organization' };
      if (receiver === HOUSE_ID || !(await organizationExists(tx, receiver)))
        return { kind: 'no such organization' };
    }
    await resolveAnomaly(tx, anomaly, resolution);
    if (anomaly.amount !== null && receiver !== null) {
      await post(tx, [
        {
          id: uuidv7(deps.clock.now(), deps.cell),
          organizationId: receiver,
          debit: 'suspense',
          credit: 'available',
          amount: anomaly.amount,
          cause: { kind: 'anomaly', id },
          resourceId: id,
        },
      ]);
    }
    return { kind: 'resolved', anomaly, organizationId: receiver ?? anomaly.organizationId };
  });
}
