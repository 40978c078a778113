import type { Trial } from './trial.ts';

const PATIENCE_MS = 8000;

/** The oldest anomaly with money of a payin, about which nothing is decided. */
const OPEN = `select id, payin_id as "payinId" from caudal.anomalies
  where organization_id = $1 and payin_id is not null and amount_in_cents > 0 and accepted_at is null and resolved_at is null
  order by noticed_at limit 1`;

/** Accepts an anomaly at this API, whether or not it lives to answer. The load's payers bring anomalies about. */
export async function acceptOne({ stage, journal }: Trial, api: string): Promise<void> {
  const { organizationId, apiKey } = stage.organization;
  const [anomaly] = await stage.query<{ id: string; payinId: string }>(OPEN, [organizationId]);
  if (!anomaly) return;
  const { id: about, payinId } = anomaly;
  journal.write({ kind: 'operator', act: 'accept', about, organizationId: null, amountInCents: null });
  try {
    const response = await fetch(`${api}/payins/${payinId}/anomalies/${about}/accept`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'idempotency-key': `accept-${about}` },
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (response.status === 201) journal.write({ kind: 'done', about });
  } catch {
    // Killed before it answered: the acceptance may have been recorded or not.
  }
}
