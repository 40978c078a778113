import type { SystemDeps } from '../../deps.ts';
import { oldestUndispatched } from '../../webhooks/delivery.store.ts';
import { queueBacklog } from '../../webhooks/queue.store.ts';
import { readBeforeScrape } from '../operations/database-gauge.ts';

/** Registers the metrics of the webhook backlog. */
export function watchWebhooks(deps: SystemDeps): void {
  const backlog = readBeforeScrape(deps, async () => ({
    queues: await queueBacklog(deps.system),
    undispatched: await oldestUndispatched(deps.system),
  }));
  const { metrics } = deps;
  metrics.gauge(
    'caudal_events_undispatched_oldest_seconds',
    'Age of the oldest event without deliveries.',
    () => backlog()?.undispatched ?? null,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_waiting',
    'Healthy endpoints with due deliveries, excluding backlogged ones.',
    () => backlog()?.queues.queues ?? null,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_waiting_oldest_seconds',
    'How long the longest-waiting of these endpoints has had due deliveries.',
    () => backlog()?.queues.oldest_seconds ?? null,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_backlogged',
    'Healthy endpoints with 100 or more due deliveries.',
    () => backlog()?.queues.backlogged ?? null,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_failing',
    'Enabled endpoints whose last delivery attempt failed.',
    () => backlog()?.queues.failing ?? null,
  );
}
