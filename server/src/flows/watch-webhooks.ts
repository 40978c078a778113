import type { SystemDeps } from '../deps.ts';
import { oldestUndispatched } from '../webhooks/delivery.store.ts';
import { type WaitingLines, waitingLines } from '../webhooks/line.store.ts';

/** What waits on its way to merchants, as metrics. */
export function watchWebhooks(deps: SystemDeps): () => Promise<void> {
  let lines: WaitingLines = { lines: 0, oldest_seconds: 0, behind: 0, failing: 0 };
  let undispatched = 0;
  const { metrics } = deps;
  metrics.gauge(
    'caudal_events_undispatched_oldest_seconds',
    'Age of the oldest event that nobody has given to its endpoints yet.',
    () => undispatched,
  );
  metrics.gauge(
    'caudal_webhook_lines_waiting',
    'Endpoints that work and have something to be sent at once.',
    () => lines.lines,
  );
  metrics.gauge(
    'caudal_webhook_lines_waiting_oldest_seconds',
    'How long the first of them has been waiting.',
    () => lines.oldest_seconds,
  );
  metrics.gauge(
    'caudal_webhook_lines_behind',
    'Endpoints that work and for which a hundred events and more wait.',
    () => lines.behind,
  );
  metrics.gauge(
    'caudal_webhook_endpoints_failing',
    'Enabled endpoints whose last attempt failed.',
    () => lines.failing,
  );
  return async () => {
    lines = await waitingLines(deps.system);
    undispatched = await oldestUndispatched(deps.system);
  };
}
