import type { Anomaly } from '../../anomalies/anomaly.ts';
import { pesos } from '../../kit/money.ts';

/** An anomaly as shown to the merchant. */
export function anomalyView(anomaly: Anomaly) {
  return {
    id: anomaly.id,
    kind: anomaly.kind.toUpperCase(),
    amount: anomaly.amount === null ? null : pesos(anomaly.amount),
    amountInCents: anomaly.amount === null ? null : Number(anomaly.amount),
    status: toStatus(anomaly),
    noticedAt: anomaly.noticedAt.toISOString(),
    resolvedAt: anomaly.resolvedAt?.toISOString() ?? null,
    resolution: anomaly.resolution?.toUpperCase() ?? null,
  };
}

function toStatus({ resolvedAt, acceptedAt }: Anomaly): 'OPEN' | 'ACCEPTED' | 'RESOLVED' {
  if (resolvedAt !== null) return 'RESOLVED';
  return acceptedAt === null ? 'OPEN' : 'ACCEPTED';
}
