import { countHeldSettlements, countOpenAnomalies } from '../../anomalies/anomaly.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { waitingPayouts } from '../../payouts/payout-outcome.store.ts';
import { readNoticeBacklog } from '../../rail-notices/notice.store.ts';
import { readBeforeScrape } from './database-gauge.ts';

type NoticeBacklog = Awaited<ReturnType<typeof readNoticeBacklog>>[number];

const TASKS = ['apply', 'verify'] as const;

/** Metrics of unprocessed rail notices and of work that waits for an operator. */
export function watchOutcomes(deps: SystemDeps): void {
  const { metrics, system } = deps;
  const backlog = readBeforeScrape(deps, async () => ({
    notices: await readNoticeBacklog(system),
    anomalies: await countOpenAnomalies(system),
    held: await countHeldSettlements(system),
    payouts: await waitingPayouts(system),
  }));
  const byTask = (read: (row: NoticeBacklog) => number) => () => {
    const rows = backlog()?.notices ?? null;
    return (
      rows &&
      TASKS.map((task) => {
        const row = rows.find((each) => each.task === task);
        return { labels: { task }, value: row ? read(row) : 0 };
      })
    );
  };
  metrics.gauge(
    'caudal_rail_notices_waiting',
    'Stored rail notices that are not processed yet.',
    byTask((row) => row.count),
  );
  metrics.gauge(
    'caudal_rail_notices_waiting_oldest_seconds',
    'Age of the oldest unprocessed rail notice.',
    byTask((row) => row.oldest_seconds),
  );
  metrics.gauge(
    'caudal_anomalies_open',
    'Anomalies that wait for an operator decision.',
    () => backlog()?.anomalies ?? null,
  );
  metrics.gauge(
    'caudal_payins_settlement_held',
    'Payins whose settlement is held because their rail does not list the payment.',
    () => backlog()?.held ?? null,
  );
  metrics.gauge(
    'caudal_payouts_waiting',
    'Payouts that wait to be sent.',
    () => backlog()?.payouts.sends ?? null,
  );
  metrics.gauge(
    'caudal_payouts_waiting_oldest_seconds',
    'How long the oldest payout has been due to be sent.',
    () => backlog()?.payouts.oldest_send_seconds ?? null,
  );
  metrics.gauge(
    'caudal_payouts_held',
    'Payouts to new receivers that wait for the time that their payout limits set.',
    () => backlog()?.payouts.held ?? null,
  );
  metrics.gauge(
    'caudal_payouts_unknown',
    'Payouts sent more than a minute ago whose outcome is unknown; `payouts unknown` lists them.',
    () => backlog()?.payouts.unknown ?? null,
  );
}
