import type { SystemDeps } from '../../deps.ts';
import { oldestUndispatched } from '../../webhooks/delivery.store.ts';
import { type QueueBacklog, queueBacklog } from '../../webhooks/queue.store.ts';

/** Registers the metrics of the webhook backlog. @returns a function that refreshes them */
export function watchWebhooks(deps: SystemDeps): () => Promise<void> {
  let queues: QueueBacklog = { queues: 0, oldest_seconds: 0, backlogged: 0, failing: 0 };
  let undispatched = 0;
  const { metrics } = deps;
  metrics.gauge(
    'caudal_events_undispatched_oldest_seconds',
    'Age of the oldest event without deliveries.',
    () => undispatched,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_waiting',
    'Healthy endpoints with due deliveries, excluding backlogged ones.',
    () => queues.queues,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_waiting_oldest_seconds',
    'How long the longest-waiting of these endpoints has had due deliveries.',
    () => queues.oldest_seconds,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_backlogged',
    'Healthy endpoints with 100 or more due deliveries.',
    () => queues.backlogged,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_failing',
    'Enabled endpoints whose last delivery attempt failed.',
    () => queues.failing,
  );
  return async () => {
    queues = await queueBacklog(deps.system);
    undispatched = await oldestUndispatched(deps.system);
  };
}
