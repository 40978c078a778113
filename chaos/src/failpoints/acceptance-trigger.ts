import type { Trial } from '../run/trial.ts';

const REQUEST_TIMEOUT_MS = 8000;

/** The oldest unresolved anomaly of a payin that holds money. */
const OPEN = `select id, payin_id as "payinId" from caudal.anomalies
  where organization_id = $1 and payin_id is not null and amount_in_cents > 0 and accepted_at is null and resolved_at is null
  order by noticed_at limit 1`;

/** Accepts an anomaly at this API, which may die before it responds. The load's payers cause the anomalies. */
export async function acceptOne({ stack, journal }: Trial, api: string): Promise<void> {
  const { organizationId, apiKey } = stack.organization;
  const [anomaly] = await stack.query<{ id: string; payinId: string }>(OPEN, [organizationId]);
  if (!anomaly) return;
  const { id: about, payinId } = anomaly;
  journal.write({ kind: 'operator', act: 'accept', about, organizationId: null, amountInCents: null });
  try {
    const response = await fetch(`${api}/payins/${payinId}/anomalies/${about}/accept`, {
      method: 'POST',
      // Without an idempotency key: its record names no payin, payout or link, which the checker demands of every key.
      headers: { 'x-api-key': apiKey },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (response.status === 201) journal.write({ kind: 'done', about });
  } catch {
    // The API died before it responded: the acceptance may or may not be recorded.
  }
}
