import type { Breach } from '../invariant-violation.ts';
import type { TransferRow } from '../snapshot.ts';
import type { View } from '../view.ts';

/** Transfers from suspense to the merchant. */
function findCredits({ snapshot, organizationId }: View): TransferRow[] {
  return snapshot.transfers.filter(
    ({ kind, organization }) => kind === 'anomaly' && organization === organizationId,
  );
}

/** At any time, only accepted anomalies are credited, once and with their amount. */
export function acceptanceBreaches(view: View): Breach[] {
  const seen = new Set<string>();
  return findCredits(view).flatMap((transfer): Breach[] => {
    const anomaly = view.snapshot.anomalies.find(({ id }) => id === transfer.resource);
    const valid =
      anomaly !== undefined &&
      view.accepted.has(anomaly.id) &&
      !seen.has(anomaly.id) &&
      transfer.cents === anomaly.cents &&
      transfer.debit === 'suspense' &&
      transfer.credit === 'available';
    seen.add(transfer.resource ?? '');
    return valid
      ? []
      : [{ invariant: 'acceptance_credited_once', about: { transfer, anomaly: anomaly ?? null } }];
  });
}

/** When idle, every acknowledged acceptance is credited. */
export function uncreditedBreaches(view: View): Breach[] {
  const credited = new Set(findCredits(view).map(({ resource }) => resource));
  return [...view.accepted]
    .filter(([id, acknowledged]) => acknowledged && !credited.has(id))
    .map(([id]) => ({ invariant: 'acceptance_credited_once', about: { neverCredited: id } }));
}
