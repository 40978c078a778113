import type { History } from './history.ts';
import { InvariantViolation } from './invariant-violation.ts';

interface SeenAnomaly {
  readonly id: string;
  readonly amountInCents: number | null;
}

/** Concurrent requests with one idempotency key create one acceptance; the other responses are replays. */
export async function accept(history: History, { nth }: { readonly nth: number }): Promise<void> {
  const payin = history.payin(nth);
  if (!payin) return;
  const { body } = await history.merchant(0).get(`/payins/${payin.id}`);
  const anomaly = (body['anomalies'] as readonly SeenAnomaly[]).find((each) => each.amountInCents !== null);
  if (!anomaly) return;
  const before = history.accepted.get(anomaly.id) === true;
  history.accepted.set(anomaly.id, before);
  const answers = await Promise.all(
    history.merchants.map((merchant) => merchant.accept(payin.id, anomaly.id)),
  );
  const first = answers.filter(({ replayed }) => !replayed).length;
  const unrepeated = answers.every(({ repeated }) => !repeated);
  if (answers.some(({ status }) => status !== 201) || (unrepeated && first !== (before ? 0 : 1)))
    throw new InvariantViolation({
      invariant: 'acceptance_credited_once',
      about: { anomaly, before, answers },
    });
  history.accepted.set(anomaly.id, true);
}
