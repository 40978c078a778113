import type { SystemDeps } from '../../deps.ts';
import { oldestUndispatched } from '../../webhooks/delivery.store.ts';
import { type QueueBacklog, queueBacklog } from '../../webhooks/queue.store.ts';

/** What waits on its way to merchants, as metrics. */
export function watchWebhooks(deps: SystemDeps): () => Promise<void> {
  let queues: QueueBacklog = { queues: 0, oldest_seconds: 0, backlogged: 0, failing: 0 };
  let undispatched = 0;
  const { metrics } = deps;
  metrics.gauge(
    'caudal_events_undispatched_oldest_seconds',
    'Age of the oldest event that nobody has given to its endpoints yet.',
    () => undispatched,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_waiting',
    'Endpoints that work and have something to be sent at once.',
    () => queues.queues,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_waiting_oldest_seconds',
    'How long the first of them has been waiting.',
    () => queues.oldest_seconds,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_backlogged',
    'Endpoints that work and for which a hundred events and more wait.',
    () => queues.backlogged,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_failing',
    'Enabled endpoints whose last attempt failed.',
    () => queues.failing,
  );
  return async () => {
    queues = await queueBacklog(deps.system);
    undispatched = await oldestUndispatched(deps.system);
  };
}
