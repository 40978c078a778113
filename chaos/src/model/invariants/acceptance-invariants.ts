import type { TransferRow } from '../books.ts';
import type { Breach } from '../invariant-violation.ts';
import type { View } from '../view.ts';

/** Money that left suspense for the merchant. */
function creditsOf({ books, organizationId }: View): TransferRow[] {
  return books.transfers.filter(
    ({ kind, organization }) => kind === 'anomaly' && organization === organizationId,
  );
}

/** At any moment: only what the merchant accepted is credited, with its amount, and once. */
export function acceptanceBreaches(view: View): Breach[] {
  const seen = new Set<string>();
  return creditsOf(view).flatMap((transfer): Breach[] => {
    const anomaly = view.books.anomalies.find(({ id }) => id === transfer.resource);
    const sound =
      anomaly !== undefined &&
      view.accepted.has(anomaly.id) &&
      !seen.has(anomaly.id) &&
      transfer.cents === anomaly.cents &&
      transfer.debit === 'suspense' &&
      transfer.credit === 'available';
    seen.add(transfer.resource ?? '');
    return sound ? [] : [{ promise: 'accepts', about: { transfer, anomaly: anomaly ?? null } }];
  });
}

/** Once work has come to rest: whatever was acknowledged as accepted is credited. */
export function heardAcceptanceBreaches(view: View): Breach[] {
  const credited = new Set(creditsOf(view).map(({ resource }) => resource));
  return [...view.accepted]
    .filter(([id, acknowledged]) => acknowledged && !credited.has(id))
    .map(([id]) => ({ promise: 'accepts', about: { neverCredited: id } }));
}
