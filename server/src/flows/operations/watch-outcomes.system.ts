import { countHeldSettlements, countOpenAnomalies } from '../../anomalies/anomaly.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { NO_WAITING_PAYOUTS, waitingPayouts } from '../../payouts/payout-outcome.store.ts';
import { readNoticeBacklog } from '../../rail-notices/notice.store.ts';

/** Metrics of unprocessed rail notices and of work that waits for an operator. */
export function watchOutcomes(deps: SystemDeps): () => Promise<void> {
  const tasks = ['apply', 'verify'] as const;
  const waiting = new Map<string, number>();
  const oldest = new Map<string, number>();
  let anomalies = 0;
  let held = 0;
  let payouts = NO_WAITING_PAYOUTS;
  const { metrics } = deps;
  metrics.gauge(
    'caudal_rail_notices_waiting',
    'Stored rail notices that are not processed yet.',
    () => waiting,
  );
  metrics.gauge(
    'caudal_rail_notices_waiting_oldest_seconds',
    'Age of the oldest unprocessed rail notice.',
    () => oldest,
  );
  metrics.gauge('caudal_anomalies_open', 'Anomalies that wait for an operator decision.', () => anomalies);
  metrics.gauge(
    'caudal_payins_settlement_held',
    'Payins whose settlement is held because their rail does not list the payment.',
    () => held,
  );
  metrics.gauge('caudal_payouts_waiting', 'Payouts that wait to be sent.', () => payouts.sends);
  metrics.gauge(
    'caudal_payouts_waiting_oldest_seconds',
    'How long the oldest payout has been due to be sent.',
    () => payouts.oldest_send_seconds,
  );
  metrics.gauge(
    'caudal_payouts_held',
    'Payouts to new receivers that wait for the time that their payout limits set.',
    () => payouts.held,
  );
  metrics.gauge(
    'caudal_payouts_unknown',
    'Payouts sent more than a minute ago whose outcome is unknown; `payouts unknown` lists them.',
    () => payouts.unknown,
  );
  return async () => {
    const rows = await readNoticeBacklog(deps.system);
    for (const task of tasks) {
      const row = rows.find((each) => each.task === task);
      waiting.set(`{task="${task}"}`, row?.count ?? 0);
      oldest.set(`{task="${task}"}`, row?.oldest_seconds ?? 0);
    }
    anomalies = await countOpenAnomalies(deps.system);
    held = await countHeldSettlements(deps.system);
    payouts = await waitingPayouts(deps.system);
  };
}
